kernel void scale(global const float* in, global float* out, float factor) {
  size_t i = get_global_id(0);
  out[i] = factor * in[i];
}
