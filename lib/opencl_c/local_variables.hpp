// Variables that a kernel declares in its body and that functions may not: in local and in constant memory.
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
  std::string name;
  std::string unique; // the same, or with a number when the kernel declares several of that name
  std::size_t token = 0;
};

// One declaration, which may declare several names. Pointers among them are private and stay where they are.
struct HoistedVariable {
  TokenRange declaration;            // without the semicolon
  std::vector<HoistedName> names;    // what moves
  std::vector<TokenRange> moving;    // its declarators, each with the comma behind it
  std::vector<TokenRange> remaining; // those of pointers, likewise
};

// A statement that declares types alone, which variables that move are made of.
struct HoistedType {
  TokenRange statement;           // with its semicolon
  std::vector<std::size_t> names; // tokens of its types, tags and enumerators
};

struct LocalVariables {
  std::vector<HoistedVariable> locals;
  std::vector<HoistedVariable> constants;
  std::vector<HoistedType> types; // in their order
  std::set<std::size_t> inlined;  // tokens of constant variables whose value stands for them
};

// unsupported_kernel for a declaration that needs something else of the kernel than its types, enumerators
// and constants.
Result<LocalVariables> find_local_variables(const TranslationUnit& unit, const Function& kernel);

// Bytes that the variables in local memory take together, at most; nothing where types or bounds are not
// plain.
std::optional<std::uint64_t> local_bytes(const TranslationUnit& unit, const LocalVariables& variables);

// The value of "const TYPE NAME = VALUE", or nothing.
TokenRange value_of(const TranslationUnit& unit, const Name& name);

} // namespace tidegate::opencl_c
