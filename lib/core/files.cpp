// Reads files, and writes outputs without a name, or under a temporary one, until commit() gives them theirs.
#include "core/files.hpp"

#include "core/interrupt.hpp"
#include <tidegate/core/text.hpp>

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <xxhash.h>

#include <csignal>
#include <ctime>

namespace tidegate {
namespace {

Error refusal(ErrorCode code, const std::string& path, std::string_view why, std::string_view fix) {
  const bool reads = code == ErrorCode::cannot_read;
  return {.code = code,
          .message =
              fmt::format("cannot {} {}: {}", reads ? "read" : "write",
                          reads || path != standard_stream ? display_name(path) : "standard output", why),
          .fix = std::string(fix)};
}

Error cannot_read(const std::string& path, int code) {
  return refusal(ErrorCode::cannot_read, path, std::generic_category().message(code),
                 code == EISDIR ? "name a file in that folder"
                                : "name a readable file, or pipe the document in and name no file");
}

Error cannot_write(const std::string& path, int code) {
  return refusal(ErrorCode::cannot_write, path, std::generic_category().message(code),
                 code == ENOSPC || code == EDQUOT ? "free some space"
                 : path == standard_stream        ? "open standard output, or name a file with -o"
                                                  : "name a file in a folder that you may write to");
}

// The system would take the text before a NUL for the whole name.
Result<void> check_name(const std::string& path) {
  return path.find('\0') == std::string::npos
             ? Result<void>()
             : failure(ErrorCode::invalid_usage,
                       fmt::format("the name {} has a NUL character", in_quotes(path)), "remove it");
}

// Returns true for a pipe with a name in a folder, as opposed to a shell's or a standard stream's pipe.
bool is_named_pipe(const std::string& path, const struct stat& status) {
  struct statfs system {};
  return S_ISFIFO(status.st_mode) && (::statfs(path.c_str(), &system) != 0 || system.f_type != PIPEFS_MAGIC);
}

// Waits up to 2 seconds for a reader that starts at the same time.
int open_pipe(const std::string& path) {
  constexpr int tries = 200;
  constexpr useconds_t pause = 10'000;
  int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  for (int i = 0; i < tries && fd < 0 && errno == ENXIO; ++i) {
    ::usleep(pause);
    fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  }
  if (fd >= 0) {
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  }
  return fd;
}

} // namespace

std::string display_name(std::string_view path) {
  return path == standard_stream ? "standard input" : std::string(path);
}

Descriptor::Descriptor(int fd)
    : fd_(new int(fd), [](const int* owned) {
        if (*owned > STDERR_FILENO) {
          ::close(*owned);
        }
        delete owned;
      }) {}

Result<Descriptor> open_input(const std::string& path, FileKinds kinds) {
  if (path.empty()) {
    return failure(ErrorCode::invalid_usage, "the name of an input file is empty",
                   "name a file, or - for standard input");
  }
  TIDEGATE_CHECK(check_name(path));
  if (path == standard_stream) {
    return Descriptor(STDIN_FILENO);
  }
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    return tl::unexpected(cannot_read(path, EISDIR));
  }
  if (exists && kinds != FileKinds::any && is_named_pipe(path, status)) {
    return tl::unexpected(refusal(ErrorCode::cannot_read, path, "it is a named pipe", "name a regular file"));
  }
  if (exists && kinds == FileKinds::regular && !S_ISREG(status.st_mode)) {
    return tl::unexpected(refusal(ErrorCode::cannot_read, path,
                                  "it is not a regular file, but is read more than once",
                                  "name a regular file"));
  }
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return fd < 0 ? Result<Descriptor>(tl::unexpected(cannot_read(path, errno))) : Descriptor(fd);
}

