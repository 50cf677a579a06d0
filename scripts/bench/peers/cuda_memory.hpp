// Memory of a CUDA device for peers. This header uses nothing of tidegate.
#pragma once
#include "rows_file.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace peers {

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    fail(std::string(what) + ": " + cudaGetErrorString(status));
  }
}

template <class T>
T* device_array(std::size_t count) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, std::max<std::size_t>(count, 1) * sizeof(T)), "cudaMalloc");
  return static_cast<T*>(memory);
}

template <class T>
T* uploaded(const std::vector<T>& values) {
  T* const memory = device_array<T>(values.size());
  check(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  return memory;
}

template <class T>
std::vector<T> downloaded(const T* memory, std::size_t count) {
  std::vector<T> values(count);
  check(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return values;
}

inline std::uint32_t multiprocessors() {
  int device = 0;
  int units = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  return static_cast<std::uint32_t>(units);
}

} // namespace peers
