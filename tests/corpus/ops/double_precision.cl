#if defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef double2 real2;
#elif defined(cl_amd_fp64)
#pragma OPENCL EXTENSION cl_amd_fp64 : enable
typedef double real;
typedef double2 real2;
#else
#error "no double precision"
#endif

real f(real x) { return 4.0 / (1.0 + x * x); }

/* Simpson's rule over [0, 1]: a piece per work-item, the pieces of a group summed in a fixed order. */
__kernel void simpson(__global real *sums, int pieces, double width) {
  __local real part[64];
  const int i = get_global_id(0), l = get_local_id(0);
  real a = i * width, b = a + width;
  part[l] = i < pieces ? (f(a) + 4.0 * f(0.5 * (a + b)) + f(b)) * (width / 6.0) : 0.0;
  for (int s = get_local_size(0) / 2; s > 0; s /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < s) part[l] += part[l + s];
  }
  if (l == 0) sums[get_group_id(0)] = part[0];
}

__kernel void total(__global const real *sums, int n, __global real *result) {
  real2 compensated = (real2)(0.0, 0.0); /* Kahan */
  for (int i = 0; i < n; ++i) {
    const real y = sums[i] - compensated.y;
    const real t = compensated.x + y;
    compensated = (real2)(t, (t - compensated.x) - y);
  }
  *result = compensated.x;
}