Result<std::string> read_all(const std::string& path, std::size_t most, FileKinds kinds) {
  TIDEGATE_TRY(auto file, open_input(path, kinds));
  constexpr std::size_t first_block = std::size_t{64} << 10U;
  struct stat status {};
  const bool sized = ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
  // One byte more than the file, so that the read that finds its end needs no larger buffer.
  std::size_t block = sized ? std::min(static_cast<std::size_t>(status.st_size), most) + 1 : first_block;
  std::string text;
  std::size_t size = 0;
  while (true) {
    if (text.size() == size) {
      text.resize(size + block);
      block = text.size(); // doubles from here on
    }
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
      pollfd ready{.fd = file.get(), .events = POLLIN, .revents = 0};
      ::poll(&ready, 1, -1);
      continue;
    }
    if (got < 0) {
      return tl::unexpected(cannot_read(path, errno));
    }
    if (got == 0) {
      break;
    }
    size += static_cast<std::size_t>(got);
    if (size > most) {
      return failure(ErrorCode::input_too_large,
                     fmt::format("{} is larger than {} bytes", display_name(path), most), "split it");
    }
  }
  text.resize(size);
  return text;
}

namespace {

constexpr mode_t for_all = 0666; // as far as the user's mask permits
bool outputs_are_flushed = true;

std::string path_of(int fd) {
  return fmt::format("/proc/self/fd/{}", fd);
}

// A file without a name leaves nothing when its process is killed: mpirun kills ranks a second or two after SIGTERM.
// Returns -1 where the file system has no such files.
int open_unnamed(const std::string& final_path) {
  const std::string folder = std::filesystem::path(final_path).parent_path().string();
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, for_all);
  if (fd >= 0 && ::access(path_of(fd).c_str(), F_OK) != 0) { // without /proc it would never get a name
    ::close(fd);
    return -1;
  }
  return fd;
}

} // namespace

// An interrupt waits until the name is gone: the file has another one then, or there is none.
void Output::name_for_now() {
  has_temporary_ = {new InterruptsWait, [name = temporary_](const InterruptsWait* wait) {
                      ::unlink(name.c_str());
                      delete wait;
                    }};
}

// Follows the links that a file's name leads through, up to as many as the system does.
static std::filesystem::path followed(std::filesystem::path file) {
  constexpr int most_links = 40;
  std::error_code error;
  for (int links = 0; links < most_links && std::filesystem::is_symlink(file, error); ++links) {
    file =
        file.parent_path() / std::filesystem::read_symlink(file, error); // an absolute target stays absolute
  }
  return file;
}

Result<std::string> written_path(const std::string& path) {
  if (path.empty()) {
    return failure(ErrorCode::invalid_usage, "the name of the output file is empty",
                   "name a file, or - for standard output");
  }
  TIDEGATE_CHECK(check_name(path));
  std::error_code error;
  const std::filesystem::path file = followed(path);
  if (std::filesystem::is_symlink(file, error)) {
    return tl::unexpected(cannot_write(path, ELOOP));
  }
  if (file.filename().empty() || file.filename() == "." || file.filename() == "..") {
    return tl::unexpected(cannot_write(path, EISDIR));
  }
  // Uses realpath like the system: ".." of a missing folder is an error.
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(folder.c_str(), nullptr), &std::free);
  if (!real) {
    return tl::unexpected(cannot_write(path, errno));
  }
  return (std::filesystem::path(real.get()) / file.filename()).string();
}

