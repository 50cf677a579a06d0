// Haar's wavelet, one level per wave, in place of the first `length` elements by way of local memory.
kernel void haar_level(global float* data, const int length) {
  local float level[128];
  const int i = get_local_id(0), half_length = length / 2;
  if (i < half_length) {
    level[i] = (data[2 * i] + data[2 * i + 1]) * M_SQRT1_2_F;
    level[half_length + i] = (data[2 * i] - data[2 * i + 1]) * M_SQRT1_2_F;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (i < half_length) {
    data[i] = level[i];
    data[half_length + i] = level[half_length + i];
  }
}
