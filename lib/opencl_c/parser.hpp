// One recursive descent over a file, or over the condition of a directive. It resolves names by the scopes of C (C99 6.2.1 to
// 6.2.3) as it reads, so that it knows a type from a value. A construct that it does not know becomes opaque up to the end of its
// brackets or statement; the names in there are still looked up. So does what is nested deeper than compilers read.
#pragma once
#include "opencl_c/constant_expression.hpp"
#include "opencl_c/macros.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::opencl_c {

// Nested scopes, the file's outermost. Names are indices into TranslationUnit::names.
class Scopes {
public:
  using Closed = std::vector<std::pair<std::string, std::size_t>>;

  void open() { opened_.emplace_back(); }

  // Returns the names of the scope.
  Closed close() {
    Closed closed;
    for (const std::string& key : opened_.back()) {
      closed.emplace_back(key, visible_[key].back().name);
      visible_[key].pop_back();
    }
    opened_.pop_back();
    return closed;
  }

  [[nodiscard]] bool is_file_scope() const { return opened_.empty(); }

  void declare(const std::string& key, std::size_t name) {
    visible_[key].push_back({.name = name, .depth = opened_.size()});
    if (!opened_.empty()) {
      opened_.back().push_back(key);
    }
  }

  // The visible name of this key, or no_name.
  [[nodiscard]] std::size_t find(const std::string& key) const {
    const Entry* const entry = innermost(key);
    return entry == nullptr ? no_name : entry->name;
  }

  // The name of this key in the innermost scope itself, or no_name.
  [[nodiscard]] std::size_t find_innermost(const std::string& key) const {
    const Entry* const entry = innermost(key);
    return entry == nullptr || entry->depth != opened_.size() ? no_name : entry->name;
  }

private:
  struct Entry {
    std::size_t name = no_name;
    std::size_t depth = 0;
  };

  [[nodiscard]] const Entry* innermost(const std::string& key) const {
    const auto found = visible_.find(key);
    return found == visible_.end() || found->second.empty() ? nullptr : &found->second.back();
  }

  std::unordered_map<std::string, std::vector<Entry>> visible_; // innermost last
  std::vector<std::vector<std::string>> opened_;                // keys declared by each open scope
};

class TreeParser {
public:
  explicit TreeParser(TranslationUnit& unit, bool is_condition = false)
      : unit_(unit), tokens_(unit.source.tokens), is_condition_(is_condition) {
    unit.meanings.assign(tokens_.size(), no_name);
    opaque_ = type({});
    number_ = type({.kind = Type::Kind::number});
  }

  Result<void> run();
  Condition condition();

private:
  using Kind = Expr::Kind;

  // --- Tokens ---

  [[nodiscard]] bool ended() const { return at_ >= tokens_.size(); }
  [[nodiscard]] bool is(std::string_view text) const { return unit_.is(at_, text); }
  [[nodiscard]] bool is(std::size_t i, std::string_view text) const { return unit_.is(i, text); }
  [[nodiscard]] bool is_word(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == TokenKind::identifier;
  }
  [[nodiscard]] bool is_attribute(std::size_t i) const {
    return is_word(i) && opencl_c::is_attribute(tokens_[i].text);
  }
  [[nodiscard]] bool closes() const { return ended() || tokens_[at_].closes(); }
  [[nodiscard]] const std::string& text() const { return tokens_[at_].text; }

  void skip_pragmas() {
    while (!ended() && tokens_[at_].kind == TokenKind::pragma) {
      ++at_;
    }
  }

  std::size_t advance() {
    last_ = at_++;
    skip_pragmas();
    return last_;
  }

  bool take(std::string_view wanted) {
    const bool found = is(wanted);
    if (found) {
      advance();
    }
    return found;
  }

  void jump(std::size_t to) {
    at_ = to;
    last_ = to - 1;
    skip_pragmas();
  }

  [[nodiscard]] TokenRange since(std::size_t begin) const {
    return {.begin = begin, .end = std::max(begin, last_ + 1)};
  }

  // The first error ends the parsing.
  void refuse(std::size_t token, ErrorCode code, std::string message, std::string fix) {
    error_ = error_ ? error_ : error_at(unit_, token, code, std::move(message), std::move(fix));
  }

  // Passes a token of which nothing is known but what it names.
  void look_up() {
    if (!scopes_.is_file_scope() && (is("static") || is("extern"))) {
      refuse_shared(at_);
    }
    if (is_word(at_) && !unit_.is_member(at_)) {
      const bool is_tag = at_ > 0 && (is(at_ - 1, "struct") || is(at_ - 1, "union") || is(at_ - 1, "enum"));
      unit_.meanings[at_] = scopes_.find(is_tag ? "struct " + text() : text());
    }
    advance();
  }