Result<Output> Output::open(const std::string& path, FileKinds kinds) {
  TIDEGATE_CHECK(check_name(path));
  struct stat status {};
  struct stat standard_output {};
  const bool exists = path != standard_stream && ::stat(path.c_str(), &status) == 0;
  if (path == standard_stream || // or /dev/stdout, of any type
      (exists && ::fstat(STDOUT_FILENO, &standard_output) == 0 && status.st_dev == standard_output.st_dev &&
       status.st_ino == standard_output.st_ino)) {
    return Output(path, STDOUT_FILENO);
  }
  if (exists && !S_ISREG(status.st_mode)) {
    const bool pipe = is_named_pipe(path, status);
    if (pipe && kinds != FileKinds::any) {
      return tl::unexpected(
          refusal(ErrorCode::cannot_write, path, "it is a named pipe", "name a regular file"));
    }
    const int fd = pipe ? open_pipe(path) : ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
      return tl::unexpected(pipe && errno == ENXIO
                                ? refusal(ErrorCode::cannot_write, path, "no process reads from this pipe",
                                          "start the reader first")
                                : cannot_write(path, errno));
    }
    return Output(path, fd);
  }
  if (exists && ::access(path.c_str(), W_OK) != 0) {
    return tl::unexpected(cannot_write(path, errno)); // rename() would replace a protected file
  }
  TIDEGATE_TRY(const std::string final_path, written_path(path)); // the target of links, not the links
  const std::string temporary = fmt::format("{}.{:06x}", final_path, std::random_device()() & 0xffffffU);
  const bool short_enough = std::filesystem::path(temporary).filename().native().size() <= NAME_MAX;
  const InterruptsWait until_it_can_be_removed;
  const int unnamed = short_enough ? open_unnamed(final_path) : -1;
  const int fd =
      unnamed < 0 ? ::open(temporary.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, for_all) : unnamed;
  if (fd < 0) {
    return tl::unexpected(cannot_write(path, errno));
  }
  Output output(path, fd);
  output.final_path_ = final_path;
  output.temporary_ = temporary;
  if (unnamed < 0) {
    output.name_for_now();
  }
  if (exists) {
    (void)!::fchown(fd, status.st_uid, status.st_gid); // as far as permitted
    ::fchmod(fd, status.st_mode & static_cast<mode_t>(07777));
  }
  return output;
}

