// Means something else to each of its two readers.
#ifdef CLASH_VARIANT
#define SHARED_CONSTANT 1.5f
#else
#define SHARED_CONSTANT 100
#endif
