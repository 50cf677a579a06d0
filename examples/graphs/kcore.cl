// The K-core: what is left when vertices with fewer than K neighbours fall, again and again. A value counts the neighbours that have
// not fallen; those of the core end with K or more.
int initial(uint vertex, uint degree) { return (int)degree; }
bool fires(int left) { return left < K; }
int along(uint weight) { return -1; }
