"""small_pocl.py FOLDER: an OpenCL vendors folder FOLDER/vendors in which PoCL has only the built-in functions that kernels here name.

Most of what PoCL takes for a small kernel goes into reading its library of 22 000 built-in functions, 9 MB, in each process, and the
header of 15 000 declarations for each kernel. PoCL looks for both next to its own shared object, so a link to the object, a smaller
library and a smaller header are another PoCL with the same compiler. A kernel that calls a function which is not there fails to
build. Where tests ask for kernels that are not optimised, LLVM also takes the ways to machine code that compile fastest: a fifth of
the time for a persistent kernel. Without Debian's PoCL, all drivers stay as they are.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
SOURCES = ("examples", "kernels", "lib/engine", "scripts/bench/suites", "tests/corpus", "tests/e2e", "tests/engine", "tests/traversal",
           "tests/work")
ELEMENTS = {"c": "char", "h": "uchar", "s": "short", "t": "ushort", "i": "int", "j": "uint", "l": "long", "m": "ulong", "f": "float",
            "d": "double", "Dh": "half"}
VECTOR = re.compile(r"\b(?:u?(?:char|short|int|long)|float|double|half)(?:2|3|4|8|16)\b")
DECLARATION = re.compile(r"^\w[^;#{}]*\b__ovld\b[^;#{}(]*\b(\w+)\([^;#{}]*;\n", re.MULTILINE)  # of an overloaded function
INTERNAL_LINKAGE = 8  # llvm-c/Core.h
# A library that depends on PoCL is loaded in its place; its functions are PoCL's.
FAST_CODE = """#include <stdlib.h>
void LLVMParseCommandLineOptions(int, const char* const*, const char*);
__attribute__((constructor)) static void choose(void) {
  const char* const options[] = {"pocl", "-fast-isel", "-regalloc=fast", "-optimize-regalloc=false"};
  if (getenv("POCL_EXTRA_BUILD_FLAGS")) LLVMParseCommandLineOptions(4, options, "");
}
"""


class Sources:
    """The words of each kernel, and those of all files that may put kernels together."""

    def __init__(self) -> None:
        self.kernels: list[set[str]] = []
        self.others: set[str] = set()
        for path in (path for folder in SOURCES for path in (REPOSITORY / folder).rglob("*")):
            if path.suffix in {".c", ".cl", ".cpp", ".h", ".json", ".py"}:  # an op's options name functions, too
                text = path.read_text(encoding="utf-8")
                words = {*re.findall(r"\w+", text), *re.findall(r"convert_(u?(?:char|short|int|long)\d+)", text)}
                self.kernels.append(words) if path.suffix in {".c", ".cl"} else self.others.update(words)

    @functools.cache
    def name(self, words: frozenset[str]) -> bool:
        return words <= self.others or any(words <= kernel for kernel in self.kernels)


def is_named(function: str, sources: Sources) -> bool:
    """True for functions of PoCL itself, and for built-ins whose name and vector types are words of one source. Those of SLEEF are
    called by built-ins alone."""
    mangled = re.match(r"_Z(\d+)(.*)", function)
    if mangled is None:
        return not function.startswith("Sleef_")
    vectors = {ELEMENTS[element] + width for width, element in re.findall(r"Dv(\d+)_(Dh|[a-z])", function)}
    return sources.name(frozenset({mangled[2][:int(mangled[1])].removeprefix("_cl_"), *vectors}))


def write_smaller_header(header: Path, smaller: Path, sources: Sources) -> None:
    smaller.write_text(DECLARATION.sub(lambda found: found[0] if sources.name(frozenset({found[1], *VECTOR.findall(found[0])})) else "",
                                       header.read_text(encoding="utf-8")), encoding="utf-8")


def write_smaller_library(library: Path, smaller: Path, sources: Sources, llvm: ctypes.CDLL) -> None:
    def pointer(function: str, *args: object) -> ctypes.c_void_p:
        call = getattr(llvm, function)
        call.restype = ctypes.c_void_p
        return ctypes.c_void_p(call(*args))

    buffer, module, length = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    failed = llvm.LLVMCreateMemoryBufferWithContentsOfFile(bytes(library), ctypes.byref(buffer), ctypes.byref(ctypes.c_char_p()))
    if failed or llvm.LLVMParseBitcodeInContext2(pointer("LLVMContextCreate"), buffer, ctypes.byref(module)):
        raise OSError(f"cannot read {library}")
    llvm.LLVMStripModuleDebugInfo(module)
    llvm.LLVMGetValueName2.restype = ctypes.c_char_p
    function = pointer("LLVMGetFirstFunction", module)
    while function:
        name = llvm.LLVMGetValueName2(function, ctypes.byref(length)).decode()
        if not llvm.LLVMIsDeclaration(function) and not is_named(name, sources):
            llvm.LLVMSetLinkage(function, INTERNAL_LINKAGE)
        function = pointer("LLVMGetNextFunction", function)
    if (llvm.LLVMRunPasses(module, b"globaldce", None, pointer("LLVMCreatePassBuilderOptions"))
            or llvm.LLVMWriteBitcodeToFile(module, bytes(smaller))):
        raise OSError(f"cannot write {smaller}")


def loaded(name: str) -> Path:
    """The file of a library that this process has loaded."""
    return next(Path(line.split()[-1]) for line in Path("/proc/self/maps").read_text().splitlines() if name in line)


def make_driver(icd: Path, folder: Path) -> None:
    ctypes.CDLL(icd.read_text().strip())
    driver = loaded("libpocl.so")
    data = driver.parents[2] / "share" / "pocl"
    flags = Path("/proc/cpuinfo").read_text().split()
    used = next(data.glob(f"kernel-*-{'avx512' if 'avx512f' in flags else 'avx2'}.bc"))  # others stay as they are
    (folder / "lib" / "arch").mkdir(parents=True)
    (folder / "lib" / "arch" / driver.name).symlink_to(driver)
    (folder / "lib" / "arch" / "pocl").symlink_to(driver.parent / "pocl")
    (folder / "share" / "pocl" / "include").mkdir(parents=True)
    smaller = folder / "share" / "pocl"
    for path in [*data.glob("*.bc"), *data.glob("include/*")]:
        if path != used and path.name != "opencl-c.h":
            (smaller / path.relative_to(data)).symlink_to(path)
    sources = Sources()
    write_smaller_header(data / "include" / "opencl-c.h", smaller / "include" / "opencl-c.h", sources)
    write_smaller_library(used, smaller / used.name, sources, ctypes.CDLL(str(loaded("libLLVM-"))))
    (folder / "vendors" / icd.name).write_text(f"{folder}/lib/arch/{driver.name}\n")
    choose_fast_code(icd, folder / "lib" / "arch", driver)


def choose_fast_code(icd: Path, arch: Path, driver: Path) -> None:
    needed = arch / re.sub(r"(\.so\.\d+).*", r"\1", driver.name)  # the name by which other libraries depend on it
    if not needed.exists():
        needed.symlink_to(driver)
    made = arch / "libfast_code.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-x", "none", "-Wl,--no-as-needed", str(needed), str(loaded("libLLVM-")),
                    f"-Wl,-rpath,{arch}", "-o", str(made)], input=FAST_CODE, text=True, check=True)
    (arch.parents[1] / "vendors" / icd.name).write_text(f"{made}\n")


def main(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.environ.get("OCL_ICD_VENDORS", "/etc/OpenCL/vendors"), folder / "vendors")
    for icd in (folder / "vendors").glob("pocl*.icd"):
        try:
            make_driver(icd, folder)
        except (OSError, StopIteration, AttributeError, subprocess.CalledProcessError) as error:
            print(f"PoCL stays as it is, or takes longer: {error!r}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
