"""Wave programs run the ordinary way, for comparison: `python3 plain_opencl.py PROGRAM [DEVICE]` writes each output's bytes to OUTPUT.plain.

Nothing here comes from tidegate: the document is read as JSON, the user's kernels are built as they are with the options of their
ops, each buffer is a clBuffer, each wave one clEnqueueNDRangeKernel that ends before the next begins. Taken is what test_run_random
draws: kernels over buffers, fills and copies; no queues, images, structures, random contents and .npy files.
"""

import array
import ctypes
import json
import sys
from collections.abc import Sequence
from ctypes import byref, c_int32, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

TYPES = {"i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q", "f32": "f", "f64": "d"}
ALL_DEVICES, DEVICE_NAME, BUILD_LOG, READ_WRITE, INVALID_WORK_GROUP_SIZE = c_uint64(0xFFFFFFFF), 0x102B, 0x1183, c_uint64(1), -54

OPENCL = ctypes.CDLL("libOpenCL.so.1")


class Failed(Exception):
    pass


def call(name: str, *args: Any) -> None:
    if status := getattr(OPENCL, name)(*args):
        raise Failed(f"{name} returned {status}", status)


def make(name: str, *args: Any) -> c_void_p:
    function, status = getattr(OPENCL, name), c_int32()
    function.restype = c_void_p
    made = c_void_p(function(*args, byref(status)))
    if status.value:
        raise Failed(f"{name} returned {status.value}", status.value)
    return made


def text(name: str, *args: Any) -> str:
    size = c_size_t()
    call(name, *args, c_size_t(0), None, byref(size))
    answer = ctypes.create_string_buffer(size.value)
    call(name, *args, size, answer, None)
    return answer.value.decode(errors="replace")


def handles(name: str, *args: Any) -> list[c_void_p]:
    count = c_uint32()
    if getattr(OPENCL, name)(*args, 0, None, byref(count)):
        return []  # a platform without devices answers with an error
    found = (c_void_p * count.value)()
    call(name, *args, count, found, None)
    return [c_void_p(handle) for handle in found]


def contents(buffer: dict[str, Any], folder: Path) -> bytes:
    init, type_ = buffer.get("init", {}), TYPES[buffer["type"]]
    if "file" in init:
        data = (folder / init["file"]).read_bytes()
        if len(data) != buffer["count"] * array.array(type_).itemsize:
            raise Failed(f"{init['file']} is not a file of {buffer['count']} elements")
        return data
    if "random" in init:
        raise Failed("random contents are not supported")
    iota = {"start": 0, "step": 1, **init["iota"]} if "iota" in init else {"start": init.get("fill", 0), "step": 0}
    return array.array(type_, (iota["start"] + i * iota["step"] for i in range(buffer["count"]))).tobytes()


def in_order(waves: Sequence[dict[str, Any]], dependencies: Any) -> list[int]:
    """Each phase for itself, each wave after those that it waits for; where dependencies are derived, as they are listed."""
    before: list[set[int]] = [set() for _ in waves]
    numbers = {wave["name"]: number for number, wave in enumerate(waves) if "name" in wave}
    for one in dependencies if isinstance(dependencies, list) else ():
        before[numbers.get(one["after"], one["after"])].add(numbers.get(one["before"], one["before"]))
    order: list[int] = []
    for phase in ("before", "each", "after"):
        left = [number for number, wave in enumerate(waves) if wave.get("phase", "each") == phase]
        while left:
            order.append(next(number for number in left if not before[number] & set(left)))
            left.remove(order[-1])
    return order


