"""tidegate run: sources that mean something else once they are compiled together, unless care is taken. Each program
runs in both modes, persistently and in launches, and is compared with plain launches."""


from support import Document, Programs, buffer, pocl_cache

WAYS = [("--strategy", "barrier", "--set", "tuning.mode=interpreter"), ("--strategy", "launch", "--set", "tuning.mode=jit")]
SIZE = 16

# By file: kernels with one global float* or more as parameters, each run over 16 work-items.
SOURCES = {
    # What the device's compiler predefines.
    "macros.cl": """
#ifndef M_PI
#define M_PI 3.0f
#endif
#if !defined(FLT_MAX) || !defined(INT_MAX) || CHAR_BIT != 8 || !defined(INFINITY) || !defined(NULL)
#error the compiler defines these
#endif
#if defined(__has_builtin) && __has_builtin(__builtin_fabsf)
#define HAS 10
#else
#define HAS 20
#endif
#if __OPENCL_C_VERSION__ >= 300
#define NEW 1
#else
#define NEW 2
#endif
#ifdef __FAST_RELAXED_MATH__
#define FAST 1000
#else
#define FAST 2000
#endif
#ifdef __opencl_c_int64
#define FEATURE 0.5f
#else
#define FEATURE 0
#endif
kernel void pi(global float* a) { a[get_global_id(0)] += M_PI; }
kernel void about(global float* a) {
  a[get_global_id(0)] = HAS + NEW + FAST + FEATURE + __OPENCL_C_VERSION__ * 10000;
}
""",
    # Pragmas of file scope.
    "packed.cl": """
#pragma pack(1)
typedef struct { char c; int i; } pair;
kernel void packed(global float* a) {
  local char c[3];
  local int i[4];
  const size_t l = get_local_id(0);
  if (l < 3) c[l] = (char)l;
  if (l < 4) i[l] = (int)l;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = sizeof(pair) + c[l % 3] + i[l % 4];
}
""",
    "natural.cl": """
typedef struct { char c; int i; } pair;
kernel void natural(global float* a) { a[get_global_id(0)] = sizeof(pair); }
""",
    "apart.cl": """
#pragma OPENCL FP_CONTRACT OFF
kernel void apart(global float* a) { float x = 1 + a[get_global_id(0)] * 0x1p-12f; a[get_global_id(0)] = x * x - x; }
""",
    "fused.cl": """
kernel void fused(global float* a) { float x = 1 + a[get_global_id(0)] * 0x1p-12f; a[get_global_id(0)] = x * x - x; }
""",
    "unrolled.cl": """
#define N 4
kernel void unrolled(global float* a) {
  float sum = 0;
#pragma unroll N
  for (int i = 0; i < 3 * N; ++i) sum += i;
  a[get_global_id(0)] = sum;
}
""",
    # Declarations.
    "declared.cl": """
const sampler_t unused = CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
enum { WIDTH = 16, shift = 3, sum };
typedef struct cell { int x[sum]; } cell;
constant float table[2] = {10, 20};
kernel __attribute__((reqd_work_group_size(WIDTH, 1, sizeof(char)))) void declared(global float* a) {
  const int N = 16;
  local float t[N];
  local cell cells[N];
  const int l = get_local_id(0);
  struct cell mine = {{l, l + 1, l + 2, l + shift}};
  t[l] = l;
  cells[l] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = t[N - 1 - l] + 100 * cells[(l + shift) % N].x[shift];
}
kernel void chosen(global float* a, constant float* given, int c) {
  constant float* p = c ? given : table;
  a[get_global_id(0)] = p[1];
}
typedef enum { add, multiply = 7 } operation;
enum sign { minus = -1, plus = 1 };
kernel void operate(global float* a, operation what, enum sign sign) {
  a[get_global_id(0)] = sign * (what == multiply ? 3.0f * a[get_global_id(0)] : a[get_global_id(0)] + 3);
}
""",
    # Names.
    "first.cl": """
float __attribute__((overloadable)) shared(float x) { return x + 1; }
float __attribute__((overloadable)) shared(int x) { return x + 2; }
kernel void first(global float* a) { a[get_global_id(0)] = shared(1.5f) + 10 * shared(1); }
""",
    "second.cl": """
float __attribute__((overloadable)) shared(float x) { return x + 3; }
kernel void second(global float* a) { a[get_global_id(0)] = shared(1.5f) + 10 * shared(1); }
""",
    "generated.cl": """
typedef struct { float tg_range, x; } tg_item;
constant float TG_GROUP_SIZE[1] = {7};
float tg_get_global_id(tg_item tg_self) { return tg_self.tg_range + tg_self.x; }
kernel void tg_run_tile(global float* tg_locals) {
  local float tg_place[16];
  tg_item tg_self = {TG_GROUP_SIZE[0], get_global_id(0)};
  tg_place[get_local_id(0)] = tg_get_global_id(tg_self);
  barrier(CLK_LOCAL_MEM_FENCE);
  tg_locals[get_global_id(0)] = tg_place[15 - get_local_id(0)];
}
""",
}
OPS = {"pi": "macros", "about": "macros", "packed": "packed", "natural": "natural", "apart": "apart", "fused": "fused", "unrolled": "unrolled", "declared": "declared", "chosen": "declared", "operate": "declared", "first": "first",
       "second": "second", "tg_run_tile": "generated"}
