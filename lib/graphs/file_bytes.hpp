// The bytes of a file as they are, or inflated where the file begins as gzip files do.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/core/files.hpp>
#include <tidegate/graphs/inflater.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace tidegate::graphs {

class FileBytes {
public:
  // "-" is standard input. cannot_read.
  static Result<FileBytes> open(const std::string& path);

  [[nodiscard]] bool compressed() const { return inflater_ != nullptr; }

  // Up to `most` bytes, of which there is at least one; none at the end. cannot_read, and bad_graph for gzip
  // data that are damaged or end early.
  Result<std::size_t> read(char* to, std::size_t most);

private:
  FileBytes(Descriptor file, std::string path);

  Result<std::size_t> read_file(char* to, std::size_t most);
  Result<void> refill();
  Result<bool> next_member();
  Result<std::size_t> inflate(char* to, std::size_t most);

  Descriptor file_;
  std::string path_;
  std::vector<char> raw_;
  std::size_t begin_ = 0, end_ = 0; // of what `raw_` holds and nobody has taken
  std::unique_ptr<Inflater> inflater_;
  bool between_members_ = false;
};

} // namespace tidegate::graphs
