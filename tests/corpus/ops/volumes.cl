// Images of every other kind: three dimensions, arrays, one dimension, texels in a buffer.
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable

const sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

kernel void fill_volume(write_only image3d_t to) {
  const int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
  write_imagef(to, at, (float4)(at.x + 10 * at.y + 100 * at.z, at.x, at.y, at.z));
}

kernel void project(read_only image3d_t from, write_only image2d_array_t layers) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  float4 sum = (float4)(0.0f);
  for (int z = -1; z < (int)get_image_depth(from); ++z) {
    sum += read_imagef(from, nearest, (int4)(at, z, 0));
  }
  write_imagef(layers, (int4)(at, 0, 0), sum);
  write_imagef(layers, (int4)(at, 1, 0), -sum);
}

kernel void look_up(read_only image1d_t table, read_only image1d_buffer_t texels, read_only image1d_array_t rows,
                    global int4* out) {
  const int i = get_global_id(0);
  const int4 first = read_imagei(table, nearest, i);
  const int4 second = read_imagei(texels, i);
  const int4 third = read_imagei(rows, nearest, (int2)(i, i % (int)get_image_array_size(rows)));
  out[i] = first + 1000 * second + 1000000 * third;
}
