// Vector types: swizzles, halves of vectors, literals, conversions, shuffles, relational functions.
kernel void swizzles(global const float4* a, global float4* b, global int8* wide, float4 scale) {
  const int i = get_global_id(0);
  float4 v = a[i] * scale;
  v.xy = v.yx;
  v.s23 += (float2)(1.0f, 2.0f);
  v.lo = v.even + v.odd;
  v.w = v.hi.x > 0 ? v.w : -v.w;
  const int4 positive = isgreater(v, (float4)(0.0f));
  v = select(-v, v, positive);
  b[i] = shuffle(v, (uint4)(3, 0, 2, 1)) + (float4)(v.zw, 0.5f, v.s0);
  int8 w = (int8)(convert_int4_sat(v), positive);
  w.s7 = any(positive) + 2 * all(positive);
  w.even = w.odd - w.even;
  wide[i] = w << (int8)(1, 2, 3, 4, 5, 6, 7, 8);
}

kernel void unaligned(global const char* bytes, global short* out) {
  const int i = get_global_id(0);
  const char3 three = vload3(i, bytes);
  const char16 sixteen = vload16(0, bytes + i);
  const short3 sum = convert_short3(three) + (short3)(sixteen.s0, sixteen.sa, sixteen.sF);
  vstore3(sum, i, out);
}

kernel void casts(global const float* in, global uchar4* out, global uint* bits) {
  const size_t i = get_global_id(0);
  const float4 f = (float4)(in[i], in[i] * 100, in[i] - 200, 1e10f * in[i]);
  out[i] = convert_uchar4_sat_rte(f);
  const float unit = in[i] * 0.5f + 1.0f;
  bits[i] = as_uint(unit) + (uint)vec_step(f) + (uint)sizeof(float3);
}
