// Reads a kernel's body: its statements, the expressions in them and the functions that it calls. Each expression returns
// what is known of its value.
#pragma once
#include "opencl_c/constant_expression.hpp"
#include "opencl_c/footprint.hpp"
#include "opencl_c/macros.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"

namespace tidegate::opencl_c {

constexpr std::int64_t most_elements = std::int64_t{1} << 31U; // see Footprint
constexpr std::int64_t most_count = most_elements - 1;

// What holds in a part of the body: ranges of ids, and of variables that only their declarations set.
struct Bounds {
  std::array<Interval, 3> ids;
  std::map<const Name*, Interval> variables;
  bool exact = false; // the part runs for all these ids
};

inline Bounds tighter(Bounds a, const Bounds& b) {
  for (std::size_t d = 0; d < 3; ++d) {
    a.ids[d] = tighter(a.ids[d], b.ids[d]);
  }
  for (const auto& [name, interval] : b.variables) {
    a.variables[name] = tighter(a.variables[name], interval);
  }
  a.exact = a.exact && b.exact;
  return a;
}

// What is known of an expression.
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
  const Name* variable = nullptr; // that the expression denotes
  std::size_t parameter = 0;
  bool plain = false;    // pointer: the parameter by its name
  bool part = false;     // a member of a variable or an element
  bool assigned = false; // the expression assigns a whole element of `parameter`
  Bounds if_true = {};   // what holds after a condition
  Bounds if_false = {};
};

// What has been found of a parameter.
struct Found {
  std::optional<Obstacle> anywhere;
  std::optional<Obstacle> elsewhere; // it may touch elements that do not follow the ids
  std::size_t uses = 0;
  bool mixed = false; // some use is no reduction, or another one
  bool own = true;
  bool assigned_first = false;
  std::optional<Reduction> reduction;
  std::optional<Interval> elements;
  std::optional<Interval> certain;
  std::optional<ElementsById> by_id;
  std::optional<ElementsById> by_fewer_ids; // without those of dimensions of one work-group
  std::optional<RowElements> rows;
  bool in_rows = true;
};

inline Known of_number(const std::optional<Linear>& number) {
  return number ? Known{.kind = Known::Kind::number, .number = number} : Known{};
}

// True for an integer type that can hold any id.
bool is_wide(std::string_view type);

// All numbers of a type, where they are 32 bits at most.
std::optional<Linear> all_of(std::string_view type);

// The name of an arithmetic type; empty for others.
std::string text_of(const Type& type);

class FootprintReader {
public:
  FootprintReader(const TranslationUnit& unit, const Function& kernel, const LaunchSetting& setting,
                  std::vector<Found>& found)
      : unit_(unit), kernel_(kernel), setting_(setting), body_(*kernel.body),
        statements_(unit.tree->body(kernel)), found_(found) {
    for (std::uint32_t d = 0; d < 3; ++d) {
      ids_.begin[d] = setting.begin[d];
      ids_.end[d] = setting.begin[d] + setting.size[d];
    }
    at_call_.exact = true;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      const Parameter& parameter = kernel.parameters[i];
      const Name* const name = name_of(parameter);
      if (parameter.is_pointer) {
        given_[name] = {
            .kind = Known::Kind::pointer, .number = constant_of(0, true), .parameter = i, .plain = true};
        pointers_[name] = given_[name];
        continue;
      }
      types_[name] = parameter.type;
      if (const auto value = setting.values.find(i); value != setting.values.end()) {
        given_[name] = of_number(constant_of(value->second, parameter.type == "int"));
      } else if (parameter.decl->type->is(Type::Kind::record)) {
        given_[name] = {.kind = Known::Kind::record, .parameter = i};
      }
    }
  }

  // Reads a function that the body of `caller` calls.
  FootprintReader(const FootprintReader& caller, const Function& callee, const std::vector<Known>& arguments)
      : unit_(caller.unit_), kernel_(caller.kernel_), setting_(caller.setting_), body_(*callee.body),
        statements_(unit_.tree->body(callee)), found_(caller.found_), ids_(caller.ids_),
        at_call_(caller.bounds_), nesting_(caller.nesting_ + 1) {
    at_call_.exact = caller.is_certain();
    at_call_.variables.clear(); // of another call, if it calls itself
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Parameter& parameter = callee.parameters[i];
      const Known& argument = arguments[i];
      const Name* const name = name_of(parameter);
      if (name == nullptr) {
        continue; // the body cannot use it
      }
      if (argument.kind == Known::Kind::pointer || argument.kind == Known::Kind::record) {
        given_[name] = {.kind = argument.kind, .number = argument.number, .parameter = argument.parameter};
        pointers_[name] = given_[name];
      } else if (const auto number = caller.as_type(parameter.type, caller.number_of(argument));
                 number && !parameter.is_pointer) {
        given_[name] = of_number(number);
      }
      types_[name] = parameter.is_pointer ? "" : parameter.type;
    }
  }
  // Returns why the body is not understood.
  std::optional<Obstacle> run();
  // After run(): returns what is known of the value that the function returns.
  [[nodiscard]] Known result(const Function& callee) const;

