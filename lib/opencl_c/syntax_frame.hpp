// What a walk over declarations and statements has open around a token.
#pragma once

#include <tidegate/opencl_c/translation_unit.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tidegate::opencl_c {

struct SyntaxFrame {
  enum class In : std::uint8_t {
    block,        // of statements; the first one is the file
    condition,    // an if statement: its condition is next, or the statement behind it
    loop,         // a for statement, likewise; it is a scope
    do_statement, // the statement behind do
    substatement, // of while, switch and else
    members,
    enumerators,
    brackets,
    expression, // to a semicolon
    case_label, // to a colon
    declaration,
    parameters,
  };
  enum class Part : std::uint8_t { specifiers, declarator, value };

  In in = In::block;
  bool has_scope = false; // to be closed with it
  // Of declarations, parameters and enumerators:
  Part part = Part::specifiers;
  bool is_typedef = false;
  bool is_member = false;
  bool has_type = false;           // a word of the specifiers that names one
  std::size_t open = 0;            // parentheses of the declarator; ? of a case label
  TokenRange specifiers;           // of the declarators that follow
  std::size_t declarator = 0;      // its first token
  std::optional<std::size_t> name; // of the declarator, a token
  bool is_declared = false;        // that name
  std::size_t declared = no_name;  // as this one, unless it was before
};

} // namespace tidegate::opencl_c
