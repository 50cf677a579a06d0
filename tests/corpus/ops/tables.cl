// Tables in the constant address space: at file scope, of several dimensions and of structs, and as arguments.
__constant int zigzag[4][4] = {{0, 1, 5, 6}, {2, 4, 7, 12}, {3, 8, 11, 13}, {9, 10, 14, 15}};
constant struct { short offset; char sign; } rules[] = {{4, 1}, {-2, -1}, {1, 1}};
constant char text[] = "tide\tgate\n\"quoted\" // no comment /* nor this */ \\";
constant int text_length = sizeof(text) - 1;

int both(constant int* table, constant int* argument, int i) { return table[i & 15] ^ argument[15 - (i & 15)]; }

kernel void lookups(constant int* order, global const float* in, global float* out, constant float2* affine, int n) {
  const int i = get_global_id(0);
  if (i >= n) return;
  const int place = zigzag[i / 4 % 4][i % 4];
  const int rule = order[i % 16] % 3;
  float value = in[i] * place + rules[rule].offset * rules[rule].sign;
  value = mad(value, affine[rule & 1].x, affine[rule & 1].y);
  out[i] = value + text[i % text_length] + both(order, order, i);
}