MORE: dict[str, list[Document]] = {"chosen": [{"buffer": "given"}, {"i32": 1}],
                                   "operate": [{"u32": 7}, {"i32": -1}]}


def program(*ops: str, options: str = "") -> Document:
    """A wave of each kernel, all in one group."""
    return {"buffers": {"given": buffer("f32", 2, init={"iota": {"start": 5}}),
                        **{op: buffer("f32", SIZE, init={"iota": {"start": 1}}, output=f"{op}.npy") for op in ops}},
            "ops": {op: {"source": f"{OPS[op]}.cl", "options": options} for op in ops},
            "waves": [{"op": op, "global_size": [SIZE], "local_size": [SIZE],
                       "args": [{"buffer": op}, *MORE.get(op, [])]} for op in ops]}


class Sources(Programs):
    sources = SOURCES

    def value(self, op: str) -> list[float]:
        return list(self.output(f"{op}.npy", "f32"))

    def test_together(self) -> None:
        contracted = None
        for way in WAYS:
            with self.subTest(way):
                report = self.report_of(program(*OPS), *way, "--verify")
                self.assertTrue(report["output_parity"]["equal"], report)
                self.assertEqual([alone["wave"] for alone in report["fallbacks"]], ["wave 2 (packed)", "wave 7 (declared)", "wave 8 (chosen)"])
                for alone, reason in zip(report["fallbacks"], ("nothing ends the effect of its", "this declaration needs", "this may use an address in constant memory")):
                    self.assertIn(reason, alone["reason"])
                self.assertEqual([round(x - i, 3) for i, x in enumerate(self.value("pi"))], [4.142] * SIZE)
                for op, right in (("natural", 8), ("unrolled", 66), ("chosen", 6), ("first", 2.5 + 30), ("second", 4.5 + 40)):
                    self.assertEqual(self.value(op), [right] * SIZE, op)
                self.assertEqual(self.value("packed")[:4], [5, 7, 9, 8])
                self.assertEqual(self.value("declared"), [15 - l + 100 * ((l + 3) % 16 + 3) for l in range(SIZE)])
                self.assertEqual(self.value("operate"), [-3.0 * (i + 1) for i in range(SIZE)])
                self.assertEqual(self.value("tg_run_tile"), [7 + 15 - i for i in range(SIZE)])
                contracted = contracted or self.value("fused")
                self.assertEqual(self.value("fused"), contracted)

    def test_conditions_are_the_compiler_s(self) -> None:
        """`true` is 1 to clang, and the conditions of OpenCL C have 128 bits there."""
        conditions = ["true", "1 << 64", "0xffffffffffffffffu + 1 == 0", "8 >> -1 == 0", "-1 > 0u"]
        text = "".join(f"#if {condition}\n#define C{i} {1 << i}\n#else\n#define C{i} 0\n#endif\n"
                       for i, condition in enumerate(conditions))
        self.file("macros.cl", text + "kernel void pi(global float* a) {\n  a[get_global_id(0)] = C0 + C1 + C2 + C3 + C4;\n}\n")
        for way in WAYS:
            with self.subTest(way):
                self.assertTrue(self.report_of(program("pi"), *way, "--verify")["output_parity"]["equal"])
                self.assertEqual(self.value("pi"), [1 + 2 + 8 + 16] * SIZE)
        report = self.report_of(program("pi"), "--dry-run", env={"OCL_ICD_VENDORS": "/nonexistent/", "OCL_ICD_FILENAMES": ""})
        self.assertEqual(report["assumed_macros"], sorted(conditions))

    def test_asked_once(self) -> None:
        """Answers are kept; a damaged entry is asked for again."""
        cache = self.folder / "cache"
        env = {"XDG_CACHE_HOME": str(cache), "POCL_CACHE_DIR": pocl_cache()}
        for text in (None, b"", b'{"name M_PI": "0"', b'{"name M_PI": 0}'):
            for entry in cache.glob("tidegate/macros-*") if text is not None else ():
                entry.write_bytes(text)
            self.report_of(program("pi", "natural"), "--strategy", "launch", env=env)
            self.assertEqual([round(x - i, 3) for i, x in enumerate(self.value("pi"))], [4.142] * SIZE)
        entries = list(cache.glob("tidegate/macros-*"))
        self.assertEqual(len(entries), 1)
        # What is kept is what counts.
        entries[0].write_text(entries[0].read_text().replace('"name M_PI":"1', '"name M_PI":"0","name M_PI_":"1'))
        self.report_of(program("pi", "natural"), "--strategy", "launch", env=env)
        self.assertEqual(self.value("pi"), [4 + i for i in range(SIZE)])
