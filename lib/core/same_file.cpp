#include <tidegate/core/error_list.hpp>
#include <tidegate/core/files.hpp>
#include <tidegate/core/same_file.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>

namespace tidegate {
namespace {

// Device and inode of a file that exists, those of its folder and its name of another.
using Identity = std::tuple<dev_t, ino_t, std::string>;

// Nothing for what cannot be destroyed: streams, devices, pipes, folders. cannot_write where the folder is
// missing.
Result<std::optional<Identity>> identity_of(const std::string& path) {
  struct stat status {};
  const bool is_stream = path == standard_stream;
  if ((is_stream ? ::fstat(0, &status) : ::stat(path.c_str(), &status)) == 0) {
    return S_ISREG(status.st_mode) ? std::optional(Identity(status.st_dev, status.st_ino, "")) : std::nullopt;
  }
  if (is_stream) {
    return std::nullopt;
  }
  return written_path(path).map([&status](const std::filesystem::path& file) {
    return ::stat(file.parent_path().c_str(), &status) == 0
               ? std::optional(Identity(status.st_dev, status.st_ino, file.filename().string()))
               : std::nullopt;
  });
}

Error overwriting(const NamedFile& output, const NamedFile& other) {
  return {.code = output.pointer ? ErrorCode::invalid_program : ErrorCode::invalid_usage,
          .message =
              fmt::format("{} would overwrite {}, {}", output.role, other.role, display_name(other.path)),
          .fix = "name another file",
          .pointer = output.pointer};
}

} // namespace

std::filesystem::path canonical_path(const std::string& path) {
  constexpr int most_links = 40;
  std::error_code error;
  std::filesystem::path followed = std::filesystem::absolute(path, error);
  if (error) {
    return path; // nobody knows where we are
  }
  for (int i = 0; i < most_links; ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(followed, error);
    if (error) {
      break;
    }
    followed = followed.parent_path() / target; // an absolute target stands for itself
  }
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(followed, error);
  return error ? followed.lexically_normal() : canonical;
}

bool lies_inside(const std::filesystem::path& path, const std::filesystem::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

Result<void> refuse_overwriting(const FileUses& files) {
  std::map<Identity, const NamedFile*> known;
  for (const NamedFile& input : files.inputs) {
    if (const auto identity = identity_of(input.path); identity && *identity) {
      known.try_emplace(**identity, &input);
    }
  }
  ErrorList errors;
  for (const NamedFile& output : files.outputs) {
    auto identity = output.path == standard_stream ? Result<std::optional<Identity>>(std::nullopt)
                                                   : identity_of(output.path);
    if (!identity) {
      identity.error().pointer = output.pointer;
      errors.check(identity);
    } else if (*identity) {
      if (const auto [same, added] = known.try_emplace(**identity, &output); !added) {
        errors.add(overwriting(output, *same->second));
      }
    }
  }
  return errors.result();
}

} // namespace tidegate
