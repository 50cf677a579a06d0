// A kernel is a function too, also to other kernels.
__kernel void square(__global float* data, float offset) {
  const size_t i = get_global_id(0);
  data[i] = data[i] * data[i] + offset;
}

__kernel void square_twice(__global float* data, float offset) {
  square(data, offset);
  square(data, -offset);
}
