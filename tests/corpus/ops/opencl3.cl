// OpenCL 3.0: work_group_barrier, C11 atomics, generic names of the indices, a program-scope helper with inline.
#if __OPENCL_C_VERSION__ < 300
#error "to be compiled as OpenCL C 3.0"
#endif

inline size_t linear(void) { return get_global_linear_id(); }

kernel void modern(global const uint* in, global uint* out, global atomic_uint* total) {
  local atomic_uint in_group;
  if (get_local_linear_id() == 0)
    atomic_store_explicit(&in_group, 0, memory_order_relaxed, memory_scope_work_group);
  work_group_barrier(CLK_LOCAL_MEM_FENCE);
  atomic_fetch_add_explicit(&in_group, in[linear()] & 0xff, memory_order_relaxed, memory_scope_work_group);
  work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
  const uint sum = atomic_load_explicit(&in_group, memory_order_relaxed, memory_scope_work_group);
  out[linear()] = sum ^ (uint)get_enqueued_local_size(0);
  if (get_local_linear_id() == 0)
    atomic_fetch_add_explicit(total, sum, memory_order_relaxed, memory_scope_device);
}
