// All pairs, a tile of bodies at a time in local memory. x, y, z and mass in a float4.
static float3 pull(float3 sum, float4 on, float4 by, float softening) {
  const float3 d = by.xyz - on.xyz;
  const float r2 = dot(d, d) + softening;
  const float inverse = 1.0f / sqrt(r2);
  return sum + d * (by.w * inverse * inverse * inverse);
}

__kernel void step_bodies(__global const float4* restrict position, __global float4* restrict next,
                          __global float4* velocity, float dt, float softening, __local float4* tile) {
  const size_t i = get_global_id(0), l = get_local_id(0), L = get_local_size(0);
  const float4 mine = position[i];
  float3 acceleration = (float3)(0.0f);
  for (size_t t = 0; t < get_num_groups(0); ++t) {
    tile[l] = position[t * L + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t j = 0; j < L; ++j) acceleration = pull(acceleration, mine, tile[j], softening);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  float4 v = velocity[i];
  v.xyz += dt * acceleration;
  velocity[i] = v;
  next[i] = (float4)(mine.xyz + dt * v.xyz, mine.w);
}
