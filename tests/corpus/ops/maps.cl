// Kernels out of macros: whole kernels by ##, names as text by #, and several in one file.
#define DEFINE_MAP(name, op)                                                                                     \
  __kernel void map_##name(__global const int* a, __global const int* b, __global int* c, const int n) {         \
    const int i = get_global_id(0);                                                                              \
    if (i < n) c[i] = a[i] op b[i];                                                                              \
  }

DEFINE_MAP(add, +)
DEFINE_MAP(sub, -)
DEFINE_MAP(and, &)
DEFINE_MAP(less, <)

#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define TYPE int
#define SUFFIX GLUE(_, TYPE)

__constant char type_name[] = TEXT(TYPE) TEXT(SUFFIX);

__kernel void GLUE(fold, SUFFIX)(__global const TYPE* in, __global TYPE* out, const TYPE n) {
  TYPE sum = sizeof(type_name); // "int_int"
  for (TYPE i = 0; i < n; ++i)
    sum = 31 * sum + in[get_global_id(0) * n + i] + type_name[i % (TYPE)(sizeof(type_name) - 1)];
  out[get_global_id(0)] = sum;
}

#define FOR_EACH_POWER(X) X(1) X(2) X(3)
#define TERM(p) +GLUE(coefficient, p) * pown(x, p)

__kernel void polynomial(__global const float* in, __global float* out) {
  const float coefficient1 = 0.5f, coefficient2 = -0.25f, coefficient3 = 2;
  const float x = in[get_global_id(0)];
  out[get_global_id(0)] = 1.0f FOR_EACH_POWER(TERM);
}
