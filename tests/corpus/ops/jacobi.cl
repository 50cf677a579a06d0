// A x = b with 1 off the diagonal's neighbours, until no component moves by more than the tolerance.
__kernel void jacobi(__global const float* x, __global float* next, __global const float* b, __global int* moved,
                     int n, float tolerance) {
  const int i = get_global_id(0);
  if (i >= n) return;
  float sum = b[i];
  if (i > 0) sum -= x[i - 1];
  if (i + 1 < n) sum -= x[i + 1];
  const float value = sum * 0.25f;
  next[i] = value;
  if (fabs(value - x[i]) > tolerance) *moved = 1;
}

__kernel void settle(__global int* moved) { moved[0] = 0; }
