// Every statement of C: a small stack machine and a few loops.
enum Code { PUSH, ADD, MUL, SUB, DUP, SWAP, JUMP_IF_SMALL, STOP };

constant uchar program_bytes[] = {
    PUSH, 3, ADD, DUP, PUSH, 5, MUL, SWAP, SUB, DUP, JUMP_IF_SMALL, 0, STOP,
};

kernel void machine(global const int* inputs, global int* outputs) {
  int stack[8];
  int top = 0, at = 0, steps = 0;
  stack[top++] = inputs[get_global_id(0)];
  for (;;) {
    if (++steps > 200) goto out_of_steps;
    const int code = program_bytes[at++];
    switch (code) {
    case PUSH:
      stack[top++] = program_bytes[at++];
      continue;
    case ADD:
    case MUL:
    case SUB: {
      const int b = stack[--top], a = stack[--top];
      stack[top++] = code == ADD ? a + b : code == MUL ? a * b : a - b;
      break;
    }
    case DUP: stack[top] = stack[top - 1]; ++top; break;
    case SWAP: {
      int t = stack[top - 1];
      stack[top - 1] = stack[top - 2], stack[top - 2] = t;
    } break;
    case JUMP_IF_SMALL:
      if (abs(stack[--top]) < 1000u) at = program_bytes[at];
      else ++at;
      break;
    case STOP: goto done;
    default: goto out_of_steps;
    }
  }
out_of_steps:
  stack[top - 1] = -steps;
done:
  outputs[get_global_id(0)] = stack[top - 1];
}

kernel void loops(global const uint* in, global uint* out) {
  uint x = in[get_global_id(0)], digits = 0;
  do digits++; while (x /= 10);
  uint product = 1;
  for (int i = 0, j = 10; i < j; ++i, --j) {
    if (i == 2) continue;
    if (product > 500) break;
    product *= i + j;
  }
  uint k = in[get_global_id(0)] | 1;
  while (k % 7 != 3) ++k;
  out[get_global_id(0)] = (digits << 24) ^ product ^ (k >> 3);
  ;
}
