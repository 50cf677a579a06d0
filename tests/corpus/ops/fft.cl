// Stockham's FFT: every iteration doubles the length of the transforms that are done, `p`; in and out are exchanged.
float2 times(float2 a, float2 b) { return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

kernel void fft_radix2(global const float2* in, global float2* out, global const uint* p_at) {
  const uint p = *p_at, i = get_global_id(0), t = get_global_size(0);
  const uint k = i & (p - 1);
  float cosine;
  const float sine = sincos(-M_PI_F * (float)k / (float)p, &cosine);
  const float2 u0 = in[i], u1 = times((float2)(cosine, sine), in[i + t]);
  const uint j = ((i - k) << 1) + k;
  out[j] = u0 + u1;
  out[j + p] = u0 - u1;
}

kernel void double_length(global uint* p) { p[0] <<= 1; }

// A whole transform of 64 points per group, decimation in time in local memory.
#define POINTS 64
#define STAGES 6

kernel void fft_local(global float2* data) {
  local float2 v[POINTS];
  const uint l = get_local_id(0); // 32 work-items, a butterfly each
  global float2* const mine = data + POINTS * get_group_id(0);
  for (uint i = l; i < POINTS; i += POINTS / 2) {
    uint r = 0;
    for (uint b = 0; b < STAGES; ++b) r |= ((i >> b) & 1u) << (STAGES - 1 - b);
    v[r] = mine[i];
  }
  for (uint half_size = 1; half_size < POINTS; half_size <<= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint k = l % half_size, base = (l / half_size) * 2 * half_size + k;
    const float angle = -M_PI_F * k / half_size;
    const float2 t = times((float2)(cos(angle), sin(angle)), v[base + half_size]);
    v[base + half_size] = v[base] - t;
    v[base] += t;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  mine[l] = v[l];
  mine[l + POINTS / 2] = v[l + POINTS / 2];
}