private:
  class Deeper { // bounds the recursion
  public:
    explicit Deeper(FootprintReader& reader, std::size_t token) : reader_(reader) {
      if (++reader_.depth_ > most_depth) {
        reader_.fail("it is nested too deeply", token);
      }
    }
    ~Deeper() { --reader_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

  private:
    FootprintReader& reader_;
  };

  // Nothing is known of the body.
  void fail(std::string reason, std::size_t token) {
    failed_ = failed_ ? failed_ : Obstacle{std::move(reason), token};
  }

  // The parameter may be used in any way.
  void lose(std::size_t parameter, const Obstacle& obstacle) {
    Found& found = found_[parameter];
    found.anywhere = found.anywhere ? found.anywhere : obstacle;
    found.mixed = true;
    found.own = found.assigned_first = false;
  }

  // Uses the value in a way of which nothing more is known.
  void consume(const Known& value, std::string_view how = "stored or compared") {
    if (value.kind == Known::Kind::pointer) {
      lose(value.parameter, {fmt::format("the pointer is {}", how), token_});
    }
  }

  // All ids of `bounds_` come here.
  [[nodiscard]] bool is_certain() const { return bounds_.exact && !leaks_; }

  // Reads what runs if a condition holds, or if it does not. A case label may jump into it.
  template <class Read>
  auto where(const Bounds& holds, const Read& read) {
    const Bounds before = bounds_;
    bounds_ = tighter(bounds_, switches_ == 0 ? holds : Bounds());
    auto result = read();
    bounds_ = before;
    return result;
  }

  // Null for a parameter that the body cannot use.
  [[nodiscard]] const Name* name_of(const Parameter& parameter) const {
    return parameter.decl->name == no_name ? nullptr : &unit_.names[parameter.decl->name];
  }

  // Returns the ranges of the ids at this point of the body.
  [[nodiscard]] IdRanges ids() const {
    IdRanges ids = ids_;
    for (std::size_t d = 0; d < 3; ++d) {
      ids.begin[d] = std::max(ids.begin[d], bounds_.ids[d].low);
      ids.end[d] = std::min(ids.end[d], bounds_.ids[d].high + 1);
    }
    return ids;
  }

  // The number in a variable of this type; where it is not known, whatever the type holds.
  [[nodiscard]] std::optional<Linear> as_type(std::string_view type,
                                              const std::optional<Linear>& number) const {
    if (number && is_wide(type)) {
      return converted(*number, type == "int", ids());
    }
    const auto all = all_of(type);
    if (number && all && number->exact) {
      const auto [low, high] = range_of(*number, ids());
      if (low >= all->low && high <= all->high) {
        Linear same = *number;
        same.is_int = true; // in expressions
        return same;
      }
    }
    return all;
  }

  // The number that a value is, also if it is loaded from memory.
  [[nodiscard]] std::optional<Linear> number_of(const Known& value) const {
    return value.kind == Known::Kind::number ? value.number
           : value.kind == Known::Kind::element && !value.part
               ? all_of(kernel_.parameters[value.parameter].type)
               : std::nullopt;
  }

  // --- Statements (footprint_statements.cpp) ---

  void read_body();
  // Returns true if nothing runs after it.
  bool statement(const Stmt& stmt);
  // What comes after it runs where neither branch has left.
  bool if_else(const Stmt& stmt);
  Known condition(const Expr& expr) {
    Known value = read(expr);
    consume(value);
    return value;
  }
  void for_loop(const Stmt& stmt);
  // Returns the variable that ++i, i-- or i += … changes; null for another step.
  [[nodiscard]] const Name* stepped_variable(const Expr& step) const;
  // Called before the condition is read: assumes that the variable stays on one side of its first value. Returns false if
  // that value is not known.
  bool start_count(const Name& variable, const Expr& step);
  // Reads the step, after the condition. If it may overflow, what start_count() has assumed does not hold.
  void count(const Name& variable, const Known& holds, const Expr& step_by);
  // After the loop nothing is known from its early returns: it may not run, or end earlier.
  void loop_body(const Stmt& stmt, Bounds holds);
  void expression_statement(const Expr& expr);
  // Returns the last variable if its value is known.
  const Name* declaration(const Stmt& stmt) {
    const Name* known = nullptr;
    for (const Decl* const decl : stmt.declared) {
      known = decl->is_typedef ? nullptr : declared(*decl);
    }
    return known;
  }
  const Name* declared(const Decl& decl);
  // Returns true if the value is a pointer parameter, moved or not, and the type a pointer to the same type.
  [[nodiscard]] bool is_same_pointer(const Known& value, const Type& type) const {
    if (value.kind != Known::Kind::pointer || !type.is(Type::Kind::pointer)) {
      return false;
    }
    const std::string pointee = text_of(*kernel_.parameters[value.parameter].decl->type->inner);
    return !pointee.empty() && pointee == text_of(*type.inner);
  }
  [[nodiscard]] const std::string& text(std::size_t token) const { return unit_.source.tokens[token].text; }

  // --- Values of expressions (footprint_values.cpp) ---

  Known read(const Expr& expr);
  Known named(const Expr& expr);
  Known assignment(const Expr& expr) {
    const Known left = read(*expr.operands[0]);
    const bool whole = unit_.is(expr.token, "=") && left.kind == Known::Kind::element && !left.part;
    change(left);
    consume(read(*expr.operands[1]));
    return {.parameter = left.parameter, .assigned = whole};
  }
  // The value is assigned to, or its address is taken.
  void change(const Known& value) {
    if (value.kind != Known::Kind::element && value.variable != nullptr) {
      changing_.insert(value.variable);
    }
    consume(value, "changed");
  }
  Known conditional(const Expr& expr);
  Known binary(const Expr& expr);
  Known combined(std::string_view sign, const Known& left, const Known& right);
  // Returns a comparison of numbers with what it proves if it holds, and if not.
  Known compared(std::string_view sign, const Known& left, const Known& right) const;
  // No work-item comes there.
  static void never(Bounds& bounds) { bounds.ids[0] = {0, -1}; }
  // An id plus a known number.
  static bool is_id(const Linear& value) {
    const auto d = value.only();
    return d && value.factors[*d] == 1 && value.at[*d] == Coordinate{.offset = value.at[*d].offset} &&
           value.range == Interval() && value.low == value.high &&
           value.at[*d].offset.low == value.at[*d].offset.high;
  }
  // Adds to `holds` that a number is in a range.
  static void narrow(const Known& subject, const Linear& number, const Interval& range, Bounds& holds);
  Known unary(const Expr& expr);

  // --- Accesses and calls (footprint.cpp) ---

  // What pointer[index] or *pointer denotes, not accessed yet.
  Known element(const Expr& expr);
  // The element is accessed; also by a reduction.
  Known accessed(Known element, std::size_t token, std::optional<Reduction> reduction = {});
  // The ids give one element each.
  static bool is_point(const Linear& number);
  // Returns false if the element determines no ids of dimensions with several work-groups.
  bool join_by_ids(Found& found, bool is_first, const Linear& number, const IdRanges& at) const;
  // The rows that the element is in.
  [[nodiscard]] std::optional<RowElements> rows_of(Linear element, const IdRanges& at) const;
  Known member(const Expr& expr);
  Known called(const Expr& expr);
  Known call(const Function* callee, const std::string& name, std::vector<Known>& arguments);
  // The elements that a built-in function accesses through pointers.
  void access(const std::string& function, const std::vector<Known>& arguments, bool is_statement);
  // The value of a built-in function, if all arguments are numbers.
  Known built_in(const std::string& function, const std::vector<Known>& arguments) const;

  static constexpr std::size_t most_depth = 200; // nested statements and expressions
  static constexpr std::size_t most_calls = 1000;
  static constexpr std::size_t most_nested = 6; // calls

  const TranslationUnit& unit_;
  const Function& kernel_;
  const LaunchSetting& setting_;
  const TokenRange body_; // of it, or of a function that it calls
  const Stmt* const statements_;
  std::vector<Found>& found_; // by parameter of the kernel
  IdRanges ids_;
  Bounds at_call_;
  Bounds bounds_; // what holds where the reader is
  std::optional<Obstacle> failed_;
  std::size_t depth_ = 0;
  std::size_t nesting_ = 0;                  // calls around this body
  std::size_t calls_ = 0;                    // that were followed
  std::size_t switches_ = 0, loops_ = 0;     // around the statement being read
  std::size_t returns_ = 0;                  // that have been read
  bool leaks_ = false;                       // `bounds_` may have ids that returned
  std::size_t token_ = 0;                    // being read
  const Expr* statement_ = nullptr;          // the last that is one
  std::map<const Name*, Known> given_;       // parameters
  std::map<const Name*, Known> values_;      // of variables that only their declarations set
  std::map<const Name*, Known> pointers_;    // variables that are pointers
  std::set<const Name*> changing_;           // other variables
  std::set<const Name*> unset_;              // variables that loops may set, as their declarations do not
  std::map<const Name*, std::string> types_; // of variables
  std::set<std::size_t> seen_;               // names that have been read
  std::vector<std::pair<Known, IdRanges>> results_; // that the function returns
};

} // namespace tidegate::opencl_c
