// Arguments whose value changes from iteration to iteration. lib/engine/progression.hpp defines the words and
// computes the same values for launches of the user's kernels.

#define TG_MULTIPLY 1
#define TG_SHIFT_LEFT 2
#define TG_SHIFT_RIGHT 3

// Returns how often the step has been taken.
ulong tg_steps(global const ulong* words, uint iteration) {
  const ulong steps = iteration / words[3];
  return words[4] == 0 ? steps : steps % words[4];
}

// Returns the bits of an integer; the caller truncates them to its type.
ulong tg_progression(global const ulong* words, uint iteration, bool is_signed) {
  const ulong steps = tg_steps(words, iteration);
  const ulong by = words[1];
  ulong value = words[0];
  if (words[2] == TG_MULTIPLY) {
    ulong power = by;
    for (ulong left = steps; left != 0; left >>= 1) {
      value *= (left & 1) != 0 ? power : 1;
      power *= power;
    }
  } else if (words[2] == TG_SHIFT_LEFT) {
    value = by * steps > 63 ? 0 : value << by * steps;
  } else if (words[2] == TG_SHIFT_RIGHT) {
    const ulong shift = min(by * steps, (ulong)63);
    value = is_signed ? (ulong)((long)value >> shift) : by * steps > 63 ? 0 : value >> shift;
  } else {
    value += by * steps;
  }
  const ulong modulo = words[5];
  if (modulo == 0) {
    return value;
  }
  if (!is_signed) {
    return value % modulo;
  }
  const long rest = (long)value % (long)modulo;
  return (ulong)(rest < 0 ? rest + (long)modulo : rest);
}

float tg_progression_float(global const ulong* words, uint iteration) {
  return fma(as_float((uint)words[1]), (float)tg_steps(words, iteration), as_float((uint)words[0]));
}

#ifdef TG_DOUBLE_PROGRESSIONS
double tg_progression_double(global const ulong* words, uint iteration) {
  return fma(as_double(words[1]), (double)tg_steps(words, iteration), as_double(words[0]));
}
#endif
