// Shortest distances of 64 bits, where those of 32 (sssp.cl) do not fit: functions for kernels/frontier/own.cl. A sum of 2^32
// weights of 32 bits fits.
ulong at_source(uint vertex, uint index) { return 0; }
ulong along(ulong distance, uint weight) { return distance + weight; }
bool settled(ulong distance) { return distance == 0; }
