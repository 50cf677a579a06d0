// These are ops of a queue: each runs one item, in one lane.

// Counts the Collatz steps from start[i] to 1, sixteen at a time: a longer chain goes back to the queue. `chains[i]`
// holds the number that the chain has reached, and the steps so far.
uint collatz(global const uint* start, global ulong2* chains, uint i) {
  ulong value = chains[i].y == 0 ? start[i] : chains[i].x;
  ulong steps = chains[i].y;
  if (value == 0) {
    return TIDEGATE_FAULT(i); // no chain begins at 0
  }
  for (uint k = 0; k < 16 && value != 1; ++k) {
    value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    ++steps;
  }
  chains[i] = (ulong2)(value, steps);
  return value == 1 ? TIDEGATE_DONE : TIDEGATE_REQUEUE;
}

// Adds up the digits of start[i]. It is pure: equal items have equal results.
uint digits(global const uint* start, global uint* sums, uint i) {
  uint sum = 0;
  for (uint value = start[i]; value != 0; value /= 10) {
    sum += value % 10;
  }
  sums[i] = sum;
  return TIDEGATE_DONE;
}
