// The syntax tree of a preprocessed file: types, declarations, statements and typed expressions.
//
//   out[i] = f(in[i]);      expression statement
//                             assignment: subscript (name out, name i), call (name f, subscript (…))
//
// Forms that the parser does not know become opaque, with their tokens: a visitor must take it for anything. Nodes never change
// after parsing; the names in them are resolved, TranslationUnit::meaning() of a node's token is its first declaration.
#pragma once
#include "opencl_c/translation_unit.hpp"

#include <memory_resource>

namespace tidegate::opencl_c {

struct Expr;
struct Decl;
struct Record;

// The value of an integer constant expression (C99 6.6).
struct Constant {
  std::int64_t value = 0;
  bool is_unsigned = false; // its type may be; a negative value has another one
};

// Interned: types are the same if their addresses are.
struct Type {
  enum class Kind : std::uint8_t {
    opaque,
    nothing, // void
    number,  // also bool, size_t and enumerations; without a name where only that much is known
    vector,
    pointer,
    array,
    record, // a structure or a union
    function,
    handle, // images, samplers, events
  };
  Kind kind = Kind::opaque;
  bool is_const = false;
  bool is_volatile = false;
  bool has_attributes = false;             // which may change its layout
  AddressSpace space = AddressSpace::none; // of a variable of this type
  std::string name;                        // of numbers, vectors and handles: "uint", "float4"
  const Type* inner = nullptr;             // pointee, element or result
  const Record* record = nullptr;          // of records and enumerations
  const Expr* extent = nullptr;            // of arrays; null for []

  [[nodiscard]] bool is(Kind wanted) const { return kind == wanted; }
  // Numbers and vectors of them.
  [[nodiscard]] bool is_arithmetic() const { return kind == Kind::number || kind == Kind::vector; }
  friend auto operator<=>(const Type&, const Type&) = default;
};

// The type of the elements of an array of any dimensions, or the type itself.
inline const Type& element_of(const Type& type) {
  return type.is(Type::Kind::array) ? element_of(*type.inner) : type;
}

struct Attributes {
  bool packed = false;
  bool overloadable = false;
  bool other = false;                                        // than packed, aligned and unused
  std::vector<const Expr*> aligned;                          // null without a value
  std::optional<std::array<std::uint64_t, 3>> required_size; // of work-groups, if known

  // True for those that may change a type.
  [[nodiscard]] bool any() const { return packed || other || !aligned.empty(); }
};

// A structure, union or enumeration.
struct Record {
  enum class Kind : std::uint8_t { structure, union_type, enumeration };
  Kind kind = Kind::structure;
  const Decl* tag = nullptr;
  TokenRange body; // between its braces; empty while it is incomplete
  Attributes attributes;
  std::vector<const Decl*> members; // or enumerators
  std::string_view integer; // "int" or "uint" for a complete enumeration whose enumerators are all known
};

// A name that is declared, or an unnamed parameter or member.
struct Decl {
  enum class Kind : std::uint8_t {
    variable,
    function,
    type,
    tag,
    enumerator,
    member
  }; // parameters are variables
  Kind kind = Kind::variable;
  bool is_file_scope = false;
  bool is_bit_field = false;
  bool has_attributes = false;
  std::size_t token = no_token;            // the name
  TokenRange specifiers;                   // shared by all declarators; not set for tags and enumerators
  TokenRange tokens;                       // the declarator with the value; a parameter's with its specifiers
  const Type* type = nullptr;              // never null; opaque for tags
  const Expr* value = nullptr;             // initial value; width of a bit-field
  std::optional<Constant> constant;        // an enumerator's value, if known
  std::span<const Decl* const> parameters; // of a function
};

struct Expr {
  enum class Kind : std::uint8_t {
    opaque,
    number,
    text, // a character or strings
    name,
    call,        // callee, arguments
    subscript,   // array, index
    member,      // object; the token is the member's name, after its dot or arrow
    unary,       // the token is its operator: + - ! ~ * & ++ --
    postfix,     // ++ --
    binary,      // no assignment
    assignment,  // target, value; also += and its kind
    conditional, // condition, two values
    comma,
    cast,     // of a comma for (float4)(a, b, c, d)
    compound, // (struct s){…}: list
    list,     // {…}: values, and indices of [i] = value
    size,     // sizeof and its kind: the expression, none for a type
  };
  Kind kind = Kind::opaque;
  std::uint32_t depth = 1; // of the tree below it
  std::size_t token =
      0; // name, operator or opening bracket; of an opaque one, the first that does not fit, if there is one
  TokenRange tokens;          // brackets around it included
  const Type* type = nullptr; // never null after parsing
  std::span<const Expr* const> operands;
  const Type* measured = nullptr; // the type that a size is of
};

struct Stmt {
  enum class Kind : std::uint8_t {
    opaque,
    nothing,
    expression,
    declaration,
    block,
    if_else,       // condition; then, else
    while_loop,    // condition; body
    do_loop,       // condition; body
    for_loop,      // condition and step, either may be null; first statement, body
    switch_block,  // value; body
    case_label,    // value; statement, if one follows
    default_label, // likewise without a value
    label,
    goto_label,
    return_value, // value, if any
    break_out,
    continue_loop,
  };
  Kind kind = Kind::opaque;
  bool has_attributes = false;
  TokenRange tokens; // without pragmas before it
  std::span<const Expr* const> values;
  std::span<const Stmt* const> parts;
  std::span<const Decl* const> declared;

