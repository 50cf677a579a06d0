// Best value by capacity, one object per iteration; its number is counted on the device.
kernel void consider(global const uint* best, global uint* next, global const uint* weights, global const uint* values,
                     global const uint* object, uint capacities) {
  const uint c = get_global_id(0);
  if (c >= capacities) return;
  const uint weight = weights[*object], value = values[*object];
  next[c] = c >= weight ? max(best[c], best[c - weight] + value) : best[c];
}

kernel void next_object(global uint* object) { (*object)++; }
