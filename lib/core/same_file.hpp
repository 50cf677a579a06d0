// Which file a path means, however it is spelled: so that nothing is written over what was read, and a folder
// is not left behind its back.
#pragma once

#include <tidegate/core/error.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tidegate {

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

} // namespace tidegate
