// The device's clock. TG_CLOCK selects it (the numbers of lib/runtime/trace.hpp). Its rate may be unknown: the
// host measures by its own clock when a launch began and ended.
#define TG_CLOCK_NANOSECONDS 1 // NVIDIA: a nanosecond register that all multiprocessors share
#define TG_CLOCK_EXTENSION 2   // cl_khr_kernel_clock
#define TG_CLOCK_PROCESSOR 3   // the cycle counter of an x86 processor

ulong tg_now(void) {
#if TG_CLOCK == TG_CLOCK_NANOSECONDS
  ulong now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now) : : "memory");
  return now;
#elif TG_CLOCK == TG_CLOCK_EXTENSION
  return clock_read_device();
#elif TG_CLOCK == TG_CLOCK_PROCESSOR
  return __builtin_readcyclecounter();
#else
  return 0;
#endif
}
