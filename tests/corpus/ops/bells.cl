// A table of the file by its address, through a variable and a helper: in global memory are only constant arguments.
constant float window[8] = {0.0f, 0.15f, 0.5f, 0.85f, 1.0f, 0.85f, 0.5f, 0.15f};

float weight_at(constant float* table, int i) { return table[i & 7]; }

kernel void faded(global float* out, int n) {
  constant float* const bell = window;
  const int i = get_global_id(0);
  if (i < n) out[i] *= weight_at(bell, i) + weight_at(window + 1, 3);
}
