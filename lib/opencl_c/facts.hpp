// Effects of a unit's functions, read once, when the unit is parsed (TranslationUnit::facts). Each function inherits
// from its callees. What is opaque may call each function that it names.
#pragma once
#include "opencl_c/translation_unit.hpp"

namespace tidegate::opencl_c {

struct Expr; // tree.hpp

// Needs of a function, its callees included.
struct Needs {
  bool item = false;               // the position of the work-item
  bool whole_group = false;        // all work-items of the group must reach a call
  bool more_than_barriers = false; // such a call is not barrier()
  bool groups = false;             // the work-group: its memory, its number, a position in it
  bool orders_memory =
      false;            // it does more than call what is known to order nothing: others' writes may be seen
  bool floats = false;  // floating-point types
  bool divides = false; // a division, or a built-in function that may be a mathematical one
  std::uint32_t loop_depth = 0;  // nested loops, at most most_loop_depth
  std::uint32_t dimensions = 1;  // the greatest that it asks for by number, from 1
  std::set<std::string> special; // functions of sub-groups and of images that it calls
};

inline constexpr std::uint32_t most_loop_depth = 8;
inline constexpr double iterations_of_a_loop = 4; // a guess for loops without a literal bound

class Facts {
public:
  // Facts of a function, joined over all functions with its name. Tokens are in order.
  struct Own {
    std::vector<std::size_t> functions; // names of functions, of the file and of the language
    std::vector<std::size_t>
        changed;         // variables that are assigned to, also in part, or whose address is taken
    Needs needs;         // also of what it calls
    double accesses = 0; // weighted by loop iterations, as are
    std::map<std::string, double> calls; // of functions of this file
  };

  explicit Facts(const TranslationUnit& unit);

  // Facts of a function that this file defines.
  [[nodiscard]] const Own& own(const std::string& function) const;
  [[nodiscard]] const Needs& needs(const std::string& function) const { return own(function).needs; }

  // True if one of these functions calls it, or any.
  [[nodiscard]] bool is_called(const std::string& function, const std::set<std::string>* by = nullptr) const;

  // Elements of arrays, vectors and images that a work-item reads and writes in the function and its callees.
  // Loops run as often as `for (…; i < 16; …)` says, else iterations_of_a_loop times; all branches are taken;
  // recursion counts once.
  [[nodiscard]] double accesses(const std::string& function) const;

  // The given functions and all that they call, directly or indirectly.
  [[nodiscard]] std::set<std::string> reachable(const std::set<std::string>& from) const;

private:
  class Reader;
  std::map<std::string, Own> functions_;
};

// The opening bracket of the call by this name; the number of tokens if it is used without a call.
std::size_t bracket_of_call(const TranslationUnit& unit, std::size_t name);

// A function that describes the launch and that the kernel may call for its outermost dimension; empty if there is none.
std::string launch_function(const TranslationUnit& unit, const Function& kernel, std::uint32_t outermost);

// A call that names its function, where a function of the file makes it.
struct NamedCall {
  std::size_t token = 0; // the name
  std::string_view name;
  const Function* by = nullptr; // never null
  std::span<const Expr* const> arguments;
};
// The calls of functions with these names, in the order of the source.
std::vector<NamedCall> calls_of(const TranslationUnit& unit, const std::set<std::string_view>& names);

// The names in an expression, with their places.
std::vector<std::pair<std::size_t, std::string_view>> names_in(const TranslationUnit& unit, const Expr& expr);

// True if one of these functions, or one that they call, has this word.
bool mentions(const TranslationUnit& unit, const std::set<std::string>& functions, std::string_view word);

} // namespace tidegate::opencl_c
