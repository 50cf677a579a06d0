// A quadtree over a Mandelbrot set (Mariani and Silver): the set has no holes, so a square whose border takes one number of
// steps takes it everywhere. An item is a square, or a row of one: x, y, the logarithm of its side, and its colour.

enum { SIDE_BITS = 8, SIDE = 1 << SIDE_BITS, LEAST_BITS = 3, MOST_STEPS = 96 };

uint packed(uint x, uint y, uint depth, uint colour) { return x | y << 8 | depth << 16 | colour << 20; }

// Steps until the point of a pixel escapes. The products that a sum follows are fma(), so that every compiler rounds alike.
uint steps_of(global const float* scale, uint x, uint y) {
  const float cx = fma((float)x, scale[0], -2.0f);
  const float cy = fma((float)y, scale[0], -1.25f);
  float zx = 0;
  float zy = 0;
  uint steps = 0;
  while (steps < MOST_STEPS && fma(zx, zx, zy * zy) <= 4) {
    const float next = fma(zx, zx, fma(-zy, zy, cx));
    zy = fma(2 * zx, zy, cy);
    zx = next;
    ++steps;
  }
  return steps;
}

// Counts the pixels of its border, and publishes what the square needs.
uint square(global const float* scale, global uint* work, uint item, tidegate_publisher publisher) {
  const uint x = item & 0xff;
  const uint y = item >> 8 & 0xff;
  const uint depth = item >> 16 & 0xf;
  const uint side = SIDE >> depth;
  const uint colour = steps_of(scale, x, y);
  bool same = true;
  for (uint i = 0; i < side && same; ++i) {
    same = steps_of(scale, x + i, y) == colour && steps_of(scale, x + i, y + side - 1) == colour &&
           steps_of(scale, x, y + i) == colour && steps_of(scale, x + side - 1, y + i) == colour;
  }
  atomic_add(work, same ? 4 * side : 4);
  if (same || depth == SIDE_BITS - LEAST_BITS) {
    for (uint row = 0; row < side; ++row) {
      if (same) {
        TIDEGATE_PUBLISH(fill, scale, image, packed(x, y + row, depth, colour));
      } else {
        TIDEGATE_PUBLISH(pixels, scale, image, packed(x, y + row, depth, 0));
      }
    }
  } else {
    for (uint quarter = 0; quarter < 4; ++quarter) {
      TIDEGATE_PUBLISH(square, scale, work, packed(x + quarter % 2 * side / 2, y + quarter / 2 * side / 2, depth + 1, 0));
    }
  }
  return TIDEGATE_DONE;
}

uint pixels(global const float* scale, global uchar* image, uint item) {
  const uint x = item & 0xff;
  const uint y = item >> 8 & 0xff;
  for (uint i = 0; i < SIDE >> (item >> 16 & 0xf); ++i) {
    image[y * SIDE + x + i] = (uchar)steps_of(scale, x + i, y);
  }
  return TIDEGATE_DONE;
}

uint fill(global const float* scale, global uchar* image, uint item) {
  const uint x = item & 0xff;
  const uint y = item >> 8 & 0xff;
  for (uint i = 0; i < SIDE >> (item >> 16 & 0xf); ++i) {
    image[y * SIDE + x + i] = (uchar)(item >> 20);
  }
  return TIDEGATE_DONE;
}
