#define GROUP 256

// Returns the sum of one value per work-item, in a tree, to every work-item of the work-group.
float group_sum(float value, __local float* sums) {
  const int i = get_local_id(1) * get_local_size(0) + get_local_id(0);
  sums[i] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int distance = GROUP / 2; distance > 0; distance /= 2) {
    if (i < distance) sums[i] += sums[i + distance];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return sums[0];
}

// The first stage of |r|^2 writes one partial sum per work-group.
__kernel void residual_parts(__global const float* r, __global float* parts, int n) {
  __local float sums[GROUP];
  const int i = get_global_id(0);
  const float value = i < n ? r[i] : 0.0f;
  const float sum = group_sum(value * value, sums);
  if (get_local_id(0) == 0) parts[get_group_id(0)] = sum;
}

// The second stage, one work-group, computes |r|^2 and how much of the last direction the next one keeps.
__kernel void residual_sum(__global const float* parts, int count, __global float* residual,
                           __global float* beta, __global int* unfinished, float tolerance) {
  __local float sums[GROUP];
  const int i = get_local_id(0);
  const float sum = group_sum(i < count ? parts[i] : 0.0f, sums);
  if (i == 0) {
    *beta = *residual > 0.0f ? sum / *residual : 0.0f;
    *residual = sum;
    *unfinished = sum > tolerance;
  }
}

__kernel void new_direction(__global const float* r, __global const float* beta, __global float* p, int n) {
  const int i = get_global_id(0);
  if (i < n) p[i] = r[i] + *beta * p[i];
}

// Computes q = A p, the Laplacian with p = 0 around the square, and the first stage of p . q.
__kernel void apply(__global const float* p, __global float* q, __global float* parts, int side) {
  __local float sums[GROUP];
  const int x = get_global_id(0), y = get_global_id(1);
  float product = 0.0f;
  if (x < side && y < side) {
    const int i = y * side + x;
    float value = 4.0f * p[i];
    if (x > 0) value -= p[i - 1];
    if (x < side - 1) value -= p[i + 1];
    if (y > 0) value -= p[i - side];
    if (y < side - 1) value -= p[i + side];
    q[i] = value;
    product = p[i] * value;
  }
  const float sum = group_sum(product, sums);
  if (get_local_id(0) == 0 && get_local_id(1) == 0) {
    parts[get_group_id(1) * get_num_groups(0) + get_group_id(0)] = sum;
  }
}

// The second stage of p . q, one work-group, computes the step length along p.
__kernel void step_length(__global const float* parts, int count, __global const float* residual,
                          __global float* alpha) {
  __local float sums[GROUP];
  const int i = get_local_id(0);
  const float sum = group_sum(i < count ? parts[i] : 0.0f, sums);
  if (i == 0) *alpha = *residual / sum;
}

__kernel void advance(__global const float* alpha, __global const float* p, __global const float* q,
                      __global float* x, __global float* r, int n) {
  const int i = get_global_id(0);
  if (i < n) {
    x[i] += *alpha * p[i];
    r[i] -= *alpha * q[i];
  }
}
