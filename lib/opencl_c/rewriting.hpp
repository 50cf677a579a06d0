// The parts that outline() is made of: edits of tokens, pointers that move from constant to global memory, and
// variables that leave their kernel.
#pragma once
#include "opencl_c/translation_unit.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::opencl_c {

// Text that replaces or surrounds a token.
struct Edit {
  std::string before;
  bool replaced = false;
  std::string text; // if replaced
  std::string after;

  void replace(std::string by) {
    replaced = true;
    text = std::move(by);
  }
};
using Edits = std::map<std::size_t, Edit>; // by token

class TokenWriter {
public:
  TokenWriter(const TranslationUnit& unit, std::string& out) : unit_(unit), out_(out) {}

  // Writes each token on its original line, so that compilers report the user's file and line.
  void write(TokenRange range, const Edits& edits);

  // Writes generated text on the current line.
  void text(std::string_view text);

private:
  void go_to(const Token& token);

  const TranslationUnit& unit_;
  std::string& out_;
  bool started_ = false;
  std::uint32_t file_ = 0;
  std::uint32_t line_ = 0;
};

// Lets work-items outside of the virtual work-group idle in a kernel whose work-items meet. Adds edits to those of an
// outlined kernel and returns true if its body allows it; otherwise the edits are of no use.
bool let_items_idle(const TranslationUnit& unit, const Function& kernel, Edits& edits);

// The arguments of an outlined kernel are in global memory, so pointers move there from constant memory.

inline bool is_constant_pointer(const Parameter& parameter) {
  return parameter.is_pointer && parameter.space == AddressSpace::constant;
}

struct MovedConstants {
  std::set<std::size_t> words;     // tokens `constant` of types of pointers
  std::set<std::size_t> obstacles; // tokens where an address of what stays in constant memory may be used
};
MovedConstants constants_to_global(const TranslationUnit& unit);

// Kernels may declare variables in local and in constant memory, and functions may not: these variables move.

struct HoistedName {
  std::string unique; // the name, numbered when the kernel declares several of that name
  std::size_t token = 0;
  TokenRange declarator; // with the comma after it
};

// A declaration, possibly of several names. Its pointers are private and stay in the kernel.
struct HoistedVariable {
  TokenRange declaration;            // without the semicolon
  std::vector<HoistedName> names;    // names that move
  std::vector<TokenRange> remaining; // declarators of pointers, each with the comma after it
  std::vector<std::pair<TokenRange, std::int64_t>> extents; // of arrays, with their values
};

struct LocalVariables {
  std::vector<HoistedVariable> locals;
  std::vector<HoistedVariable> constants;
};

// Error: unsupported_kernel for a declaration that needs more of the kernel than constants for the extents of arrays.
Result<LocalVariables> find_local_variables(const TranslationUnit& unit, const Function& kernel);

// Upper bound on the bytes of the variables in local memory; empty if a type or bound is not known.
std::optional<std::uint64_t> local_bytes(const TranslationUnit& unit, const LocalVariables& variables);

} // namespace tidegate::opencl_c
