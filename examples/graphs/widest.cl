// The widest path: a path is as wide as its narrowest edge. From the sources everything fits through.
uint at_source(uint vertex, uint index) { return 0xffffffffu; }
uint along(uint width, uint weight) { return min(width, weight); }
bool settled(uint width) { return width == 0xffffffffu; }
