// Reads the expressions of a kernel's body. Each returns what is known of its value, so that a subscript can be recognised
// as the global id plus a constant. Statements are read by accesses.cpp.
#pragma once
#include "opencl_c/accesses.hpp"
#include "opencl_c/constant_expression.hpp"
#include "opencl_c/linear.hpp"
#include "opencl_c/tree.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::opencl_c {

// Least and greatest number.
struct Interval {
  std::int64_t low = -(std::int64_t{1} << 62U);
  std::int64_t high = std::int64_t{1} << 62U;
};

inline Interval tighter(const Interval& a, const Interval& b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

// Ranges that a condition gives ids, and variables that only their declarations set.
struct Bounds {
  std::array<Interval, 3> ids;
  std::map<const Name*, Interval> variables;
};

inline Bounds tighter(Bounds a, const Bounds& b) {
  for (std::size_t d = 0; d < 3; ++d) {
    a.ids[d] = tighter(a.ids[d], b.ids[d]);
  }
  for (const auto& [name, interval] : b.variables) {
    a.variables[name] = tighter(a.variables[name], interval);
  }
  return a;
}

// Abstract value of an expression.
struct Known {
  enum class Kind : std::uint8_t {
    unknown,
    number,
    pointer,
    moved_pointer,
    element,
    moved_element,
    address,
    assignment,
    vector, // of numbers in a range
    image,
    inside // the address of a variable or of an element of an array
  };
  static constexpr std::size_t no_use = ~std::size_t{0};
  Kind kind = Kind::unknown;
  Linear number = {};             // number, vector: its value; moved_pointer: elements added to the parameter
  const Name* variable = nullptr; // the variable that the expression denotes
  std::size_t parameter = 0;      // pointer and what is made of it, image: the parameter
  std::size_t use = no_use;       // pointer: its token; otherwise index into the parameter's uses
  bool part = false;              // element: a member, or the result of a further subscript
  Bounds if_true = {};            // what holds after a condition
  Bounds if_false = {};
};

class ExpressionReader {
protected:
  using Kind = PointerUse::Kind;

  struct Touched {
    RowElements rows;
    bool in_rows = true;    // `rows` has every element that it touches
    bool anywhere = false;  // it may touch any element
    bool exact = true;      // no sum of an index leaves 32 bits, so that wider sums of it hold, too
    std::int64_t first = 0; // the least and the greatest element that are known
    std::int64_t last = -1;
  };

  class Deeper { // bounds the recursion
  public:
    explicit Deeper(ExpressionReader& reader) : reader_(reader) {
      if (++reader_.depth_ > most_depth) {
        reader_.fail();
      }
    }
    ~Deeper() { --reader_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

  private:
    ExpressionReader& reader_;
  };

  // With `setting`, launches and values of parameters are known.
  ExpressionReader(const TranslationUnit& unit, const KernelSetting* setting);
  virtual ~ExpressionReader() = default;
  ExpressionReader(const ExpressionReader&) = delete;
  ExpressionReader& operator=(const ExpressionReader&) = delete;

  // Nothing is known of the body.
  void fail() { understood_ = false; }

  // Reads what runs if a condition holds, or if it does not. A case label may jump into it.
  template <class Read>
  auto where(const Bounds& holds, const Read& read) {
    const Bounds before = bounds_;
    bounds_ = switches_ == 0 ? tighter(bounds_, holds) : bounds_;
    auto result = read();
    bounds_ = before;
    return result;
  }

  // Returns the ranges of the ids at this point of the body.
  [[nodiscard]] IdRanges ids() const;
  Known read(const Expr& expr);
  // The name of an arithmetic type that numbers may have here; empty for others.
  static std::string text_of(const Type& type);
  static bool holds_pointers(const Type& type);
  // True for an integer type that can hold any id.
  static bool is_wide(std::string_view type);
  // The number in a variable of this type; where it is not known, whatever the type holds.
  [[nodiscard]] std::optional<Linear> as_type(std::string_view type,
                                              const std::optional<Linear>& number) const;
  // The number that a value is, also if it is loaded from memory.
  [[nodiscard]] std::optional<Linear> number_of(const Known& value) const;
  // Calls a function of the file.
  virtual Known call(const Function* callee, const std::vector<Known>& arguments) = 0;
  // True where the setting is that of one launch as a whole.
  [[nodiscard]] bool is_whole() const { return setting_ != nullptr && setting_->is_whole; }
  // Uses the value in a way of which nothing more is known.
  void consume(const Known& value);
  void escape(const Known& value);
  static PointerUse escaping(std::size_t token) {
    return {.kind = Kind::escapes, .token = token, .subscript = {}, .offset = {}};
  }

  static constexpr std::size_t most_depth = 200; // nested statements and expressions

  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  const KernelSetting* const setting_;
  Bounds bounds_; // what holds where the reader is
  bool understood_ = true;
  bool others_known_ = true; // all other accesses than those of parameters are to elements of arrays
  std::size_t depth_ = 0;
  const Expr* statement_ = nullptr; // the last that is one
  std::size_t switches_ = 0;        // around the statement being read
  std::map<const Name*, std::size_t> pointers_;
  std::map<const Name*, Known> values_;       // of variables that only their declarations set
  std::set<const Name*> changing_;            // other variables
  std::set<const Name*> unset_;               // variables that loops may set, as their declarations do not
  std::map<const Name*, std::string> types_;  // of variables
  std::map<const Name*, std::size_t> images_; // parameters
  std::set<const Name*> samplers_;            // parameters
  std::vector<std::string> pointees_;         // type by parameter
  std::vector<PointerUses> found_;
  std::vector<Touched> touched_;

private:
  // Returns a comparison of numbers with what it proves if it holds, and if not.
  [[nodiscard]] Known compared(std::string_view name, const Known& left, const Known& right) const;
  // Adds to `holds` that a number is in a range.
  void narrow(const Known& subject, const Linear& number, const Interval& range, Bounds& holds) const;
  Known combined(std::string_view name, const Known& left, const Known& right);
  // A pointer plus elements.
  Known moved(const Known& pointer, const Known& by);
  Known unary(const Expr& expr);
  Known binary(const Expr& expr);
  Known assignment(const Expr& expr);
  Known conditional(const Expr& expr);
  // (int4)(a, b, c, d): only integers are known.
  Known vector_of(const Expr& expr);
  Known member(const Expr& expr);
  Known subscripted(const Expr& expr);
  Known named(const Expr& expr);
  Known called(const Expr& expr);
  // Returns the extents of an array that the body or the file declares, 0 where one is not known; none for other names.
  [[nodiscard]] std::vector<std::int64_t> extents_of(const Name& array);
  // Reads subscripts of an array that the body or the file declares; returns false for any other expression.
  bool element_of_array(const Expr& expr);
  // Notes the elements that a built-in function accesses through pointers, or in an image.
  void access(const std::string& function, const std::vector<Known>& arguments);
  void touch_image(const std::string& function, const std::vector<Known>& arguments);
  // The value of a built-in function, if all arguments are numbers.
  Known built_in(const std::string& function, const std::vector<Known>& arguments) const;
  // An access to the element with this subscript after the pointer, or to any element.
  void touch(const Known& pointer, const std::optional<Linear>& subscript);
  // Returns false where the element is none of a known row.
  bool add_rows(RowElements& rows, Linear element, IdRanges at) const;
  std::size_t add_use(std::size_t parameter, const PointerUse& use);
  // The argument has been used just now.
  void reduce(const Known& argument, Reduction reduction);
  void change(const Known& value);
  void update(const Known& value);

  IdRanges ids_;
  std::optional<ConstantValues> constants_;
  const Expr* array_ = nullptr; // whose subscript is being read
};

} // namespace tidegate::opencl_c
