// One kernel for waves of several sizes, arguments and dimensions.
kernel void saxpy(float a, global const float* x, global float* y, uint n) {
  const size_t i = get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2));
  if (i < n)
    y[i] += a * x[i];
}
