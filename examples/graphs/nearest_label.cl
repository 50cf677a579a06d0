// The nearest of several labelled vertices: the distance in the upper word and the label, which is the source's place in the
// program, in the lower one. Of labels at the same distance the first wins.
ulong at_source(uint vertex, uint index) { return index; }
ulong along(ulong nearest, uint weight) { return add_sat(nearest, (ulong)weight << 32); }
