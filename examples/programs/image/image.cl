#define BINS 256

__constant float gauss[7] = {1.0f / 64, 6.0f / 64, 15.0f / 64, 20.0f / 64, 15.0f / 64, 6.0f / 64, 1.0f / 64};

// Returns pixel x, y; outside the image, the nearest one inside.
float pixel(__global const float* image, int x, int y, int width, int height) {
  return image[clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)];
}

// Paints the input: discs in pale colours, later ones on top. A disc is six numbers from 0 to 1: centre (x, y),
// radius, and red, green and blue.
__kernel void paint(__global const float* discs, int count, __global uchar* rgb, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  float3 colour = (float3)(0.5f, 0.5f, 0.5f);
  for (int i = 0; i < count; ++i) {
    const float2 from_centre = (float2)(x, y) - (float2)(width, height) * vload2(3 * i, discs);
    const float radius = 0.25f * height * discs[6 * i + 2];
    if (dot(from_centre, from_centre) < radius * radius) {
      colour = vload3(2 * i + 1, discs);
    }
  }
  vstore3(convert_uchar3(96.0f + 64.0f * colour), y * width + x, rgb);
}

__kernel void luminance(__global const uchar* rgb, __global float* grey, int pixels) {
  const int i = get_global_id(0);
  if (i < pixels) {
    grey[i] = dot(convert_float3(vload3(i, rgb)), (float3)(0.299f, 0.587f, 0.114f));
  }
}

// Blurs by a Gaussian of radius 3 in one direction: along rows with dx = 1 and dy = 0, along columns with 0 and 1.
__kernel void blur(__global const float* grey, __global float* blurred, int width, int height, int dx,
                   int dy) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int i = -3; i <= 3; ++i) {
    sum += gauss[i + 3] * pixel(grey, x + i * dx, y + i * dy, width, height);
  }
  blurred[y * width + x] = sum;
}

// Computes the gradient of every pixel by Sobel's two 3 x 3 filters.
__kernel void sobel(__global const float* grey, __global float2* gradient, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  float p[3][3];
  for (int dy = 0; dy < 3; ++dy) {
    for (int dx = 0; dx < 3; ++dx) {
      p[dy][dx] = pixel(grey, x + dx - 1, y + dy - 1, width, height);
    }
  }
  gradient[y * width + x] = (float2)(p[0][2] - p[0][0] + 2 * (p[1][2] - p[1][0]) + p[2][2] - p[2][0],
                                     p[2][0] - p[0][0] + 2 * (p[2][1] - p[0][1]) + p[2][2] - p[0][2]);
}

// Thins edges to one pixel: keeps the pixels that reach the threshold and are the steepest across their edge.
__kernel void thin(__global const float2* gradient, __global uchar* edges, int width, int height,
                   float threshold) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  const int here = y * width + x;
  const float2 g = gradient[here];
  const float2 steep = fabs(g);

  bool keep = false;
  if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
    const float tan_eighth = 0.41421356f; // tan(22.5 degrees)
    const int dx = steep.x > tan_eighth * steep.y, dy = steep.y > tan_eighth * steep.x;
    const int across = dx * (g.x < 0 ? -1 : 1) + dy * (g.y < 0 ? -1 : 1) * width;
    const float2 before = gradient[here - across], after = gradient[here + across];
    const float steepness = dot(g, g);
    keep = steepness >= threshold * threshold && steepness >= dot(before, before) &&
           steepness > dot(after, after);
  }
  edges[here] = keep ? 255 : 0;
}

// Counts the pixels of each level of grey. A work-group counts in local memory first.
__kernel void tally(__global const float* grey, __global uint* histogram, int pixels) {
  __local uint bins[BINS];
  const int bin = get_local_id(0);
  bins[bin] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int i = get_global_id(0);
  if (i < pixels) {
    atomic_inc(&bins[convert_uchar_sat(grey[i])]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (bins[bin] > 0) {
    atomic_add(&histogram[bin], bins[bin]);
  }
}

// Maps each level to a new one, so that all become equally frequent: by running sums of the histogram.
__kernel void levels(__global const uint* histogram, __global uchar* new_levels, int pixels) {
  __local uint sums[BINS];
  const int bin = get_local_id(0);
  uint sum = histogram[bin];
  for (int distance = 1; distance < BINS; distance *= 2) {
    sums[bin] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum += bin >= distance ? sums[bin - distance] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  new_levels[bin] = sum * 255 / pixels;
}

__kernel void equalise(__global const float* grey, __global const uchar* new_levels, __global uchar* equal,
                       int pixels) {
  const int i = get_global_id(0);
  if (i < pixels) {
    equal[i] = new_levels[convert_uchar_sat(grey[i])];
  }
}
