// Three-point smoothing; the group's points and one on either side in local memory given by the host.
__kernel void smooth(__global const float* in, __global float* out, const uint n, __local float* tile) {
  const uint i = get_global_id(0);
  const uint l = get_local_id(0) + 1;
  tile[l] = i < n ? in[i] : 0.0f;
  if (l == 1) {
    tile[0] = i > 0 ? in[i - 1] : 0.0f;
  }
  if (l == get_local_size(0)) {
    tile[l + 1] = i + 1 < n ? in[i + 1] : 0.0f;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) {
    out[i] = 0.25f * tile[l - 1] + 0.5f * tile[l] + 0.25f * tile[l + 1];
  }
}
