// Calls between the functions of a file, and the properties that each function inherits from its callees.
#pragma once
#include "opencl_c/translation_unit.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tidegate::opencl_c {

// Needs of a function, its callees included.
struct Needs {
  bool item = false;               // the position of the work-item
  bool whole_group = false;        // all work-items of the group must reach a call
  bool more_than_barriers = false; // such a call is not barrier()
  bool orders_memory =
      false; // work-items may see what others write meanwhile: not only calls that are known to order nothing
  bool floats = false;          // floating-point types
  std::uint32_t loop_depth = 0; // nested loops, at most most_loop_depth
  bool divides = false;         // a division, or a built-in function that may be a mathematical one
  std::set<std::string> sub_group_functions; // sub-group functions that it calls

  friend bool operator==(const Needs&, const Needs&) = default;
};

inline constexpr std::uint32_t most_loop_depth = 8;
inline constexpr double iterations_of_a_loop = 4; // a guess for loops without a literal bound

class CallGraph {
public:
  // `unit` must outlive the graph.
  explicit CallGraph(const TranslationUnit& unit);

  [[nodiscard]] Needs needs(const std::string& function) const; // of a function defined in this file
  [[nodiscard]] bool is_called(const std::string& function, const std::set<std::string>& by) const;

  // Elements of arrays, vectors and images that a work-item reads and writes in the function and its callees.
  // Loops run as often as `for (…; i < 16; …)` says, else iterations_of_a_loop times; all branches are taken;
  // recursion counts once.
  [[nodiscard]] double accesses(const std::string& function) const;

  // The given functions and all that they call, directly or indirectly.
  [[nodiscard]] std::set<std::string> reachable(const std::set<std::string>& from) const;

private:
  class Reader;
  void look_at(const Function& function);

  const TranslationUnit& unit_;
  std::map<std::string, Needs> needs_;
  // Work of one function without its callees, weighted by loop iterations.
  struct Work {
    double accesses = 0;
    std::map<std::string, double> calls; // of functions of this file
  };
  std::map<std::string, Work> work_;
};

} // namespace tidegate::opencl_c
