// Gradient noise on a hashed lattice, three octaves.
uint hash_cell(int x, int y) {
  uint h = (uint)x * 0x85ebca6bu ^ (uint)y * 0xc2b2ae35u;
  h ^= h >> 15; h *= 0x2c1b3c6du; h ^= h >> 12; h *= 0x297a2d39u;
  return h ^ h >> 15;
}

constant float2 gradients[8] = {(float2)(1, 0), (float2)(-1, 0), (float2)(0, 1), (float2)(0, -1),
                                (float2)(0.7071f, 0.7071f), (float2)(-0.7071f, 0.7071f),
                                (float2)(0.7071f, -0.7071f), (float2)(-0.7071f, -0.7071f)};

float corner(int2 cell, float2 at) { return dot(gradients[hash_cell(cell.x, cell.y) & 7u], at - convert_float2(cell)); }

float noise_at(float2 at) {
  float2 base;
  const float2 f = fract(at, &base);
  const int2 c = convert_int2(base);
  const float2 s = f * f * f * (f * (f * 6.0f - 15.0f) + 10.0f);
  return mix(mix(corner(c, at), corner(c + (int2)(1, 0), at), s.x),
             mix(corner(c + (int2)(0, 1), at), corner(c + (int2)(1, 1), at), s.x), s.y);
}

kernel void perlin(global float* image, float scale) {
  float2 at = scale * (float2)(get_global_id(0), get_global_id(1));
  float sum = 0, amplitude = 1;
  for (int octave = 0; octave < 3; ++octave, at *= 2.0f, amplitude *= 0.5f) sum += amplitude * noise_at(at);
  image[get_global_id(1) * get_global_size(0) + get_global_id(0)] = sum;
}