Result<void> Output::write(std::string_view text) {
  while (!text.empty() && !closed_) {
    const ssize_t put = ::write(descriptor(), text.data(), text.size());
    if (put >= 0) {
      text.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno == EPIPE) {
      closed_ = true;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd ready{.fd = descriptor(), .events = POLLOUT, .revents = 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return tl::unexpected(cannot_write(path_, errno));
    }
  }
  return {};
}

Result<void> Output::commit() {
  if (final_path_.empty()) {
    return {};
  }
  // Flush the data before the file gets its name, so that a crash leaves the old file or the new one.
  if (outputs_are_flushed && ::fsync(descriptor()) != 0 && errno != EINVAL) {
    return tl::unexpected(cannot_write(path_, errno));
  }
  const InterruptsWait until_it_has_its_name;
  if (!has_temporary_ && ::linkat(AT_FDCWD, path_of(descriptor()).c_str(), AT_FDCWD, temporary_.c_str(),
                                  AT_SYMLINK_FOLLOW) == 0) { // which replaces no file, as rename() does
    name_for_now();
  }
  if (!has_temporary_ || ::rename(temporary_.c_str(), final_path_.c_str()) != 0) {
    return tl::unexpected(cannot_write(path_, errno));
  }
  has_temporary_.reset();
  final_path_.clear();
  return {};
}

void flush_outputs(bool flush) {
  outputs_are_flushed = flush;
}

void prepare_process() {
  // Otherwise the next opened file would get the number of a closed standard stream. The replacement is
  // unusable: /dev/null opened only for writing (input) or only for reading (outputs).
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
      (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

namespace {

// Device and inode of an existing file; of a missing one, those of its folder, and its name.
using Identity = std::tuple<dev_t, ino_t, std::string>;

// Returns nothing for streams, devices, pipes and folders, which cannot be overwritten, nor for an empty path. Errors:
// cannot_write if the folder is missing.
Result<std::optional<Identity>> identity_of(const std::string& path) {
  struct stat status {};
  const bool is_stream = path == standard_stream;
  if ((is_stream ? ::fstat(0, &status) : ::stat(path.c_str(), &status)) == 0) {
    return S_ISREG(status.st_mode) ? std::optional(Identity(status.st_dev, status.st_ino, "")) : std::nullopt;
  }
  if (is_stream || path.empty()) {
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

std::string file_state(const std::string& path, std::uint64_t settled_ns) {
  struct stat file {};
  timespec now{};
  if (::stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode) ||
      ::clock_gettime(CLOCK_REALTIME, &now) != 0) {
    return {};
  }
  constexpr std::int64_t second = 1'000'000'000;
  const auto ns = [](const timespec& time) { return std::int64_t{time.tv_sec} * second + time.tv_nsec; };
  const std::int64_t written = ns(file.st_mtim);
  const std::int64_t changed = ns(file.st_ctim);
  if (ns(now) < std::max(written, changed) + static_cast<std::int64_t>(settled_ns)) {
    return {};
  }
  return fmt::format("{} {} {} {} {}", file.st_dev, file.st_ino, file.st_size, written, changed);
}

std::filesystem::path canonical_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) {
    return path; // the current folder is unknown
  }
  const std::filesystem::path file = followed(absolute);
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(file, error);
  return error ? file.lexically_normal() : canonical;
}

Result<void> refuse_overwriting(const FileUses& files) {
  for (const auto& [uses, stream] :
       {std::pair(&files.inputs, "input"), std::pair(&files.outputs, "output")}) {
    const auto first = std::ranges::find(*uses, standard_stream, &NamedFile::path);
    const auto second = std::find_if(first == uses->end() ? first : first + 1, uses->end(),
                                     [](const NamedFile& use) { return use.path == standard_stream; });
    if (second != uses->end()) {
      return failure(ErrorCode::invalid_usage,
                     fmt::format("standard {} cannot be {} and {}", stream, first->role, second->role),
                     "name a file for one of them");
    }
  }
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

std::filesystem::path cache_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') {
    return std::filesystem::path(cache) / "tidegate";
  }
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::filesystem::path(home) / ".cache" / "tidegate"
                                         : std::filesystem::path();
}

std::string path_in(const std::string& folder, const std::string& file) {
  if (file.empty()) {
    return file; // and not the folder
  }
  const std::string path = folder == "." ? file : (std::filesystem::path(folder) / file).string();
  return path == standard_stream ? "./" + path : path;
}

Result<void> check_scope(const std::string& path, const std::string& folder, PathScope scope) {
  if (path.empty()) {
    return failure(ErrorCode::invalid_program, "the name of a file is empty", "name a file, or leave it out");
  }
  TIDEGATE_CHECK(check_name(path));
  if (scope == PathScope::anywhere) {
    return {};
  }
  const std::filesystem::path home = canonical_path(folder.empty() ? "." : folder);
  const std::filesystem::path file = canonical_path(path);
  if (std::ranges::mismatch(home, file).in1 == home.end()) {
    return {};
  }
  std::error_code ignored;
  const bool plain = std::filesystem::absolute(path, ignored).lexically_normal() == file;
  return failure(ErrorCode::outside_folder,
                 fmt::format("{} {} outside the program's folder, {}", path,
                             plain ? "is" : fmt::format("leads to {},", file.string()), home.string()),
                 "keep what the program needs in its folder, or give --allow-outside");
}

static std::string digits_of(const XXH128_hash_t& hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string hash_of(std::string_view text) {
  return digits_of(XXH3_128bits(text.data(), text.size()));
}

std::string hash_of_file(const std::string& path) {
  const auto file = open_input(path, FileKinds::regular);
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  if (!file || !state || file->get() == STDIN_FILENO) {
    return {};
  }
  XXH3_128bits_reset(state.get());
  std::vector<char> block(std::size_t{1} << 20U);
  ssize_t got = 0;
  while ((got = ::read(file->get(), block.data(), block.size())) > 0 || (got < 0 && errno == EINTR)) {
    XXH3_128bits_update(state.get(), block.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
  return got < 0 ? std::string() : digits_of(XXH3_128bits_digest(state.get()));
}

bool keep_file(const std::filesystem::path& path, std::string_view contents) {
  if (path.empty()) {
    return false;
  }
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  auto output = Output::open(path.string());
  return output && output->write(contents) && output->commit();
}

} // namespace tidegate
