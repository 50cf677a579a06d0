// Finds variables that kernels may declare in their body and functions may not: those in local and in
// constant memory.
#pragma once
#include "opencl_c/translation_unit.hpp"
#include <tidegate/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tidegate::opencl_c {

struct HoistedName {
  std::string unique; // the name, numbered when the kernel declares several of that name
  std::size_t token = 0;
};

// A declaration, possibly of several names. Its pointers are private and stay in the kernel.
struct HoistedVariable {
  TokenRange declaration;            // without the semicolon
  std::vector<HoistedName> names;    // names that move
  std::vector<TokenRange> moving;    // declarators that move, each with the comma after it
  std::vector<TokenRange> remaining; // declarators of pointers, likewise
};

// A statement that declares only types, which variables that move use.
struct HoistedType {
  TokenRange statement;           // with its semicolon
  std::vector<std::size_t> names; // tokens of its types, tags and enumerators
};

struct LocalVariables {
  std::vector<HoistedVariable> locals;
  std::vector<HoistedVariable> constants;
  std::vector<HoistedType> types; // in source order
  std::set<std::size_t> inlined;  // tokens of constant variables replaced by their values
};

// Error: unsupported_kernel for a declaration that needs more of the kernel than its types, enumerators and
// constants.
Result<LocalVariables> find_local_variables(const TranslationUnit& unit, const Function& kernel);

// Upper bound on the bytes of the variables in local memory; empty if a type or bound is not known.
std::optional<std::uint64_t> local_bytes(const TranslationUnit& unit, const LocalVariables& variables);

// The tokens of VALUE in "const TYPE NAME = VALUE"; empty without one.
TokenRange value_of(const TranslationUnit& unit, const Name& name);

} // namespace tidegate::opencl_c
