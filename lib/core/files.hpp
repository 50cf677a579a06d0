// Reading inputs and writing outputs: whole documents in, and out either to standard output or to a file that
// appears complete or not at all.
#pragma once
#include <tidegate/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate {

inline constexpr std::string_view standard_stream = "-"; // as a path: standard input or output

// How messages call an input: the path, or "standard input".
std::string display_name(std::string_view path);

// An open file descriptor; closed at the end unless it is a standard stream.
class Descriptor {
public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  [[nodiscard]] int get() const { return fd_; }

private:
  int fd_;
};

// What may stand for a file. Who opens a named pipe waits until another process does, so that documents alone
// may come from one; what is read more than once has to be regular.
enum class FileKinds : std::uint8_t { regular, no_named_pipes, any };

// Opens a file for reading, or standard input for "-". cannot_read, also for a directory, and for what is of
// another kind: at once.
Result<Descriptor> open_input(const std::string& path, FileKinds kinds = FileKinds::no_named_pipes);

// Reads everything. cannot_read or, past `most` bytes, input_too_large.
Result<std::string> read_all(const std::string& path, std::size_t most,
                             FileKinds kinds = FileKinds::no_named_pipes);

// The file that is written as `path`: links followed, its folder without detours. cannot_write where there is
// no such folder.
Result<std::string> written_path(const std::string& path);

// Where an answer goes. A regular file is written under another name in the same folder and takes its place
// in commit(), with the permissions of the file it replaces; without commit() nothing is left behind, also
// not after an interrupt. Anything else (standard output, a device, a named pipe) is written directly.
class Output {
public:
  // cannot_write when the file cannot be created, is of another kind, or is a named pipe that no process
  // reads.
  static Result<Output> open(const std::string& path, FileKinds kinds = FileKinds::any);

  Output(Output&&) noexcept;
  Output& operator=(Output&&) noexcept;
  ~Output();

  // cannot_write, or nothing once the reader of a pipe has gone: see closed().
  Result<void> write(std::string_view text);

  // True when the other end of the pipe is closed; what is written then is dropped.
  [[nodiscard]] bool closed() const;

  // The descriptor that is written to.
  [[nodiscard]] int descriptor() const;

  // Makes the file appear. cannot_write.
  Result<void> commit();

private:
  struct State;
  explicit Output(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// What the system says about an errno code.
std::string system_message(int code);

// From now on a closed pipe is an error of write() instead of a signal, and standard streams that are closed
// stay unusable instead of becoming the next file that is opened. Call once, first thing in main().
void prepare_process();

// Which file a path means, however it is spelled: so that nothing is written over what was read, and a folder
// is not left behind its back.

// The path without ".", ".." and links, as far as there are folders and files; a link to a file that does not
// exist yet leads to where that file would be.
std::filesystem::path canonical_path(const std::string& path);

// Whether `path` lies in `folder` or below; both canonical.
bool lies_inside(const std::filesystem::path& path, const std::filesystem::path& folder);

// A file that is read or written.
struct NamedFile {
  std::string path;
  std::string role;                   // "the program", "the output of buffer \"x\"", "-o"
  std::optional<std::string> pointer; // where the document names it; nothing for the command line
};

struct FileUses {
  std::vector<NamedFile> inputs;
  std::vector<NamedFile> outputs;
};

// Refuses outputs that are the same file as an input or an earlier output: by device and inode, so also
// through links of both kinds, or by those of the folder and the name where there is no file yet. Standard
// streams, devices and pipes cannot be overwritten. invalid_program for a path in a document, invalid_usage
// for the command line; cannot_write for a folder that does not exist.
Result<void> refuse_overwriting(const FileUses& files);

// Where the tool keeps what it would otherwise have to work out again.

// "tidegate" under XDG_CACHE_HOME, or under .cache in the home folder; empty when the environment names
// neither.
std::filesystem::path cache_folder();

} // namespace tidegate
