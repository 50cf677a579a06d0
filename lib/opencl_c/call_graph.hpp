// Which function of a file calls which, and what follows for each from what it calls.
#pragma once
#include "opencl_c/translation_unit.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tidegate::opencl_c {

// What a function asks for, itself or through others.
struct Needs {
  bool item = false;               // where the work-item is
  bool whole_group = false;        // that all work-items of the group come along
  bool more_than_barriers = false; // for something else than barrier()
  bool floats = false;             // floating-point types
  std::uint32_t loop_depth = 0;    // loops inside of each other, most_loop_depth at most
  bool divides = false;            // a division, or a built-in function that may be one of mathematics
  std::set<std::string> sub_group_functions; // that it calls

  friend bool operator==(const Needs&, const Needs&) = default;
};

inline constexpr std::uint32_t most_loop_depth = 8;
inline constexpr double iterations_of_a_loop = 4; // a guess, where none is said

class CallGraph {
public:
  // `unit` outlives it.
  explicit CallGraph(const TranslationUnit& unit);

  [[nodiscard]] Needs needs(const std::string& function) const; // of a function that is defined here
  [[nodiscard]] bool is_called(const std::string& function, const std::set<std::string>& by) const;

  // Elements of arrays, vectors and images that a work-item reads and writes in the function and in what that
  // calls: loops as long as `for (…; i < 16; …)` says or iterations_of_a_loop, branches all taken, recursion
  // once.
  [[nodiscard]] double accesses(const std::string& function) const;

  // These functions and all that they call, directly or not.
  [[nodiscard]] std::set<std::string> reachable(const std::set<std::string>& from) const;

private:
  void look_at(const Function& function);
  [[nodiscard]] bool is_floating(const std::string& word) const;

  const TranslationUnit& unit_;
  std::map<std::string, Needs> needs_;
  std::map<std::string, std::set<std::string>> calls_; // functions of this file

  // How often a function does something, by loops.
  struct Work {
    double accesses = 0;
    std::map<std::string, double> calls;
  };
  std::map<std::string, Work> work_;
};

// Whether token `i` is the name of a function that is called.
bool is_call(const std::vector<Token>& tokens, std::size_t i);

// Whether it is the name of a member, behind a dot or an arrow.
bool is_member(const std::vector<Token>& tokens, std::size_t i);

} // namespace tidegate::opencl_c
