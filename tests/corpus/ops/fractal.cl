// The Mandelbrot set: points leave the loop at very different times.
__kernel void mandelbrot(__global int* iterations, int width, float4 view, int most) {
  const int px = get_global_id(0), py = get_global_id(1);
  const float cx = view.x + view.z * px, cy = view.y + view.w * py;
  float x = 0.0f, y = 0.0f;
  int i = 0;
  while (i < most && x * x + y * y <= 4.0f) {
    const float t = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = t;
    ++i;
  }
  iterations[mad24(py, width, px)] = i;
}
