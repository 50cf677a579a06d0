// Kernels as strangers write them, for test_init.py, which runs each in Oclgrind. A line "NAME: runs" or "NAME: unknown" says if
// `tidegate init` claims that the drafted program runs as it is.
//: saxpy: runs
kernel void saxpy(global const float* x, global float* y, float a, int n) { int i = get_global_id(0); if (i < n) y[i] = a * x[i] + y[i]; }
//: interior: runs
kernel void interior(global const float* in, global float* out, int n) {
  int i = get_global_id(0);
  if (i > 0 && i < n - 1) out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3;
}
//: interior_size_t: runs
kernel void heat(global const float* in, global float* out, uint n) {
  const size_t i = get_global_id(0);
  if (i == 0 || i >= n - 1) return;
  out[i] = 0.5f * (in[i - 1] + in[i + 1]);
}
//: no_lower_bound: unknown
kernel void left(global const float* in, global float* out, int n) { int i = get_global_id(0); if (i < n) out[i] = in[i - 1]; }
//: five_points: runs
kernel void jacobi(global const float* a, global float* b, int width, int height) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  int c = y * width + x;
  b[c] = 0.25f * (a[c - 1] + a[c + 1] + a[c - width] + a[c + width]);
}
//: life: runs
int wrapped(int a, int n) { return (a + n) % n; }
kernel void life(global const uchar* in, global uchar* out, int w, int h) {
  int x = get_global_id(0);
  int y = get_global_id(1);
  int sum = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
      if (dx != 0 || dy != 0) sum += in[wrapped(y + dy, h) * w + wrapped(x + dx, w)];
  out[y * w + x] = sum == 3 || (sum == 2 && in[y * w + x]);
}
//: clamped: runs
kernel void blur(global const float* in, global float* out, const int w, const int h, int r) {
  int x = get_global_id(0), y = get_global_id(1);
  float s = 0;
  for (int i = -r; i <= r; ++i) s += in[y * w + clamp(x + i, 0, w - 1)];
  out[y * w + x] = s / (2 * r + 1);
}
//: ternary: runs
kernel void diff(global const float* in, global float* out, int n) {
  int i = get_global_id(0);
  int left = i > 0 ? i - 1 : 0;
  out[i] = in[i < n - 1 ? i + 1 : i] - in[left];
}
//: wrong_ternary: unknown
kernel void diff(global const float* in, global float* out, int n) { int i = get_global_id(0); out[i] = in[i < n - 1 ? i + 1 : i - n]; }
//: grid_stride: runs
kernel void scale(global float* a, float f, int n) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) a[i] *= f;
}
//: pairs: runs
kernel void pairs(global const float* a, global float* s, int n) {
  float sum = 0;
  for (int k = 0; k < n; k += 2) sum += a[k] * a[k + 1];
  *s = sum;
}
//: c89_loop: runs
kernel void rows(global const float* a, global float* s, int n) {
  int k;
  float sum = 0;
  int row = get_global_id(0);
  for (k = 0; k < n; k++) sum += a[row * n + k];
  s[row] = sum;
}
//: changed_counter: unknown
kernel void walk(global const float* a, global float* s, int n) {
  float sum = 0;
  for (int k = 0; k < n; k += 2) { sum += a[k]; k *= 3; s[k] = sum; }
}
//: by_group: runs
kernel void by_group(global float* a, int n) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i < n) a[i] = i;
}
//: halves: runs
kernel void halves(global const int* a, global int* b) { int i = get_global_id(0); b[i] = a[i / 2] + a[i >> 1] + a[i & 31]; }
//: doubles: runs
kernel void interleave(global const float* re, global const float* im, global float* out) {
  int i = get_global_id(0);
  out[i << 1] = re[i];
  out[2 * i + 1] = im[i];
}
//: vload: runs
kernel void quads(global const float* a, global float* b) { size_t i = get_global_id(0); vstore4(vload4(i, a) * 2, i, b); }
//: vload_moved: runs
kernel void shifted(global const float* a, global float* b) { int i = get_global_id(0); vstore2(vload2(i, a + 3), i, b); }
//: vload_too_early: unknown
kernel void shifted(global const float* a, global float* b) { int i = get_global_id(0); vstore2(vload2(i, a - 1), i, b); }
//: strided_atomics: runs
kernel void minima(global const int* a, volatile global int* least, uint n, uint stride) {
  for (uint k = get_global_id(0); k < n; k += stride * 64) atomic_min(&least[k >> 4], a[k]);
}
//: scan_step: unknown
kernel void scan(global const uint* in, global uint* out, local uint* t) {
  int l = get_local_id(0), size = get_local_size(0);
  t[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int by = 1; by < size; by *= 2) {
    uint x = l >= by ? t[l - by] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    t[l] += x;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = t[l];
}
//: vload_private: unknown
kernel void odd(global float* b) { int i = get_global_id(0); float v[2] = {1, 2}; vstore4(vload4(0, v), i, b); }
//: counter: runs
kernel void count(global const int* a, global int* total) { if (a[get_global_id(0)] > 5) atomic_inc(total); }
//: histogram: runs
kernel void histogram(global const uchar* pixels, global uint* bins) { atomic_inc(&bins[pixels[get_global_id(0)]]); }
//: histogram_modulo: runs
kernel void histogram(global const uint* keys, global int* bins, uint buckets) {
  uint k = keys[get_global_id(0)];
  atomic_add(bins + k % buckets, 1);
}
//: histogram_of_ints: unknown
kernel void histogram(global const int* keys, global int* bins, int buckets) { atomic_inc(&bins[keys[get_global_id(0)] % buckets]); }
//: histogram_in_local: runs
kernel void histogram(global const uchar* data, global uint* bins, uint n) {
  local uint mine[256];
  uint l = get_local_id(0);
  for (uint k = l; k < 256; k += get_local_size(0)) mine[k] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_global_id(0) < n) atomic_inc(&mine[data[get_global_id(0)]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = l; k < 256; k += get_local_size(0)) atomic_add(&bins[k], mine[k]);
}
//: gather: unknown
kernel void gather(global const int* at, global const float* in, global float* out) { int i = get_global_id(0); out[i] = in[at[i]]; }
//: checked_gather: runs
kernel void gather(global const int* at, global const float* in, global float* out, int n) {
  int i = get_global_id(0);
  int k = at[i];
  out[i] = k >= 0 && k < n ? in[k] : 0;
}
//: half_checked_gather: unknown
kernel void gather(global const int* at, global const float* in, global float* out, int n) {
  int i = get_global_id(0);
  int k = at[i];
  if (k >= n) return;
  out[i] = in[k];
}
//: changed_after_check: unknown
kernel void gather(global const uint* at, global const float* in, global float* out, uint n) {
  uint k = at[get_global_id(0)];
  if (k < n) { k += 5000; out[get_global_id(0)] = in[k]; }
}
//: helper: runs
float at(global const float* p, int x, int y, int w) { return p[y * w + x]; }
inline int index_of(int x, int y, int w) { return y * w + x; }
kernel void flip(global const float* in, global float* out, int w) {
  int x = get_global_id(0), y = get_global_id(1);
  out[index_of(x, y, w)] = at(in, w - 1 - x, y, w);
}
//: bad_helper: unknown
float next(global const float* p, int i) { return p[i - 5]; }
kernel void k(global const float* in, global float* out) { int i = get_global_id(0); out[i] = next(in, i); }
//: pure_helper: runs
static float squared(float x) { return x * x; }
kernel void norm(global const float2* v, global float* out) { int i = get_global_id(0); out[i] = sqrt(squared(v[i].x) + squared(v[i].y)); }
//: helper_with_array: unknown
int digit(int n) { int digits[4]; for (int k = 0; k < n; ++k) digits[k] = k; return digits[n & 3]; }
kernel void k(global int* out, int n) { out[get_global_id(0)] = digit(n); }
//: transpose: unknown
kernel void transpose(global const float* in, global float* out, int width, int height) {
  local float tile[16][17];
  int x = get_group_id(0) * 16 + get_local_id(0), y = get_group_id(1) * 16 + get_local_id(1);
  tile[get_local_id(1)][get_local_id(0)] = in[y * width + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  x = get_group_id(1) * 16 + get_local_id(0);
  y = get_group_id(0) * 16 + get_local_id(1);
  out[get_global_id(1) * height + get_global_id(0)] = tile[get_local_id(0)][get_local_id(1)];
}
//: small_tile: unknown
kernel void k(global float* a) {
  local float tile[16];
  tile[get_local_id(0) + 1] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = tile[get_local_id(0)];
}
//: reduction: runs
kernel void reduce(global const float* in, global float* sums, local float* part, uint n) {
  uint l = get_local_id(0);
  part[l] = get_global_id(0) < n ? in[get_global_id(0)] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint s = get_local_size(0) / 2; s > 0; s >>= 1) {
    if (l < s) part[l] += part[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) sums[get_group_id(0)] = part[0];
}
//: small_local: unknown
kernel void k(global float* a, local float* t) { t[get_global_id(0) * 100000] = 1; a[get_global_id(0)] = t[0]; }
//: search: runs
kernel void search(global const char* text, global const char* word, global int* found, int length, int n) {
  int i = get_global_id(0);
  if (i + length > n) return;
  for (int k = 0; k < length; k++) if (text[i + k] != word[k]) return;
  found[i] = 1;
}
//: string_scan: unknown
kernel void text_length(global const char* text, global int* out) { int k = 0; while (text[k] != 0) k++; out[0] = k; }
//: structs: runs
typedef struct { float4 position; float4 velocity; float mass; } Body;
kernel void move(global Body* bodies, float dt, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  bodies[i].position += bodies[i].velocity * dt;
}
//: struct_members: unknown
typedef struct { float p[3]; int next; } Particle;
kernel void k(global Particle* a, int n) { int i = get_global_id(0); a[i].p[n] = 1; }
//: struct_arrow: unknown
typedef struct { int n; float v[2]; } Header;
kernel void k(global Header* h, global float* out) { out[get_global_id(0)] = h->v[h->n]; }
//: rows_of_four: unknown
kernel void k(global float (*a)[4], global float* b) { int i = get_global_id(0); b[i] = a[i][5000]; }
//: rows_in_order: unknown
typedef float row[4];
kernel void k(global row* a, global float* b) { int i = get_global_id(0); b[i] = a[i][2]; }
//: private_array: runs
kernel void median(global const float* in, global float* out, int n) {
  int i = get_global_id(0);
  float v[3];
  for (int k = 0; k < 3; ++k) v[k] = in[min(max(i + k - 1, 0), n - 1)];
  out[i] = fmax(fmin(v[0], v[1]), fmin(fmax(v[0], v[1]), v[2]));
}
//: long_private_array: unknown
kernel void k(global float* out, int n) { float v[16]; for (int i = 0; i < n; ++i) v[i] = i; out[get_global_id(0)] = v[3]; }
//: private_pointer: unknown
kernel void k(global float* out) { float v[4] = {0}; float* p = v; p[9] = 1; out[get_global_id(0)] = v[0]; }
//: table: runs
constant float weights[3] = {0.25f, 0.5f, 0.25f};
kernel void smooth(global const float* in, global float* out, int n) {
  int i = get_global_id(0);
  float s = 0;
  for (int k = -1; k <= 1; ++k) { int j = i + k; if (j >= 0 && j < n) s += weights[k + 1] * in[j]; }
  out[i] = s;
}
//: short_table: unknown
constant int table[3] = {1, 2, 3};
kernel void k(global int* out) { int i = get_global_id(0); out[i] = table[i & 3]; }
//: huge: unknown
kernel void k(global float* a) { size_t i = get_global_id(0); a[i * 1000000] = 1; }
//: image_read: runs
kernel void grey(read_only image2d_t in, write_only image2d_t out) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  float4 c = read_imagef(in, at);
  write_imagef(out, at, (float4)(c.x, c.x, c.x, 1));
}
//: image_outside: unknown
kernel void k(read_only image2d_t in, write_only image2d_t out) {
  write_imagef(out, (int2)(get_global_id(0) + 1, get_global_id(1)), read_imagef(in, (int2)(0, 0)));
}
//: image_sampled: runs
kernel void k(read_only image2d_t in, sampler_t s, global float* out, int w) {
  int x = get_global_id(0), y = get_global_id(1);
  out[y * w + x] = read_imagef(in, s, (float2)(x + 0.5f, y - 0.5f)).x;
}
//: no_sampler_clamps: unknown
constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
kernel void k(read_only image2d_t in, global float* out, int w) { int x = get_global_id(0), y = get_global_id(1); out[y * w + x] = read_imagef(in, s, (int2)(x - 1, y)).x; }
//: pointer_walk: unknown
kernel void k(global float* a, int n) { a += get_global_id(0) * n; for (int i = 0; i < n; ++i) *a++ = i; }
//: row_pointer: runs
kernel void k(global float* a, int n) {
  global float* row = a + get_global_id(0) * n;
  for (int i = 0; i < n; ++i) row[i] = i;
}
//: cast: unknown
kernel void k(global float* a) { global float4* v = (global float4*)a; v[get_global_id(0)] = 1; }
//: unsigned_underflow: unknown
kernel void k(global const int* a, global int* b, uint n) { uint i = get_global_id(0); uint j = i - 1; if (i < n) b[i] = a[j]; }
//: divided_by_data: unknown
kernel void k(global const int* a, global int* b) { int i = get_global_id(0); b[i] = 100 / a[i]; }
//: random: runs
kernel void monte_carlo(global uint* states, global float* out) {
  uint i = get_global_id(0);
  uint state = states[i];
  float sum = 0;
  for (uint k = 0; k < 8; k++) { state = state * 1664525u + 1013904223u; sum += (state >> 8) / 16777216.0f; }
  states[i] = state;
  out[i] = sum / 8;
}
//: random_walk: runs
kernel void visits(global uint* cells, uint n, uint seed) {
  uint state = seed + get_global_id(0);
  for (uint k = 0; k < 16; k++) { state = state * 1664525u + 1013904223u; atomic_inc(&cells[state % n]); }
}
//: spmv: unknown
kernel void spmv(int rows, global const int* ptr, global const int* cols, global const float* values, global const float* x, global float* y) {
  int row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0;
  for (int k = ptr[row]; k < ptr[row + 1]; ++k) sum += values[k] * x[cols[k]];
  y[row] = sum;
}
//: bitonic: runs
kernel void bitonic(global uint* a, uint stage, uint pass, uint n) {
  uint i = get_global_id(0);
  uint j = i ^ pass;
  if (j > i && j < n) { uint x = a[i], y = a[j]; if ((x > y) == ((i & stage) == 0)) { a[i] = y; a[j] = x; } }
}
//: goto: unknown
kernel void k(global int* a) { int i = get_global_id(0); again: a[i] += 1; if (a[i] < 5) goto again; }
//: case_jump: unknown
kernel void k(global int* a, int n) { int i = get_global_id(0); switch (n & 1) { case 0: if (i > 4) { case 1: a[i - 5] = 1; } } }
//: assembler: unknown
kernel void k(global int* a) { int i = get_global_id(0); a[i] = 1; __asm__(""); }
//: member_array_decays: unknown
typedef struct { uint bins[256]; } Hist;
kernel void count(global Hist* hist, global const uint* data) { atomic_inc(hist->bins + (data[get_global_id(0)] * 2654435761u >> 4)); }
//: element_array_decays: unknown
typedef struct { int f; int arr[4]; } S;
kernel void add(global S* a) { atomic_add(a[get_global_id(0)].arr + 5000000, 1); }
//: address_behind_a_comma: unknown
kernel void far_away(global int* a) { local int tile[64]; int l = get_local_id(0); tile[l] = 0; atomic_add((0, &tile[l]) + 50000, 1); a[l] = tile[l]; }
//: named_pointer: unknown
typedef local int* L;
kernel void named(global int* a) { local int tile[64]; int l = get_local_id(0); tile[l] = 0; L p = &tile[l]; p += 50000; atomic_inc(p); a[l] = tile[l]; }
//: times_zero: unknown
kernel void times_zero(global int* a) { for (int i = 5; i < 10; i *= 0) { a[i - 5] = 1; if (i == 0) break; } }
//: flat_parts: unknown
typedef struct { int x, y; } P;
constant P t[] = {1, 2, 3, 4, 5, 6, 7, 8};
kernel void parts(global int* a) { int i = get_global_id(0); a[i] = t[i & 7].x; }
//: union_by_value: unknown
typedef union { int i; float f; } U;
kernel void by_value(global int* a, U u) { a[get_global_id(0)] = u.i; }
//: size_in_two_dimensions: unknown
kernel __attribute__((reqd_work_group_size(8, 8, 1))) void square(global int* a) { a[get_global_id(0)] = 1; }
//: unnamed_parameter: runs
int first(int x, int) { return x; }
kernel void unnamed(global int* a) { a[first(get_global_id(0), 3)] = 1; }