  // Passes all up to the bracket. Returns false if there was anything.
  bool skip_to(std::size_t close) {
    const bool there = at_ >= close;
    stuck_ = there ? stuck_ : std::min(stuck_, at_);
    while (at_ < close && !ended()) {
      look_up();
    }
    return there;
  }

  // Passes the bracket that is next and all in it.
  void look_up_brackets() {
    const std::size_t close = unit_.counterpart(at_);
    while (at_ <= close && !ended()) {
      look_up();
    }
  }

  // Passes tokens up to one of these characters outside of brackets, or the end of the brackets around.
  void look_up_until(std::string_view stops) {
    while (!closes() && !(text().size() == 1 && stops.find(text()[0]) != std::string_view::npos)) {
      if (tokens_[at_].opens()) {
        look_up_brackets();
      } else {
        look_up();
      }
    }
  }

  class Deeper {
  public:
    explicit Deeper(TreeParser& parser) : parser_(parser) { ++parser_.depth_; }
    ~Deeper() { --parser_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

  private:
    TreeParser& parser_;
  };
  static constexpr std::size_t most_depth = 256;        // of brackets and statements, as in clang
  static constexpr std::uint32_t most_operators = 2000; // one in another: visitors recurse
  bool too_deep() {
    too_deep_ |= depth_ > most_depth;
    return depth_ > most_depth;
  }

  // --- Nodes ---

  template <class T>
  T* make(const T& node) {
    return ::new (tree_->memory.allocate(sizeof(T), alignof(T))) T(node);
  }

  template <class T>
  std::span<const T> kept(const std::vector<T>& list) {
    if (list.empty()) {
      return {};
    }
    T* const memory = std::pmr::polymorphic_allocator<T>(&tree_->memory).allocate(list.size());
    std::uninitialized_copy(list.begin(), list.end(), memory);
    return {memory, list.size()};
  }

  const Type* type(const Type& wanted) { return &*tree_->types.insert(wanted).first; }

  const Type* pointer_to(const Type* inner) { return type({.kind = Type::Kind::pointer, .inner = inner}); }

  // The type with more qualifiers; those of an array are its elements'.
  const Type* qualified(const Type* of, bool is_const, bool is_volatile, AddressSpace space) {
    Type more = *of;
    if (more.is(Type::Kind::array)) {
      more.inner = qualified(more.inner, is_const, is_volatile, space);
    } else if (!more.is(Type::Kind::function)) {
      more.is_const |= is_const || space == AddressSpace::constant;
      more.is_volatile |= is_volatile;
      more.space = space == AddressSpace::none ? more.space : space;
    }
    return more == *of ? of : type(more);
  }

  // A type of which only the qualifiers are known.
  const Type* opaque_like(const Type* of) {
    while (of->is(Type::Kind::array)) {
      of = of->inner;
    }
    return type({.is_const = of->is_const, .is_volatile = of->is_volatile, .space = of->space});
  }

  const Type* attributed(const Type* of) {
    Type more = *of;
    more.has_attributes = true;
    return type(more);
  }

  Expr* opaque(std::size_t begin) {
    stuck_ = std::min(stuck_, at_);
    return make(Expr{.token = begin, .tokens = since(begin), .type = opaque_, .operands = {}});
  }

  // Takes the rest of the brackets or the statement for opaque.
  Expr* opaque_rest(std::size_t begin) {
    stuck_ = std::min(stuck_, at_);
    look_up_until(";");
    return opaque(begin);
  }

  // The expression if it ends at one of these characters or a bracket; otherwise all up to there is opaque.
  const Expr* whole(const Expr* value, std::string_view stops) {
    const std::size_t end = at_;
    look_up_until(stops);
    return at_ == end ? value : opaque(value->tokens.begin);
  }

  Expr* node(Kind kind, std::size_t begin, std::size_t token, const Type* of,
             const std::vector<const Expr*>& operands) {
    std::uint32_t depth = 0;
    for (const Expr* const operand : operands) {
      depth = std::max(depth, operand->depth);
    }
    if (depth >= most_operators) {
      too_deep_ = true;
      return opaque(begin);
    }
    return make(Expr{.kind = kind,
                     .depth = depth + 1,
                     .token = token,
                     .tokens = since(begin),
                     .type = of,
                     .operands = kept(operands)});
  }

