#include "engine/outcome.hpp"

#include "core/files.hpp"

namespace tidegate::engine {

WrittenFile written_file(const std::string& file, std::string what) {
  std::error_code unknown; // devices and pipes have no size
  const std::uintmax_t bytes = std::filesystem::file_size(file, unknown);
  return {.file = file, .what = std::move(what), .bytes = unknown ? 0 : bytes};
}

Result<WrittenFile> write_file(const std::string& file, std::string_view text, std::string what) {
  TIDEGATE_TRY(Output output, Output::open(file));
  TIDEGATE_CHECK(output.write(text));
  TIDEGATE_CHECK(output.commit());
  return written_file(file, std::move(what));
}

} // namespace tidegate::engine
