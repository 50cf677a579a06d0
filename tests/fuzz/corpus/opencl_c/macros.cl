#define GLUE(a, b) a##b
#define TEXT(x) #x
#define EACH(f, ...) f(__VA_ARGS__)
#define SELF SELF + 1
#if defined(WIDTH) && WIDTH > 2 || !defined GONE
#define N GLUE(WIDTH, 0)
#else
#error no width
#endif
#undef GONE
#pragma unroll N
kernel void k(global int* x) {
  _Pragma("unroll 4") for (int i = 0; i < N; ++i) x[i] = EACH(max, i, SELF) /* a comment */ + sizeof(TEXT(a "b\n")); // another
}
