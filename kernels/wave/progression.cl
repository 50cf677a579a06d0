// Arguments whose value changes from iteration to iteration. lib/engine/progression.hpp defines the words; the host compiles
// this file, too.

#define TG_MULTIPLY 1
#define TG_SHIFT_LEFT 2
#define TG_SHIFT_RIGHT 3

// Returns how often the step has been taken.
ulong tg_steps(global const ulong* words, uint iteration) {
  const ulong steps = iteration / words[3];
  return words[4] == 0 ? steps : steps % words[4];
}

// Returns a * b % modulo, for factors below it; 128 bits would be needed for the product.
ulong tg_product(ulong a, ulong b, ulong modulo) {
  if (modulo >> 32 == 0) {
    return a * b % modulo;
  }
  ulong sum = 0;
  for (; b != 0; b >>= 1) {
    if ((b & 1) != 0) {
      sum = sum >= modulo - a ? sum - (modulo - a) : sum + a;
    }
    a = a >= modulo - a ? a - (modulo - a) : a + a;
  }
  return sum;
}

// Returns the rest of the division, from 0 to below the modulo.
ulong tg_rest(ulong value, ulong modulo, bool is_signed) {
  if (!is_signed) {
    return value % modulo;
  }
  const long rest = (long)value % (long)modulo;
  return (ulong)(rest < 0 ? rest + (long)modulo : rest);
}

// Returns the bits of an integer; the caller truncates them to its type.
ulong tg_progression(global const ulong* words, uint iteration, bool is_signed) {
  const ulong steps = tg_steps(words, iteration);
  const ulong by = words[1];
  ulong value = words[0];
  const ulong modulo = words[5];
  if (modulo != 0 && words[2] <= TG_MULTIPLY) {
    value = tg_rest(value, modulo, is_signed);
    ulong factor = tg_rest(by, modulo, is_signed);
    if (words[2] != TG_MULTIPLY) {
      const ulong added = tg_product(factor, steps % modulo, modulo);
      return value >= modulo - added ? value - (modulo - added) : value + added;
    }
    for (ulong left = steps; left != 0; left >>= 1) {
      value = (left & 1) != 0 ? tg_product(value, factor, modulo) : value;
      factor = tg_product(factor, factor, modulo);
    }
  } else if (words[2] == TG_MULTIPLY) {
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
  return modulo == 0 ? value : tg_rest(value, modulo, is_signed);
}

float tg_progression_float(global const ulong* words, uint iteration) {
  return fma(as_float((uint)words[1]), (float)tg_steps(words, iteration), as_float((uint)words[0]));
}

#ifdef TG_DOUBLE_PROGRESSIONS
double tg_progression_double(global const ulong* words, uint iteration) {
  return fma(as_double(words[1]), (double)tg_steps(words, iteration), as_double(words[0]));
}
#endif
