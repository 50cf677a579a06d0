// Adaptive quadrature: an interval is halved as long as Simpson's rule and its halves disagree.
//
// Item i is an interval of a binary tree: 1 is [0, 1), 2 and 3 are its halves, 4 to 7 their halves. The products that a sum
// follows are fma(), so that every compiler rounds them alike.

float peak(float x) {
  const float d = x - 0.3f;
  return 1.0f / fma(d, d, 1e-4f);
}

float simpson_rule(float a, float width) {
  return width / 6 * fma(4.0f, peak(fma(0.5f, width, a)), peak(a) + peak(a + width));
}

// Adds to a sum of four u32, each with 16 bits of a fixed-point number of 2^-40: no order of additions changes it.
void add(global uint* sum, float area) {
  const ulong value = (ulong)(area * 1099511627776.0f);
  for (uint part = 0; part < 4; ++part) {
    atomic_add(&sum[part], (uint)(value >> 16 * part) & 0xffff);
  }
}

uint simpson(global const float* tolerance, global uint* sum, uint i, tidegate_publisher publisher) {
  const uint depth = 31 - clz(i);
  const float width = 1.0f / (1u << depth);
  const float a = (i - (1u << depth)) * width;
  const float once = simpson_rule(a, width);
  const float twice = simpson_rule(a, 0.5f * width) + simpson_rule(fma(0.5f, width, a), 0.5f * width);
  if (fabs(once - twice) <= tolerance[0] || depth == 20) {
    add(sum, twice);
  } else {
    TIDEGATE_PUBLISH(simpson, tolerance, sum, 2 * i);
    TIDEGATE_PUBLISH(simpson, tolerance, sum, 2 * i + 1);
  }
  return TIDEGATE_DONE;
}
