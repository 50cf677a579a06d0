// Reads the expressions of a kernel's body by recursive descent. Each returns what is known of its value, so that a subscript
// can be recognised as the global id plus a constant. Statements are read by accesses.cpp.
#pragma once
#include "opencl_c/accesses.hpp"
#include "opencl_c/linear.hpp"
#include "opencl_c/translation_unit.hpp"

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

// By dimension: every id is less.
using IdBounds = std::array<std::int64_t, 3>;
inline constexpr IdBounds no_bounds{std::numeric_limits<std::int64_t>::max(),
                                    std::numeric_limits<std::int64_t>::max(),
                                    std::numeric_limits<std::int64_t>::max()};

inline IdBounds tighter(const IdBounds& a, const IdBounds& b) {
  return {std::min(a[0], b[0]), std::min(a[1], b[1]), std::min(a[2], b[2])};
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
    assignment
  };
  static constexpr std::size_t no_use = ~std::size_t{0};
  Kind kind = Kind::unknown;
  Linear number = {};             // number: its value; moved_pointer: elements added to the parameter
  const Name* variable = nullptr; // number, moved_pointer: the variable that the expression denotes
  std::size_t parameter = 0;      // pointer and what is made of it: the parameter
  std::size_t use = no_use;       // pointer: its token; otherwise index into the parameter's uses
  bool part = false;              // element: a member, or the result of a further subscript
  IdBounds if_true = no_bounds;   // what a condition says of the ids
  IdBounds if_false = no_bounds;
};

// Reads expressions, and types and declarators, which contain them.
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
  ExpressionReader(const TranslationUnit& unit, TokenRange body, bool by_parameter,
                   const KernelSetting* setting);

  // Stops reading: no further token comes.
  void fail() {
    understood_ = false;
    at_ = end_;
  }
  [[nodiscard]] bool next_is(std::string_view text) const { return at_ < end_ && tokens_[at_].text == text; }
  [[nodiscard]] bool next_is_word() const { return at_ < end_ && tokens_[at_].kind == TokenKind::identifier; }
  bool take(std::string_view text) {
    const bool found = next_is(text);
    at_ += found ? 1 : 0;
    return found;
  }
  void expect(std::string_view text) {
    if (!take(text)) {
      fail();
    }
  }

  // Reads what runs if a condition holds, or if it does not. A case label may jump into it.
  template <class Read>
  auto where(const IdBounds& holds, const Read& read) {
    const IdBounds before = bounds_;
    bounds_ = switches_ == 0 ? tighter(bounds_, holds) : bounds_;
    auto result = read();
    bounds_ = before;
    return result;
  }

  // Returns the ranges of the ids at this point of the body.
  [[nodiscard]] IdRanges ids() const;
  void skip_brackets();
  // True at a keyword that starts or qualifies a type, and at the name of a type.
  [[nodiscard]] bool starts_type(std::size_t i) const;
  // Returns true for a type that can hold any id and has no qualifiers but const and private.
  bool specifiers();
  // Returns the token of the name.
  std::size_t declarator();
  Known initializer();
  Known expression();
  Known conditional();
  // Uses the value in a way of which nothing more is known.
  void consume(const Known& value);
  void escape(const Known& value);
  static PointerUse escaping(std::size_t token) {
    return {.kind = Kind::escapes, .token = token, .subscript = {}, .offset = {}};
  }

  static constexpr std::size_t most_depth = 200; // nested statements and expressions

  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  std::size_t at_ = 0;
  const std::size_t end_;
  const KernelSetting* const setting_;
  IdBounds bounds_ = no_bounds; // of the ids where the reader is
  bool specified_int_ = false;  // the last specifiers said int
  bool understood_ = true;
  std::size_t depth_ = 0;
  std::size_t statement_ = 0; // first token of the last expression statement
  std::size_t switches_ = 0;  // around the statement being read
  std::map<const Name*, std::size_t> pointers_;
  std::map<const Name*, Known> values_; // of variables that only their declarations set
  std::set<const Name*> changing_;      // other variables
  std::vector<PointerUses> found_;
  std::vector<Touched> touched_;

private:
  void bounds();
  // Reads from after an opening parenthesis to past the closing one. Returns true for a type that keeps ids.
  bool type_name();
  Known assignment();
  // Precedence climbing: reads operators of at least this rank.
  Known binary(int least_rank);
  Known combined(std::string_view name, const Known& left, const Known& right);
  // A pointer plus elements.
  Known moved(const Known& pointer, const Known& by);
  Known unary();
  Known postfix(Known value);
  void member();
  Known subscripted(Known value);
  Known primary();
  Known named(std::size_t token);
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

  const bool by_parameter_; // the id is one
  IdRanges ids_;
};

} // namespace tidegate::opencl_c