class Run:
    def __init__(self, path: Path, device_name: str | None) -> None:
        self.program = program = json.loads(path.read_text())
        devices = [device for platform in handles("clGetPlatformIDs") for device in handles("clGetDeviceIDs", platform, ALL_DEVICES)]
        device = next(one for one in devices if device_name in (None, text("clGetDeviceInfo", one, DEVICE_NAME)))
        self.context = make("clCreateContext", None, 1, byref(device), None, None)
        self.queue = make("clCreateCommandQueue", self.context, device, c_uint64(0))
        self.types = {name: TYPES[buffer["type"]] for name, buffer in program["buffers"].items()}
        self.memory = {name: self.buffer(contents(buffer, path.parent)) for name, buffer in program["buffers"].items()}
        self.kernels = {}
        for name, op in program["ops"].items():
            built = self.build((path.parent / op["source"]).read_bytes(), f"-I {path.parent} {op.get('options', '')}", device)
            self.kernels[name] = make("clCreateKernel", built, op.get("kernel", name).encode())

    def build(self, source: bytes, options: str, device: c_void_p) -> c_void_p:
        program = make("clCreateProgramWithSource", self.context, 1, byref(ctypes.c_char_p(source)), byref(c_size_t(len(source))))
        try:
            call("clBuildProgram", program, 1, byref(device), options.encode(), None, None)
        except Failed as failed:
            raise Failed(f"{failed}: {text('clGetProgramBuildInfo', program, device, BUILD_LOG)}") from failed
        return program

    def buffer(self, data: bytes) -> c_void_p:
        made = make("clCreateBuffer", self.context, READ_WRITE, c_size_t(len(data)), None)
        call("clEnqueueWriteBuffer", self.queue, made, 1, c_size_t(0), c_size_t(len(data)), data, 0, None, None)
        return made

    def read(self, name: str) -> array.array:
        elements = array.array(self.types[name], [0]) * self.program["buffers"][name]["count"]
        call("clEnqueueReadBuffer", self.queue, self.memory[name], 1, c_size_t(0), c_size_t(len(elements) * elements.itemsize),
             c_void_p(elements.buffer_info()[0]), 0, None, None)
        return elements

    def outputs(self) -> dict[str, bytes]:
        """The bytes of every buffer that has an output, by the name of its file."""
        program, until = self.program, self.program.get("until")
        waves = program["waves"]
        order = in_order(waves, program.get("dependencies"))

        def run(phase: str) -> None:
            for number in order:
                if waves[number].get("phase", "each") == phase:
                    self.wave(waves[number])

        run("before")
        for _ in range(program.get("repeat", 10**6 if until else 1)):
            run("each")
            for one, other in program.get("swap", []):
                self.memory[one], self.memory[other] = self.memory[other], self.memory[one]
            if until and self.read(until["buffer"])[0] == until.get("equals", 0):
                break
        run("after")
        return {spec["output"]: self.read(name).tobytes() for name, spec in program["buffers"].items() if "output" in spec}

    def wave(self, wave: dict[str, Any]) -> None:
        if fill := wave.get("fill"):
            value = array.array(self.types[fill["buffer"]], [fill.get("value", 0)])
            first = fill.get("offset", 0)
            count = fill.get("count", self.program["buffers"][fill["buffer"]]["count"] - first)
            call("clEnqueueFillBuffer", self.queue, self.memory[fill["buffer"]], value.tobytes(), c_size_t(value.itemsize),
                 c_size_t(first * value.itemsize), c_size_t(count * value.itemsize), 0, None, None)
        elif copy := wave.get("copy"):
            size, first = array.array(self.types[copy["from"]]).itemsize, copy.get("from_offset", 0)
            count = copy.get("count", self.program["buffers"][copy["from"]]["count"] - first)
            call("clEnqueueCopyBuffer", self.queue, self.memory[copy["from"]], self.memory[copy["to"]], c_size_t(first * size),
                 c_size_t(copy.get("to_offset", 0) * size), c_size_t(count * size), 0, None, None)
        else:
            for index, arg in enumerate(wave["args"]):
                self.set_argument(self.kernels[wave["op"]], index, arg)
            self.launch(wave)
        call("clFinish", self.queue)

    def set_argument(self, kernel: c_void_p, index: int, arg: dict[str, Any]) -> None:
        if "buffer" in arg:
            call("clSetKernelArg", kernel, index, c_size_t(ctypes.sizeof(c_void_p)), byref(self.memory[arg["buffer"]]))
        elif "local_bytes" in arg:
            call("clSetKernelArg", kernel, index, c_size_t(arg["local_bytes"]), None)
        else:
            (type_, value), = arg.items()
            data = array.array(TYPES[type_], value if isinstance(value, list) else [value]).tobytes()
            call("clSetKernelArg", kernel, index, c_size_t(len(data)), data)

    def launch(self, wave: dict[str, Any]) -> None:
        """Where the device takes no smaller last work-group it chooses a size: the kernels of such waves look at global ids alone."""
        def sizes(key: str) -> Any:
            return (c_size_t * len(wave[key]))(*wave[key]) if key in wave else None

        def enqueue(local: Any) -> None:
            call("clEnqueueNDRangeKernel", self.queue, self.kernels[wave["op"]], len(wave["global_size"]), sizes("global_offset"),
                 sizes("global_size"), local, 0, None, None)

        try:
            enqueue(sizes("local_size"))
        except Failed as failed:
            if failed.args[1] != INVALID_WORK_GROUP_SIZE or not any(map(int.__mod__, wave["global_size"], wave["local_size"])):
                raise
            enqueue(None)


if __name__ == "__main__":
    for output, data in Run(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None).outputs().items():
        Path(sys.argv[1]).with_name(f"{output}.plain").write_bytes(data)
