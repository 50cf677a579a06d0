// Tensors in a .safetensors file: the length of a header in 8 bytes, a header of JSON, and the tensors' bytes.
// Source: the format's description by its authors, Hugging Face.
#pragma once
#include "core/files.hpp"
#include <tidegate/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tidegate {

struct Tensor {
  std::string type; // F32, BF16, I64, …
  std::vector<std::uint64_t> shape;
  std::uint64_t offset = 0; // in the file
  std::uint64_t bytes = 0;
};

// Finds a tensor by its name. Errors: cannot_read; bad_array for a file that is none or is cut off, and for a name that it
// does not have.
Result<Tensor> find_tensor(const Descriptor& file, const std::string& path, const std::string& name);

// Reads the tensor's bytes, as many as `contents` has. Error: cannot_read.
Result<void> read_tensor(const Descriptor& file, const std::string& path, const Tensor& tensor,
                         std::span<std::byte> contents);

} // namespace tidegate
