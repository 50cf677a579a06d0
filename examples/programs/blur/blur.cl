// Blurs a picture by a Gaussian in two passes, and halves its size. A sampler clamps reads beyond the edge.

constant sampler_t texels = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

constant float weights[5] = {0.227027f, 0.194595f, 0.121622f, 0.054054f, 0.016216f};

kernel void blur(read_only image2d_t from, write_only image2d_t to, int dx, int dy) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  float4 sum = weights[0] * read_imagef(from, texels, at);
  for (int i = 1; i < 5; ++i) {
    const int2 step = (int2)(i * dx, i * dy);
    sum += weights[i] * (read_imagef(from, texels, at + step) + read_imagef(from, texels, at - step));
  }
  write_imagef(to, at, sum);
}

kernel void resize(read_only image2d_t from, write_only image2d_t to, sampler_t smooth) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  const float2 size = (float2)(get_image_width(to), get_image_height(to));
  write_imagef(to, at, read_imagef(from, smooth, (convert_float2(at) + 0.5f) / size));
}