  [[nodiscard]] bool is_loop() const {
    return kind == Kind::while_loop || kind == Kind::do_loop || kind == Kind::for_loop;
  }
};

struct Tree {
  std::pmr::monotonic_buffer_resource memory; // of all nodes
  std::set<Type> types;
  std::deque<Record> records;
  std::unordered_map<std::size_t, const Expr*> calls; // by the token of the called name, in opaque ones too
  std::vector<const Decl*> file_scope;
};

// Parses a condition of #if, whose tokens those of the unit are.
std::pair<const Expr*, std::size_t> parse_condition(TranslationUnit& unit); // and where it ends

// Evaluates the condition of a directive (C99 6.10.1), with macros and `defined` already replaced; remaining names are 0. The
// result is empty where compilers may differ, or refuse it: clang has 128-bit numbers in OpenCL C, where `true` is 1, others
// have 64 bits. With `assumes_clang`, `true` is 1. Error: kernel_source in the file `path` for what no condition is.
Result<std::optional<bool>> evaluate_condition(std::span<const Token> tokens, const Token& directive,
                                               std::string_view path, bool assumes_clang = false);

// Value of an expression of a declaration: of numbers, enumerators, sizes of arithmetic types and casts to integers. Empty
// if it is not constant or compilers may disagree, for example where a value leaves 32 bits.
std::optional<Constant> constant_in(const TranslationUnit& unit, const Expr& expr);
std::optional<std::int64_t> value_of(const TranslationUnit& unit, const Expr& expr);

// Sets the values of a complete enumeration's enumerators, up to the first that is not known. Returns the enumeration's type
// if all are known, and it has 32 bits: compilers take the first of uint and int that holds every enumerator.
std::string_view evaluate_enumerators(const TranslationUnit& unit, std::span<Decl* const> enumerators);

// Counts the nested calls of a reader.
class Nested : NotCopied {
public:
  explicit Nested(std::size_t& depth) : depth_(++depth) {}
  ~Nested() { --depth_; }

private:
  std::size_t& depth_;
};

// A declared function without its body and attributes.
Function signature(const TranslationUnit& unit, const Decl& function);

// The tag with its keyword, or the typedef of a record without one.
std::string name_of(const TranslationUnit& unit, const Record& record);

// Calls `visit` for each statement below this one, itself first.
template <class Visit>
void each_statement(const Stmt& stmt, const Visit& visit) {
  visit(stmt);
  for (const Stmt* const part : stmt.parts) {
    each_statement(*part, visit);
  }
}

// Calls `visit` for each expression below this one, operands first.
template <class Visit>
void each_expression(const Expr& expr, const Visit& visit) {
  for (const Expr* const operand : expr.operands) {
    each_expression(*operand, visit);
  }
  visit(expr);
}

// The declared name that the expression is; null for any other expression.
inline const Decl* named_by(const TranslationUnit& unit, const Expr& expr) {
  return expr.kind == Expr::Kind::name ? unit.meaning(expr.token) : nullptr;
}

// True for an assignment, ++ and --.
inline bool changes(const TranslationUnit& unit, const Expr& expr) {
  return expr.kind == Expr::Kind::assignment || expr.kind == Expr::Kind::postfix ||
         (expr.kind == Expr::Kind::unary && (unit.is(expr.token, "++") || unit.is(expr.token, "--")));
}

// Calls `visit` for the expressions that the statement itself holds, not those of its parts.
template <class Visit>
void each_value(const Stmt& stmt, const Visit& visit) {
  for (const Expr* const value : stmt.values) {
    if (value != nullptr) {
      visit(*value);
    }
  }
  for (const Decl* const decl : stmt.declared) {
    if (decl->value != nullptr) {
      visit(*decl->value);
    }
  }
}

} // namespace tidegate::opencl_c
