// What a device's compiler predefines, as far as it has been asked: only the compiler itself knows, and what
// it says depends on its options.
//
// preprocess() looks every macro that matters up here, goes on as if what is not known were not defined, and
// leaves the questions behind. Whoever can ask the compiler answers them, and preprocesses again, until there
// are none.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tidegate::opencl_c {

struct PredefinedMacros {
  // By name: all that the macro stands for, macros in it replaced too; its own name for a macro with
  // arguments and for an operator as __has_builtin; nothing for a name that is not defined.
  std::map<std::string, std::optional<std::string>, std::less<>> names;
  // Of #if, with macros that take arguments; nothing for one that the compiler refuses.
  std::map<std::string, std::optional<bool>, std::less<>> conditions;

  // What a preprocess() wanted to know and did not find.
  std::set<std::string, std::less<>> unknown_names;
  std::set<std::string, std::less<>> unknown_conditions;

  [[nodiscard]] bool is_complete() const { return unknown_names.empty() && unknown_conditions.empty(); }
};

// The macros that the OpenCL C specification names.
const std::set<std::string, std::less<>>& standard_macros();

// Whether compilers may predefine it: it is one of the standard's, or its name is reserved to them.
bool may_be_predefined(std::string_view name);

// Whether the name is an operator of the preprocessor, as __has_builtin: it may stand in conditions alone.
bool is_condition_operator(std::string_view name);

} // namespace tidegate::opencl_c