  Stmt* statement_node(Stmt::Kind kind, std::size_t begin, const std::vector<const Expr*>& values = {},
                       const std::vector<const Stmt*>& parts = {}) {
    return make(Stmt{
        .kind = kind, .tokens = since(begin), .values = kept(values), .parts = kept(parts), .declared = {}});
  }

  // --- Names ---

  // Declares a name that the innermost scope may already have; returns its index.
  std::size_t declare(Name name, const std::string& key) {
    const std::size_t found = name.kind == NameKind::member ? no_name : scopes_.find_innermost(key);
    if (found != no_name) {
      unit_.meanings[name.token] = found;
      return found;
    }
    const std::size_t number = unit_.names.size();
    name.is_file_scope = scopes_.is_file_scope();
    unit_.names.push_back(name);
    unit_.meanings[name.token] = number;
    if (name.kind != NameKind::member) {
      scopes_.declare(key, number);
    }
    return number;
  }

  [[nodiscard]] const Name* visible(std::size_t token) const {
    const std::size_t found = is_word(token) ? scopes_.find(tokens_[token].text) : no_name;
    return found == no_name ? nullptr : &unit_.names[found];
  }

  [[nodiscard]] bool names_type(std::size_t token) const {
    const Name* const name = visible(token);
    return name != nullptr && name->kind == NameKind::type;
  }

  [[nodiscard]] bool is_typeof(std::size_t i) const {
    return is(i, "typeof") || is(i, "__typeof__") || is(i, "__typeof");
  }

  // True where a type starts in an expression.
  [[nodiscard]] bool starts_type(std::size_t i) const {
    if (!is_word(i) || is_condition_) {
      return false;
    }
    const Name* const name = visible(i);
    return name == nullptr ? is_qualifier(tokens_[i].text) || is_type_word(tokens_[i].text) || is_typeof(i) ||
                                 is_attribute(i)
                           : name->kind == NameKind::type;
  }

  // True if a declaration starts here. An undeclared word may be a type that only the compiler knows.
  [[nodiscard]] bool is_declaration() const {
    if (!is_word(at_) || is("asm") || is("__asm__") || is("__asm")) { // "asm volatile (…)" declares nothing
      return false;
    }
    const Name* const name = visible(at_);
    if (is("typedef") || is_qualifier(text()) || is_type_word(text()) || is_typeof(at_)) {
      return true;
    }
    if (name != nullptr) {
      return name->kind == NameKind::type;
    }
    std::size_t next = at_ + 1;
    while (is(next, "*")) {
      ++next;
    }
    return !is("return") && !is("sizeof") && is_word(next);
  }

  // --- Declarations (parse_declarations.cpp) ---

  // "__attribute__((aligned(size)))": what is in the third parentheses are expressions.
  void attributes(Attributes& found);

  struct Specifiers {
    TokenRange tokens;
    const Type* type = nullptr;
    bool is_typedef = false;
    Attributes attributes;
  };

  // At struct, union or enum: declares or finds the tag and reads the braces.
  const Type* tagged(std::size_t first);
  // An enumerator is declared after its value (C99 6.2.1).
  void enumerator(Record& record);
  const Decl* remember(std::size_t token, const Decl& decl) {
    const Decl* const made = make(decl);
    if (token != no_name) {
      tree_->declarations.emplace(token, made);
    }
    return made;
  }
  Specifiers specifiers();
  const Type* named_type(const std::vector<std::string_view>& words);

  struct Declarator {
    std::size_t begin = 0;
    std::size_t name = no_name; // token
    const Type* type = nullptr;
    bool understood = true;
    Attributes attributes;
    TokenRange list;                     // of a function, between its parentheses
    std::vector<const Decl*> parameters; // in there
    Scopes::Closed scope;                // that of its parameters
  };

