// Knowledge of a kernel's reader: values of expressions, what conditions prove, and the accesses of parameters.
#pragma once
#include "opencl_c/footprint.hpp"
#include "opencl_c/tree.hpp"

namespace tidegate::opencl_c {

// Knowledge that holds in a part of the body: ranges of ids, and of variables that only their declarations set.
struct Bounds {
  Ids ids; // none: no work-item comes there
  std::map<const Decl*, Interval> variables;
  bool exact = false; // the part runs for all these ids
};

Bounds tighter(Bounds a, const Bounds& b);

// Knowledge of the value of an expression.
struct Known {
  enum class Kind : std::uint8_t {
    unknown,
    number,
    pointer, // a parameter, moved by `number` elements
    element, // that it points to
    record,  // a parameter that is a structure
  };
  Kind kind = Kind::unknown;
  std::optional<Linear> number = {};
  const Decl* variable = nullptr; // that the expression denotes
  std::size_t parameter = 0;
  bool part = false;   // a member of a variable or an element
  Bounds if_true = {}; // what holds after a condition
  Bounds if_false = {};

  // The element is accessed as a whole.
  [[nodiscard]] bool is_element() const { return kind == Kind::element && !part; }
};

Known of_number(const std::optional<Linear>& number);
// A number that is kept, with what it says as a condition but of variables, which may have other values then.
Known kept(const std::optional<Linear>& number, const Known& condition);

// The name of an arithmetic type; empty for others.
std::string arithmetic_name(const Type& type);
// True for an integer type that can hold any id.
bool is_wide(std::string_view type);
// All numbers of a type, where they are 32 bits at most.
std::optional<Linear> all_of(std::string_view type);
// The number in a variable of this type; where it is not known, whatever the type holds.
std::optional<Linear> as_type(std::string_view type, const std::optional<Linear>& number, const Ids& ids);

// Returns a comparison of the numbers that two values are, with what it proves if it holds, and if not.
Known compared(std::string_view sign, const Known& left, std::optional<Linear> a, const Known& right,
               std::optional<Linear> b, const Ids& ids);

struct Access {
  Linear element;
  Ids ids;
  std::size_t token = 0;
  bool is_certain = false;
};

// The accesses through a parameter that a footprint has found so far.
struct Use {
  Footprint footprint{.only_accessed = true}; // its obstacle: it may touch any element
  std::vector<Access> accesses;
  std::size_t count = 0; // of accesses, also of those that never run, and of other uses
  bool mixed = false;    // some use is no reduction, or another one
};

// Fills in what follows from the accesses of a parameter.
void sum_up(const std::vector<Access>& accesses, const LaunchSetting& setting, Footprint& footprint);

} // namespace tidegate::opencl_c
