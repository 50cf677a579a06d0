// Solves the Poisson equation on a square grid by Jacobi's method: every point becomes the mean of its neighbours and
// its share of the source. The border stays as it is.

struct grid {
  int n;       // points on a side
  float share; // h * h / 4
};

int inner(struct grid g, int x, int y) { return x > 0 && y > 0 && x < g.n - 1 && y < g.n - 1; }

kernel void sweep(global const float* u, global float* next, global const float* source, global uint* moving,
                  float tolerance, struct grid g) {
  const int x = get_global_id(0), y = get_global_id(1), i = y * g.n + x;
  if (x >= g.n || y >= g.n) {
    return;
  }
  if (!inner(g, x, y)) {
    next[i] = u[i];
    return;
  }
  next[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - g.n] + u[i + g.n]) + g.share * source[i];
  if (fabs(next[i] - u[i]) > tolerance) {
    *moving = 1; // all work-items that store here store the same value
  }
}

// Puts a charge on one point.
kernel void charge(global float* source, int at, float value) {
  if (get_global_id(0) == 0) {
    source[at] = value;
  }
}

// Computes the force at each point: the gradient of the solution.
kernel void gradient(global const float* u, global float2* force, struct grid g) {
  const int x = get_global_id(0), y = get_global_id(1), i = y * g.n + x;
  if (x < g.n && y < g.n) {
    force[i] = inner(g, x, y) ? (float2)(u[i + 1] - u[i - 1], u[i + g.n] - u[i - g.n]) : (float2)(0);
  }
}