  Declarator declarator(const Type* base) {
    Declarator found{.begin = at_};
    found.type = declarator(base, found);
    return found;
  }
  const Type* declarator(const Type* base, Declarator& found);
  const Type* suffixes(const Type* base, Declarator& found);
  // From the opening parenthesis past the closing one.
  Scopes::Closed parameters(std::vector<const Decl*>& list);
  // Reads a declaration to its end: a semicolon or a function's body.
  void declaration(std::vector<const Decl*>& declared, bool of_members = false);
  // Refuses variables that kernels could write and that outlive them.
  void refuse_shared(const Specifiers& common, std::size_t name, const Type& type);
  void refuse_shared(std::size_t word) {
    refuse(word, ErrorCode::unsupported_kernel,
           fmt::format("this {} variable is outside constant and local memory", tokens_[word].text),
           fix_of_shared);
  }
  static inline const std::string fix_of_shared = fmt::format(
      "pass it as a buffer: a persistent kernel and a plain one would each have a separate copy; {}",
      see_unsupported);
  // Records a function of file scope. Its end and body follow.
  void function(std::size_t begin, const Specifiers& common, const Declarator& made);
  Parameter parameter(const Decl& decl);
  // One spelling for a type, in a declaration with these tokens.
  [[nodiscard]] std::string name_of(const Type& type, TokenRange declaration, std::size_t declared) const;
  Expr* initializer();
  const Expr* initializer_part();

  // --- Statements and expressions (parse_statements.cpp) ---

  // At an opening brace. The scope is the caller's.
  const Stmt* block();
  const Stmt* scoped(const auto& read) {
    scopes_.open();
    const Stmt* const made = read();
    scopes_.close();
    return made;
  }
  const Stmt* opaque_statement(std::size_t begin) {
    look_up_until(";");
    take(";");
    return statement_node(Stmt::Kind::opaque, begin);
  }
  const Stmt* statement();
  const Stmt* statement_after_attributes(std::size_t begin);
  const Stmt* labelled(Stmt::Kind kind, std::size_t begin, const std::vector<const Expr*>& values) {
    std::vector<const Stmt*> parts;
    if (!closes()) {
      parts.push_back(statement());
    }
    return statement_node(kind, begin, values, parts);
  }
  const Stmt* declaration_statement(std::size_t begin) {
    std::vector<const Decl*> declared;
    declaration(declared);
    Stmt* const made = statement_node(Stmt::Kind::declaration, begin);
    made->declared = kept(declared);
    return made;
  }
  // "(condition)"; null for anything else.
  const Expr* in_parentheses();
  const Stmt* for_loop(std::size_t begin);
  Expr* expression();
  Expr* assignment();
  Expr* conditional();
  // Precedence climbing: reads operators of at least this rank.
  Expr* binary(int least_rank);
  // The type of a value: an array decays to a pointer.
  const Type* value_type(const Type* of) { return of->is(Type::Kind::array) ? pointer_to(of->inner) : of; }
  // Of the two values of ?: one is taken. A pointer to const and another make a pointer to const.
  const Type* either(const Type* yes, const Type* no);
  const Type* combined(std::size_t token, const Type* left, const Type* right);
  Expr* unary();
  const Type* of_unary(std::size_t token, const Type* of);
  // From an opening parenthesis past the closing one.
  const Type* type_name();
  Expr* cast();
  // From an opening parenthesis past the closing one. Returns false for what is no list of values.
  bool arguments(std::vector<const Expr*>& list);
  Expr* postfix(Expr* value, std::size_t begin);
  const Type* of_unary_star(const Type* of) {
    of = value_type(of);
    return of->is(Type::Kind::pointer) ? of->inner : opaque_;
  }
  const Type* of_subscript(const Type* array, const Type* index);
  const Type* of_call(const Expr& callee) {
    return callee.kind == Kind::name && callee.type->is(Type::Kind::function) ? callee.type->inner : opaque_;
  }
  // A member has the qualifiers of its object, too.
  const Type* of_member(const Type* object, const std::string& name);
  [[nodiscard]] const Type* member_type(const Record& record, const std::string& name, int depth) const;
  Expr* primary();
  const Type* number_of(std::size_t token) {
    const std::string& digits = tokens_[token].text;
    const bool plain = digits.find_first_not_of("0123456789") == std::string::npos && digits.size() < 10;
    return plain ? type({.kind = Type::Kind::number, .name = "int"}) : number_;
  }
  const Type* text_type() {
    return type(
        {.kind = Type::Kind::number, .is_const = true, .space = AddressSpace::constant, .name = "char"});
  }

  TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  const std::shared_ptr<Tree> tree_ = std::make_shared<Tree>();
  Scopes scopes_;
  std::size_t at_ = 0;
  std::size_t last_ = 0; // the last token that was passed
  std::size_t depth_ = 0;
  std::size_t stuck_ = no_name; // the first token that did not fit
  bool too_deep_ = false;       // somewhere
  const bool is_condition_;
  std::optional<Error> error_;
  std::unordered_map<std::size_t, Record*> records_; // by name of the tag
  const Type* opaque_ = nullptr;
  const Type* number_ = nullptr;
};

} // namespace tidegate::opencl_c
