// Reads whole input files, and writes output to standard output or to a file that appears complete or not at
// all.
#pragma once
#include "core/prelude.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate {

inline constexpr std::string_view standard_stream = "-"; // as a path: standard input or output

std::string display_name(std::string_view path);

// An open file descriptor, which its last copy closes unless it is a standard stream.
class Descriptor {
public:
  explicit Descriptor(int fd);

  [[nodiscard]] int get() const { return *fd_; }

private:
  std::shared_ptr<const int> fd_;
};

// File types that a path may name. Opening a named pipe blocks until another process opens it, so only
// documents may come from one; input that is read more than once must be a regular file.
enum class FileKinds : std::uint8_t { regular, no_named_pipes, any };

// Opens a file, or standard input for "-". Errors: cannot_read, immediately for a folder or a file type that
// `kinds` excludes.
Result<Descriptor> open_input(const std::string& path, FileKinds kinds = FileKinds::no_named_pipes);

// Reads the whole file. Errors: cannot_read; input_too_large for more than `most` bytes.
Result<std::string> read_all(const std::string& path, std::size_t most,
                             FileKinds kinds = FileKinds::no_named_pipes);

// Returns the file that writing to `path` replaces: links resolved, folder canonical. Errors: cannot_write if
// the folder does not exist.
Result<std::string> written_path(const std::string& path);

// The destination of an answer. A regular file has no name, or a temporary one in the same folder where the file system
// knows no such files, and then an interrupt waits for its end; commit() gives it its name and the permissions of the file
// it replaces. Without commit() nothing remains. Anything else (standard output, a device, a named pipe) is written directly.
class Output {
public:
  // Errors: cannot_write if the file cannot be created, has a type that `kinds` excludes, or is a named pipe
  // without a reader.
  static Result<Output> open(const std::string& path, FileKinds kinds = FileKinds::any);

  // Errors: cannot_write; but writing to a pipe without a reader succeeds, see closed().
  Result<void> write(std::string_view text);

  // Returns true if the reader of the pipe has closed it; further output is dropped.
  [[nodiscard]] bool closed() const { return closed_; }

  [[nodiscard]] int descriptor() const { return file_.get(); }

  // Makes the file appear under its name. Errors: cannot_write.
  Result<void> commit();

private:
  Output(std::string path, int file) : path_(std::move(path)), file_(file) {}
  void name_for_now();

  std::string path_;       // as given
  std::string final_path_; // empty for what is written directly, and after commit()
  Descriptor file_;
  std::string temporary_;               // a name on the way to that
  std::shared_ptr<void> has_temporary_; // removes that name
  bool closed_ = false;
};

// Decides whether commit() waits until the data are on the disk (true at first), which takes milliseconds. Without it a
// file under its name is complete for all processes, but a crash of the system may leave it empty.
void flush_outputs(bool flush);

// Turns a closed pipe and a file beyond the limit of ulimit -f into errors of write() instead of signals, and keeps
// closed standard streams from becoming the next opened file. Call once, first in main().
void prepare_process();

// Identifies files by canonical paths, so that no input is overwritten and no file escapes its folder.
// Removes ".", ".." and links as far as folders and files exist; a link to a missing file resolves to that
// file's path.
std::filesystem::path canonical_path(const std::string& path);

// Resolves a path of a program document against its folder; an empty one stays empty. Never returns "-", which
// means a standard stream.
std::string path_in(const std::string& folder, const std::string& file);

// Names the contents of a regular file by its size, its times and where it is on the disk; empty for other files, and
// for one that has changed within the last `settled_ns`: clocks of file systems tick, so it may change again without a
// trace.
std::string file_state(const std::string& path, std::uint64_t settled_ns = 20'000'000);

// Folders that the paths of a program may lead to.
enum class PathScope : std::uint8_t { folder, anywhere };

// Error: outside_folder for a path out of the scope; `folder` is the program's.
Result<void> check_scope(const std::string& path, const std::string& folder, PathScope scope);

// A file that a program reads or writes.
struct NamedFile {
  std::string path;
  std::string role;                   // "the program", "the output of buffer \"x\"", "-o"
  std::optional<std::string> pointer; // the document's location that names it; absent for the command line
};

struct FileUses {
  std::vector<NamedFile> inputs;
  std::vector<NamedFile> outputs;
};

// Refuses outputs that are the same file as an input or an earlier output, also through hard and symbolic
// links: compares device and inode, or for a missing file those of its folder and the name. Ignores empty
// paths, standard streams, devices and pipes, which cannot be overwritten; but a standard stream cannot be two of them. Errors: invalid_program for a path in a document,
// invalid_usage for the command line; cannot_write for a missing folder.
Result<void> refuse_overwriting(const FileUses& files);

// The folder of kept results: "tidegate" in XDG_CACHE_HOME, or in .cache of the home folder; empty if the
// environment sets neither.
std::filesystem::path cache_folder();

// Files that later runs reuse. Their names contain a hash of all that they depend on. If one is missing, a run repeats
// the work.

// Returns 32 hexadecimal digits: a hash of 128 bits.
std::string hash_of(std::string_view text);

// Returns such a hash of a regular file's contents; empty for other files, and for one that cannot be read.
std::string hash_of_file(const std::string& path);

// Writes a file, which appears complete or not at all, and its folder. Returns false if either cannot be written, or if
// the path is empty.
bool keep_file(const std::filesystem::path& path, std::string_view contents);

} // namespace tidegate
