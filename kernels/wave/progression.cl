// Arguments whose value changes from iteration to iteration. lib/engine/job.hpp defines the words; the host compiles this
// file, too.

#define TG_MULTIPLY 1
#define TG_DIVIDE 2

// Returns the bits of an integer; the caller truncates them to its type.
ulong tg_progression(global const ulong* words, uint iteration) {
  ulong value = words[0];
  if (words[2] == TG_DIVIDE) { // by 2 at least: 64 times
    for (uint left = iteration; left != 0 && value != 0; --left) {
      value /= words[1];
    }
    return value;
  }
  if (words[2] != TG_MULTIPLY) {
    return value + words[1] * iteration;
  }
  ulong power = words[1];
  for (uint left = iteration; left != 0; left >>= 1) {
    value *= (left & 1) != 0 ? power : 1;
    power *= power;
  }
  return value;
}

float tg_progression_float(global const ulong* words, uint iteration) {
  return fma(as_float((uint)words[1]), (float)iteration, as_float((uint)words[0]));
}

#ifdef TG_DOUBLE_PROGRESSIONS
double tg_progression_double(global const ulong* words, uint iteration) {
  return fma(as_double(words[1]), (double)iteration, as_double(words[0]));
}
#endif
