// Images of two dimensions: formats, samplers as arguments, at file scope and in a kernel, helpers that take both.
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

static float4 around(read_only image2d_t from, sampler_t how, int2 at) {
  float4 sum = (float4)(0.0f);
  for (int y = -1; y <= 1; ++y) {
    for (int x = -1; x <= 1; ++x) {
      sum += read_imagef(from, how, at + (int2)(x, y));
    }
  }
  return sum / 9.0f;
}

kernel void paint(__write_only image2d_t to, uint seed) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  const uint4 colour = (uint4)(at.x * 5 + seed, at.y * 7, at.x ^ at.y, 255) & 255u;
  write_imagef(to, at, convert_float4(colour) / 255.0f);
}

kernel void smooth(read_only image2d_t from, write_only image2d_t to) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imagef(to, at, around(from, nearest, at));
}

kernel void shrink(read_only image2d_t from, write_only image2d_t to, sampler_t how) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  const float2 size = (float2)(get_image_width(to), get_image_height(to));
  write_imagef(to, at, read_imagef(from, how, (convert_float2(at) + 0.5f) / size));
}

kernel void tally(image2d_t from, global uint* counts) {
  const sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
  const uint4 texel = read_imageui(from, exact, (int2)(get_global_id(0), get_global_id(1)));
  atomic_inc(&counts[texel.x & 15u]);
}

kernel void diffuse(read_only image2d_t now, write_only image2d_t next) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  const float sides = read_imagef(now, nearest, at - (int2)(1, 0)).x + read_imagef(now, nearest, at + (int2)(1, 0)).x +
                      read_imagef(now, nearest, at - (int2)(0, 1)).x + read_imagef(now, nearest, at + (int2)(0, 1)).x;
  write_imagef(next, at, (float4)(0.5f * read_imagef(now, nearest, at).x + 0.125f * sides));
}
