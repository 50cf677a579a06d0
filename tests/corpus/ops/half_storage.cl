// Half precision as a storage format: no cl_khr_fp16 is needed to load and store it.
__kernel void scale_halves(__global const half* in, __global half* out, float factor, uint n) {
  const uint i = get_global_id(0);
  if (i < n) vstore_half_rte(vload_half(i, in) * factor, i, out);
}

__kernel void quads(__global const half* in, __global float4* out) {
  const size_t i = get_global_id(0);
  out[i] = vload_half4(i, in);
}

__kernel void pack_quads(__global const float4* in, __global half* out) {
  const size_t i = get_global_id(0);
  vstore_half4_rtz(in[i].wzyx, i, out);
}
