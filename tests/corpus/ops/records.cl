// Structs, unions, nested and packed ones, arrays of them, enums, and pointers to members.
typedef enum { SOLID = 1, LIQUID, GAS = 7 } Phase;

typedef union Bits {
  float f;
  uint u;
  uchar4 bytes;
} Bits;

struct Vector { float x, y; };

typedef struct Particle {
  struct Vector at, speed;
  Bits tag;
  Phase phase;
  ushort neighbours[2];
} Particle; // 28 bytes

typedef struct __attribute__((packed)) { uchar kind; uint value; } Packed; // 5 bytes

void move(struct Vector* at, const struct Vector* speed, float dt) {
  at->x += dt * speed->x;
  at->y += dt * speed->y;
}

kernel void create(global struct Particle* particles, uint n) {
  const uint i = get_global_id(0);
  Particle p = {{i * 0.5f, 1.0f}, {1.0f, -(float)i}, {.u = 0x3f800000u + (i << 8)}, i % 3 ? LIQUID : SOLID, {0}};
  p.neighbours[0] = (i + n - 1) % n;
  p.neighbours[1] = (i + 1) % n;
  particles[i] = p;
}

kernel void advance(global Particle* particles, float dt) {
  global Particle* const here = particles + get_global_id(0);
  Particle p = *here;
  move(&p.at, &p.speed, dt);
  Bits flipped = p.tag;
  flipped.bytes.s0 = flipped.bytes.s3 ^ 0x5a;
  flipped.f = -flipped.f;
  p.tag = flipped;
  if (p.at.y < 0) p.phase = GAS;
  *here = p;
}

kernel void summarise(global const Particle* particles, global uint* out, global uchar* packed_bytes) {
  local Particle cached[32];
  local struct { uint solid, liquid, gas; } count;
  const uint i = get_global_id(0), l = get_local_id(0);
  if (l == 0) count.solid = count.liquid = count.gas = 0;
  cached[l] = particles[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  switch (cached[(l + 1) % 32].phase) {
  case SOLID: atomic_inc(&count.solid); break;
  case LIQUID: atomic_inc(&count.liquid); break;
  case GAS: atomic_inc(&count.gas); break;
  }
  global Packed* const packed_at = (global Packed*)packed_bytes + i;
  packed_at->kind = cached[31 - l].phase;
  packed_at->value = cached[31 - l].tag.u;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 3) out[3 * get_group_id(0) + l] = l == 0 ? count.solid : l == 1 ? count.liquid : count.gas;
}
