kernel void relax(global const float* in, global float* out, uint n) {
  const uint base = get_group_id(0) * 1024 + get_local_id(0);
  for (uint k = 0; k < 4; ++k) {
    const uint i = base + k * 256;
    const uint j = i + 256 < n ? i + 256 : i + 256 - n;
    out[i] = in[j] * 0.5f + 1.0f;
  }
}
kernel void one(global const float* in, global float* out, uint n) {
  const uint i = get_global_id(0);
  const uint j = i + 256 < n ? i + 256 : i + 256 - n;
  out[i] = in[j] * 0.5f + 1.0f;
}
