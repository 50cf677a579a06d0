// One recursive descent over a file, or over the condition of a directive. It resolves names by the scopes of C (C99 6.2.1 to
// 6.2.3) as it reads, so that it knows a type from a value. A construct that it does not know becomes opaque up to the end of its
// brackets or statement; the names in there are still looked up. So does what is nested deeper than compilers read.
#include "opencl_c/constant_expression.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::opencl_c {

namespace {

// Binary operators by rank, from the comma up. Those of assignment and of conditions bind to the right.
constexpr int assignment_rank = 2;
constexpr int conditional_rank = 3;
int rank_of(std::string_view name) {
  static constexpr std::array<std::string_view, 13> operators{
      " , ",     " = *= /= %= += -= <<= >>= &= ^= |= ",
      " ? ",     " || ",
      " && ",    " | ",
      " ^ ",     " & ",
      " == != ", " < > <= >= ",
      " << >> ", " + - ",
      " * / % "};
  const std::string word = fmt::format(" {} ", name);
  const auto found = std::ranges::find_if(
      operators, [&word](std::string_view rank) { return rank.find(word) != std::string_view::npos; });
  return found == operators.end() ? 0 : static_cast<int>(found - operators.begin()) + 1;
}

using Scope = std::unordered_map<std::string, const Decl*>;

class TreeParser {
public:
  explicit TreeParser(TranslationUnit& unit, bool is_condition = false)
      : unit_(unit), tokens_(unit.source.tokens), is_condition_(is_condition) {
    unit.meanings.assign(tokens_.size(), nullptr);
    opaque_ = type({});
    number_ = type({.kind = Type::Kind::number});
  }

  Result<void> run() {
    unit_.tree = tree_;
    skip_pragmas();
    while (!ended() && !error_) {
      if (!take(";")) {
        declaration(tree_->file_scope);
      }
    }
    for (const Decl* const decl : unit_.names) {
      if (decl->is_file_scope && decl->kind != Decl::Kind::member) {
        unit_.file_scope_names.insert(tokens_[decl->token].text);
      }
    }
    return error_ ? tl::unexpected(std::move(*error_)) : Result<void>();
  }

  Condition condition() {
    unit_.tree = tree_;
    const Expr* const value = expression();
    return {.value = value, .stuck = ended() ? stuck_ : std::min(stuck_, at_), .too_deep = too_deep_};
  }

private:
  using Kind = Expr::Kind;

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
    if (!is_file_scope() && (is("static") || is("extern"))) {
      refuse_shared(at_);
    }
    if (is_word(at_) && !unit_.is_member(at_)) {
      const bool is_tag = at_ > 0 && (is(at_ - 1, "struct") || is(at_ - 1, "union") || is(at_ - 1, "enum"));
      unit_.meanings[at_] = find(is_tag ? "struct " + text() : text());
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

  static constexpr std::size_t most_depth = 256;        // of brackets and statements, as in clang
  static constexpr std::uint32_t most_operators = 2000; // one in another: visitors recurse
  bool too_deep() {
    too_deep_ |= depth_ > most_depth;
    return depth_ > most_depth;
  }

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

  [[nodiscard]] bool is_file_scope() const { return scopes_.size() == 1; }

  Scope close_scope() {
    Scope closed = std::move(scopes_.back());
    scopes_.pop_back();
    return closed;
  }

  // The visible name of this key; null for none.
  [[nodiscard]] const Decl* find(const std::string& key, bool innermost = false) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = scope->find(key); found != scope->end()) {
        return found->second;
      }
      if (innermost) {
        break;
      }
    }
    return nullptr;
  }

  // Keeps a declaration, of a name that the innermost scope may already have or of none.
  Decl* declare(Decl decl) {
    decl.is_file_scope = is_file_scope();
    Decl* const made = make(decl);
    if (decl.token != no_token) {
      const bool is_member = decl.kind == Decl::Kind::member;
      const std::string key = (decl.kind == Decl::Kind::tag ? "struct " : "") + tokens_[decl.token].text;
      const Decl* const first = is_member ? nullptr : find(key, true);
      unit_.meanings[decl.token] = first == nullptr ? made : first;
      if (first == nullptr) {
        unit_.names.push_back(made);
        if (!is_member) {
          scopes_.back().emplace(key, made);
        }
      }
    }
    return made;
  }

  [[nodiscard]] const Decl* visible(std::size_t token) const {
    return is_word(token) ? find(tokens_[token].text) : nullptr;
  }

  [[nodiscard]] bool names_type(std::size_t token) const {
    const Decl* const name = visible(token);
    return name != nullptr && name->kind == Decl::Kind::type;
  }

  [[nodiscard]] bool is_typeof(std::size_t i) const {
    return is(i, "typeof") || is(i, "__typeof__") || is(i, "__typeof");
  }

  // True where a type starts in an expression.
  [[nodiscard]] bool starts_type(std::size_t i) const {
    if (!is_word(i) || is_condition_) {
      return false;
    }
    const Decl* const name = visible(i);
    return name == nullptr ? is_qualifier(tokens_[i].text) || is_type_word(tokens_[i].text) || is_typeof(i) ||
                                 is_attribute(i)
                           : name->kind == Decl::Kind::type;
  }

  // True if a declaration starts here. An undeclared word may be a type that only the compiler knows.
  [[nodiscard]] bool is_declaration() const {
    if (!is_word(at_) || is("asm") || is("__asm__") || is("__asm")) { // "asm volatile (…)" declares nothing
      return false;
    }
    const Decl* const name = visible(at_);
    if (is("typedef") || is_qualifier(text()) || is_type_word(text()) || is_typeof(at_)) {
      return true;
    }
    if (name != nullptr) {
      return name->kind == Decl::Kind::type;
    }
    std::size_t next = at_ + 1;
    while (is(next, "*")) {
      ++next;
    }
    return !is("return") && !is("sizeof") && is_word(next);
  }

  // "__attribute__((aligned(size)))": what is in the third parentheses are expressions.
  void attributes(Attributes& found) {
    while (is_attribute(at_)) {
      advance();
      if (!is("(") || !is(at_ + 1, "(")) {
        found.other = true;
        continue;
      }
      const std::size_t close = unit_.counterpart(at_);
      advance();
      advance();
      while (at_ + 1 < close) {
        std::string_view word = text();
        if (word.starts_with("__") && word.ends_with("__") && word.size() > 4) {
          word = word.substr(2, word.size() - 4);
        }
        const bool named = is_word(at_);
        advance();
        if (named && word == "aligned") {
          found.aligned.push_back(nullptr);
          if (is("(")) {
            const std::size_t end = unit_.counterpart(at_);
            advance();
            const Expr* const value = at_ == end ? nullptr : expression();
            found.aligned.back() = skip_to(end) ? value : nullptr;
            advance();
          }
        } else {
          found.packed |= named && word == "packed";
          found.overloadable |= named && word == "overloadable";
          found.other |= named && word != "packed" && word != "unused";
          if (is("(") && named && word == "reqd_work_group_size") {
            arguments(found.required_size);
          } else if (is("(")) {
            look_up_brackets();
          }
        }
      }
      jump(close + 1);
    }
  }

  struct Specifiers {
    TokenRange tokens;
    const Type* type = nullptr;
    bool is_typedef = false;
    Attributes attributes;
  };

  // At struct, union or enum: declares or finds the tag and reads the braces.
  const Type* tagged(std::size_t first) {
    const std::size_t keyword = advance();
    Record::Kind kind = is(keyword, "enum")    ? Record::Kind::enumeration
                        : is(keyword, "union") ? Record::Kind::union_type
                                               : Record::Kind::structure;
    Attributes before;
    attributes(before);
    Record* record = nullptr;
    if (is_word(at_)) {
      const bool declares = is(at_ + 1, "{") || (is(at_ + 1, ";") && first == keyword);
      const Decl* tag = find("struct " + text(), declares); // all tags share one name space
      tag = tag == nullptr ? declare({.kind = Decl::Kind::tag, .token = at_, .type = opaque_}) : tag;
      unit_.meanings[at_] = tag;
      Record*& of_tag = records_[tag];
      if (of_tag == nullptr) {
        of_tag = &tree_->records.emplace_back(Record{.kind = kind, .tag = tag});
      }
      record = of_tag;
      advance();
    } else {
      record = &tree_->records.emplace_back(Record{.kind = kind});
    }
    if (is("{")) {
      const std::size_t close = unit_.counterpart(at_);
      record->body = {.begin = at_ + 1, .end = close};
      std::vector<Decl*> enumerators;
      advance();
      while (at_ < close) {
        const std::size_t begin = at_;
        if (kind == Record::Kind::enumeration) {
          enumerator(enumerators);
        } else if (!take(";")) {
          declaration(record->members, true);
        }
        if (at_ == begin) {
          look_up();
        }
      }
      jump(close + 1);
      record->members.insert(record->members.end(), enumerators.begin(), enumerators.end());
      record->attributes = before;
      attributes(record->attributes);
      if (kind == Record::Kind::enumeration) {
        evaluate_enumerators(unit_, enumerators);
      }
    }
    return type({.kind = kind == Record::Kind::enumeration ? Type::Kind::number : Type::Kind::record,
                 .record = record});
  }

  // An enumerator is declared after its value (C99 6.2.1).
  void enumerator(std::vector<Decl*>& list) {
    if (!is_word(at_)) {
      look_up_until(",");
      take(",");
      return;
    }
    const std::size_t name = advance();
    Attributes unused;
    attributes(unused);
    const Expr* const value = take("=") ? whole(expression(conditional_rank), ",") : nullptr;
    list.push_back(declare({.kind = Decl::Kind::enumerator,
                            .token = name,
                            .tokens = since(name),
                            .type = number_,
                            .value = value}));
    look_up_until(",");
    take(",");
  }

  Specifiers specifiers() {
    Specifiers found{.tokens = {.begin = at_, .end = at_}};
    const std::size_t begin = at_;
    std::vector<std::string_view> words;
    bool has_type = false;
    bool unknown = false;
    bool is_const = false;
    bool is_volatile = false;
    AddressSpace space = AddressSpace::none;
    for (; !ended(); found.tokens.end = last_ + 1) {
      const bool another_word = is_word(at_ + 1) && !is_attribute(at_ + 1);
      if (is_attribute(at_)) {
        attributes(found.attributes);
      } else if (!is_word(at_)) {
        break;
      } else if (is("struct") || is("union") || is("enum")) {
        found.type = tagged(begin);
        has_type = true;
      } else if (is_typeof(at_)) {
        advance();
        has_type = unknown = true;
        if (is("(")) {
          look_up_brackets();
        }
      } else if (is("typedef") || is_qualifier(text())) {
        found.is_typedef |= is("typedef");
        is_const |= is("const");
        is_volatile |= is("volatile");
        const AddressSpace named = address_space(text());
        space = named == AddressSpace::none ? space : named;
        advance();
      } else if (names_type(at_) && !has_type) {
        found.type = visible(at_)->type;
        has_type = true;
        look_up();
      } else if (is_type_word(text()) || !has_type || another_word) {
        unknown |= !is_type_word(text()) || names_type(at_);
        words.push_back(text());
        has_type = true;
        look_up();
      } else {
        break;
      }
    }
    if (unknown || (found.type != nullptr && !words.empty())) {
      found.type = opaque_;
    } else if (found.type == nullptr) {
      found.type = named_type(words);
    }
    found.type = found.attributes.other && found.is_typedef ? opaque_ : found.type; // such as vector_size
    found.type = qualified(found.type, is_const, is_volatile, space);
    found.type = found.attributes.any() ? attributed(found.type) : found.type;
    return found;
  }

  const Type* named_type(const std::vector<std::string_view>& words) {
    const std::string name = words.empty() ? "" : canonical_type(words);
    if (const auto arithmetic = arithmetic_type(name)) {
      return type({.kind = arithmetic->width == 1 ? Type::Kind::number : Type::Kind::vector, .name = name});
    }
    if (name == "void") {
      return type({.kind = Type::Kind::nothing});
    }
    if (name == "sampler_t" || name == "event_t" || is_image_type(name)) {
      return type({.kind = Type::Kind::handle, .name = name});
    }
    return is_type_word(name) ? type({.kind = Type::Kind::number, .name = name}) : opaque_;
  }

  struct Declarator {
    std::size_t begin = 0;
    std::size_t name = no_token;
    const Type* type = nullptr;
    bool understood = true;
    Attributes attributes;
    TokenRange list;                     // of a function, between its parentheses
    std::vector<const Decl*> parameters; // in there
    Scope scope;                         // that of its parameters
  };

  Declarator declarator(const Type* base) {
    Declarator found{.begin = at_};
    found.type = declarator(base, found);
    return found;
  }

  const Type* declarator(const Type* base, Declarator& found) {
    const Nested nested(depth_);
    if (too_deep()) {
      found.understood = false;
      return opaque_;
    }
    while (!ended()) {
      if (take("*")) {
        base = pointer_to(base);
      } else if (is_attribute(at_)) {
        attributes(found.attributes);
      } else if (is_word(at_) && is_qualifier(text())) {
        base = qualified(base, is("const"), is("volatile"), address_space(text()));
        advance();
      } else {
        break;
      }
    }
    const bool groups = is("(") && (is(at_ + 1, "*") || is(at_ + 1, "(") || is(at_ + 1, "[") ||
                                    (is_word(at_ + 1) && (is_attribute(at_ + 1) || !starts_type(at_ + 1))));
    if (groups) { // what follows the parentheses comes first
      const std::size_t open = at_;
      jump(unit_.counterpart(open) + 1);
      base = suffixes(base, found);
      const std::size_t after = at_;
      const std::size_t last = last_;
      jump(open + 1);
      base = declarator(base, found);
      found.understood &= at_ == unit_.counterpart(open);
      jump(last + 1);
      at_ = after;
      return base;
    }
    if (is_word(at_) && !is_attribute(at_)) {
      found.name = advance();
    }
    return suffixes(base, found);
  }

  const Type* suffixes(const Type* base, Declarator& found) {
    const Nested nested(depth_);
    if (too_deep()) {
      found.understood = false;
      return opaque_;
    }
    if (is("[")) {
      const std::size_t close = unit_.counterpart(at_);
      advance();
      while (is_word(at_) && is_qualifier(text())) {
        advance();
      }
      const Expr* const extent = at_ == close ? nullptr : expression();
      found.understood &= skip_to(close);
      jump(close + 1);
      const Type* const element = suffixes(base, found);
      return type({.kind = Type::Kind::array, .inner = element, .extent = extent});
    }
    if (is("(")) {
      const TokenRange between{.begin = at_ + 1, .end = unit_.counterpart(at_)};
      std::vector<const Decl*> list;
      Scope scope = parameters(list);
      const Type* const result = suffixes(base, found);
      found.list = between;
      found.parameters = std::move(list);
      found.scope = std::move(scope);
      return type({.kind = Type::Kind::function, .inner = result});
    }
    attributes(found.attributes);
    return is("[") || is("(") ? suffixes(base, found) : base;
  }

  // From the opening parenthesis past the closing one.
  Scope parameters(std::vector<const Decl*>& list) {
    const std::size_t close = unit_.counterpart(at_);
    scopes_.emplace_back();
    advance();
    while (at_ < close) {
      const std::size_t begin = at_;
      const Specifiers common = specifiers();
      Declarator made = declarator(common.type);
      made.understood &= at_ == close || is(",");
      look_up_until(",");
      const Type* of = made.understood ? made.type : opaque_;
      if (of->is(Type::Kind::array)) {
        of = pointer_to(of->inner);
      }
      if (made.name != no_token || !of->is(Type::Kind::nothing)) { // (void) is none
        list.push_back(
            declare({.token = made.name, .specifiers = common.tokens, .tokens = since(begin), .type = of}));
      }
      if (!take(",") && at_ < close) {
        look_up();
      }
    }
    jump(close + 1);
    return close_scope();
  }

  // Reads a declaration to its end: a semicolon or a function's body.
  void declaration(std::vector<const Decl*>& declared, bool of_members = false) {
    const std::size_t begin = at_;
    const bool at_file_scope = is_file_scope() && !of_members;
    const Specifiers common = specifiers();
    if (is(";")) {
      if (of_members) {
        declared.push_back(
            declare({.kind = Decl::Kind::member, .tokens = common.tokens, .type = common.type}));
      }
      advance();
      return;
    }
    for (bool first = true; !closes(); first = false) {
      Declarator made = declarator(common.type);
      attributes(made.attributes);
      const bool is_function = made.type->is(Type::Kind::function) && !common.is_typedef && !of_members;
      if (is("asm") || is("__asm__") || (is_function && is_word(at_) && is(at_ + 1, "("))) {
        look_up();
        look_up_until(",;={");
      }
      const Type* of = !made.understood                        ? opaque_
                       : made.attributes.other && !is_function ? opaque_like(made.type)
                                                               : made.type;
      const bool has_attributes = made.attributes.any();
      of = has_attributes && common.is_typedef ? attributed(of) : of;
      Decl& decl = *declare({.kind = of_members          ? Decl::Kind::member
                                     : common.is_typedef ? Decl::Kind::type
                                     : is_function       ? Decl::Kind::function
                                                         : Decl::Kind::variable,
                             .has_attributes = has_attributes,
                             .token = made.name,
                             .specifiers = common.tokens,
                             .tokens = since(made.begin),
                             .type = of,
                             .parameters = kept(made.parameters)});
      const bool is_named = made.name != no_token;
      if (!of_members && !common.is_typedef && is_named) {
        refuse_shared(common, made.name, *of);
      }
      const bool has_body = is("{") && first && is_function && is_named;
      const bool is_recorded = at_file_scope && first && is_function && is_named && made.list.end != 0;
      if (is_recorded) {
        function(begin, common, made);
      }
      if (has_body) {
        declared.push_back(&decl);
        scopes_.push_back(std::move(made.scope));
        const std::size_t number = unit_.functions.size();
        const Stmt* const body = block();
        scopes_.pop_back();
        if (is_recorded) {
          Function& whole = unit_.functions[number - 1];
          whole.statements = body;
          whole.body = body->tokens;
          whole.end = body->tokens.end;
        }
        return;
      }
      if (take("=")) {
        decl.value = whole(initializer(), ",;");
      } else if (of_members && take(":")) {
        decl.is_bit_field = true;
        decl.value = whole(expression(conditional_rank), ",;");
      } else if (at_file_scope && !is(",") && !is(";")) {
        break;
      } else {
        look_up_until(",;");
      }
      decl.tokens = since(made.begin);
      declared.push_back(&decl);
      if (!take(",")) {
        break;
      }
    }
    const bool ends = take(";");
    if (at_file_scope && ends && !unit_.functions.empty() && unit_.functions.back().begin == begin) {
      unit_.functions.back().end = last_ + 1;
    } else if (at_file_scope && !ends) {
      refuse(begin, ErrorCode::kernel_source, "this declaration does not end",
             "end it with a semicolon, or give the function a body");
    }
  }

  // Refuses variables that kernels could write and that outlive them.
  void refuse_shared(const Specifiers& common, std::size_t name, const Type& type) {
    const Type* element = &type;
    while (element->is(Type::Kind::array)) {
      element = element->inner;
    }
    // A sampler is constant even without const or constant.
    if (element->space == AddressSpace::constant ||
        (element->is(Type::Kind::handle) && element->name == "sampler_t")) {
      return;
    }
    if (is_file_scope() && !type.is(Type::Kind::function)) {
      refuse(name, ErrorCode::unsupported_kernel,
             fmt::format("{} is a variable of file scope outside constant memory",
                         in_quotes(tokens_[name].text)),
             fix_of_shared);
    }
    for (std::size_t i = common.tokens.begin; i < common.tokens.end && !is_file_scope(); ++i) {
      if ((is(i, "static") || is(i, "extern")) && element->space != AddressSpace::local) {
        refuse_shared(i);
      }
    }
  }

  void refuse_shared(std::size_t word) {
    refuse(word, ErrorCode::unsupported_kernel,
           fmt::format("this {} variable is outside constant and local memory", tokens_[word].text),
           fix_of_shared);
  }
  static inline const std::string fix_of_shared = fmt::format(
      "pass it as a buffer: a persistent kernel and a plain one would each have a separate copy; {}",
      see_unsupported);
  // Records a function of file scope. Its end and body follow.
  void function(std::size_t begin, const Specifiers& common, const Declarator& made) {
    Function found{.name = tokens_[made.name].text,
                   .is_kernel = unit_.contains({.begin = begin, .end = made.name}, "kernel") ||
                                unit_.contains({.begin = begin, .end = made.name}, "__kernel"),
                   .is_overloadable = common.attributes.overloadable || made.attributes.overloadable,
                   .begin = begin,
                   .name_token = made.name,
                   .parameter_list = made.list};
    if (found.is_kernel && made.list.begin != made.name + 2) {
      refuse(made.name, ErrorCode::unsupported_kernel, "the name of a kernel is in brackets", "remove them");
    }
    if (is_word(at_)) {
      refuse(at_, ErrorCode::unsupported_kernel,
             fmt::format("the types of the parameters of {} follow their list", in_quotes(found.name)),
             "write them in the list: void k(global float* a, int n)");
    }
    for (const Decl* const decl : made.parameters) {
      found.parameters.push_back(parameter(*decl));
    }
    const Type& result = *made.type->inner;
    found.result = result.is(Type::Kind::pointer) ? "" : name_of(result, common.tokens, no_token);
    std::array<std::uint64_t, 3> size{1, 1, 1};
    const std::vector<const Expr*>& required = made.attributes.required_size.empty()
                                                   ? common.attributes.required_size
                                                   : made.attributes.required_size;
    bool known = !required.empty() && required.size() <= size.size();
    for (std::size_t i = 0; known && i < required.size(); ++i) {
      const auto value = value_of(unit_, *required[i]);
      known = value.has_value();
      size[i] = static_cast<std::uint64_t>(value.value_or(0));
    }
    found.required_local_size = known ? std::optional(size) : std::nullopt;
    unit_.functions.push_back(std::move(found));
  }

  Parameter parameter(const Decl& decl) {
    Parameter made{.name = decl.token == no_token ? "" : tokens_[decl.token].text,
                   .is_pointer = decl.type->is(Type::Kind::pointer),
                   .tokens = decl.tokens,
                   .decl = &decl};
    const Type* of = decl.type;
    for (; of->is(Type::Kind::pointer) || of->is(Type::Kind::array); of = of->inner) {
      made.space = made.space == AddressSpace::none ? of->space : made.space;
    }
    made.space = made.space == AddressSpace::none ? of->space : made.space;
    made.is_const = of->is_const;
    const Type* pointee = decl.type;
    while (pointee->is(Type::Kind::pointer)) {
      pointee = pointee->inner;
    }
    const std::string integer = integer_of(unit_, *decl.type);
    made.is_enumeration = !integer.empty();
    made.type = !integer.empty() ? integer : name_of(*pointee, decl.tokens, decl.token);
    if (is_image_type(made.type)) {
      made.image_access = ImageAccess::read_only;
      for (const Token& token : unit_.tokens(decl.tokens)) {
        made.image_access = image_access(token.text).value_or(*made.image_access);
      }
    }
    return made;
  }

  // One spelling for a type, in a declaration with these tokens.
  [[nodiscard]] std::string name_of(const Type& type, TokenRange declaration, std::size_t declared) const {
    if (type.is(Type::Kind::nothing)) {
      return "void";
    }
    if (!type.name.empty()) {
      return type.name;
    }
    if (type.record != nullptr) {
      return opencl_c::name_of(unit_, *type.record);
    }
    std::string text;
    for (std::size_t i = declaration.begin; i < declaration.end; ++i) {
      if (is_attribute(i) && is(i + 1, "(")) {
        i = unit_.counterpart(i + 1);
      } else if (is(i, "[") || is(i, "{")) {
        i = unit_.counterpart(i);
      } else if (is_word(i) && i != declared && !is_qualifier(tokens_[i].text)) {
        text += (text.empty() ? "" : " ") + tokens_[i].text;
      }
    }
    return text;
  }

  Expr* initializer() {
    const Nested nested(depth_);
    const std::size_t begin = at_;
    if (!is("{")) {
      return expression(assignment_rank);
    }
    const std::size_t close = unit_.counterpart(at_);
    if (too_deep()) {
      look_up_brackets();
      return opaque(begin);
    }
    advance();
    std::vector<const Expr*> parts;
    while (at_ < close) {
      parts.push_back(initializer_part());
      if (!take(",") && !skip_to(close)) {
        advance();
        return opaque(begin);
      }
    }
    advance();
    return node(Kind::list, begin, begin, opaque_, parts);
  }

  const Expr* initializer_part() {
    const std::size_t begin = at_;
    if (!is(".") && !is("[")) {
      return initializer();
    }
    std::vector<const Expr*> parts;
    while (is(".") || is("[")) {
      if (take(".")) {
        advance();
        continue;
      }
      const std::size_t close = unit_.counterpart(at_);
      advance();
      parts.push_back(expression());
      skip_to(close);
      advance();
    }
    if (!take("=")) {
      return opaque_rest(begin);
    }
    parts.push_back(initializer());
    return node(Kind::designated, begin, begin, parts.back()->type, parts);
  }

  // At an opening brace. The scope is the caller's.
  const Stmt* block() {
    const std::size_t begin = at_;
    const std::size_t close = unit_.counterpart(at_);
    advance();
    std::vector<const Stmt*> parts;
    while (at_ < close) {
      const std::size_t first = at_;
      parts.push_back(statement());
      if (at_ == first) {
        look_up();
      }
    }
    jump(close + 1);
    return statement_node(Stmt::Kind::block, begin, {}, parts);
  }

  const Stmt* scoped(const auto& read) {
    scopes_.emplace_back();
    const Stmt* const made = read();
    scopes_.pop_back();
    return made;
  }
  const Stmt* opaque_statement(std::size_t begin) {
    look_up_until(";");
    take(";");
    return statement_node(Stmt::Kind::opaque, begin);
  }

  const Stmt* statement() {
    const Nested nested(depth_);
    const std::size_t begin = at_;
    Attributes unused;
    attributes(unused);
    const bool attributed = at_ != begin;
    if (closes()) {
      return statement_node(Stmt::Kind::nothing, begin);
    }
    if (too_deep()) {
      if (is("{")) {
        look_up_brackets();
        return statement_node(Stmt::Kind::opaque, begin);
      }
      return opaque_statement(begin);
    }
    const Stmt* made = statement_after_attributes(begin);
    if (attributed) {
      Stmt* const copy = make(*made);
      copy->has_attributes = true;
      made = copy;
    }
    return made;
  }

  const Stmt* statement_after_attributes(std::size_t begin) {
    using S = Stmt::Kind;
    if (is("{")) {
      return scoped([this] { return block(); });
    }
    if (take(";")) {
      return statement_node(S::nothing, begin);
    }
    if (is("if") || is("while") || is("switch")) {
      const S kind = is("if") ? S::if_else : is("while") ? S::while_loop : S::switch_block;
      advance();
      const Expr* const condition = in_parentheses();
      if (condition == nullptr) {
        return opaque_statement(begin);
      }
      std::vector<const Stmt*> parts{statement()};
      if (kind == S::if_else && take("else")) {
        parts.push_back(statement());
      }
      return statement_node(kind, begin, {condition}, parts);
    }
    if (is("for") && is(at_ + 1, "(")) {
      return scoped([this, begin] { return for_loop(begin); });
    }
    if (take("do")) {
      const Stmt* const body = statement();
      const Expr* const condition = take("while") ? in_parentheses() : nullptr;
      return condition == nullptr || !take(";") ? opaque_statement(begin)
                                                : statement_node(S::do_loop, begin, {condition}, {body});
    }
    if (is("case") || is("default")) {
      const S kind = is("case") ? S::case_label : S::default_label;
      advance();
      std::vector<const Expr*> values;
      if (kind == S::case_label) {
        values.push_back(expression(conditional_rank));
      }
      return take(":") ? labelled(kind, begin, values) : opaque_statement(begin);
    }
    if (is("goto") || is("break") || is("continue")) {
      const S kind = is("goto") ? S::goto_label : is("break") ? S::break_out : S::continue_loop;
      advance();
      if (kind == S::goto_label) {
        advance(); // labels have a separate name space
      }
      return take(";") ? statement_node(kind, begin) : opaque_statement(begin);
    }
    if (take("return")) {
      std::vector<const Expr*> values;
      if (!is(";")) {
        values.push_back(expression());
      }
      return take(";") ? statement_node(S::return_value, begin, values) : opaque_statement(begin);
    }
    if (is_word(at_) && is(at_ + 1, ":")) {
      advance();
      advance();
      return labelled(S::label, begin, {});
    }
    if (is_declaration()) {
      return declaration_statement(begin);
    }
    if (is("asm") || is("__asm__") || is("__asm")) {
      return opaque_statement(begin);
    }
    const Expr* const value = expression();
    return take(";") ? statement_node(S::expression, begin, {value}) : opaque_statement(begin);
  }

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
  const Expr* in_parentheses() {
    if (!is("(")) {
      return nullptr;
    }
    const std::size_t close = unit_.counterpart(at_);
    advance();
    const Expr* value = expression();
    value = skip_to(close) ? value : opaque(value->tokens.begin);
    advance();
    return value;
  }

  const Stmt* for_loop(std::size_t begin) {
    advance();
    const std::size_t close = unit_.counterpart(at_);
    advance();
    const std::size_t head = at_;
    const Stmt* first = nullptr;
    if (is_declaration()) {
      first = declaration_statement(head);
    } else if (take(";")) {
      first = statement_node(Stmt::Kind::nothing, head);
    } else {
      const Expr* const value = expression();
      first = take(";") ? statement_node(Stmt::Kind::expression, head, {value}) : nullptr;
    }
    const Expr* const condition = first == nullptr || is(";") ? nullptr : expression();
    const bool understood = first != nullptr && take(";");
    const Expr* const step = !understood || at_ == close ? nullptr : expression();
    const bool complete = skip_to(close) && understood;
    advance();
    const Stmt* const body = statement();
    return complete ? statement_node(Stmt::Kind::for_loop, begin, {condition, step}, {first, body})
                    : statement_node(Stmt::Kind::opaque, begin);
  }

  // Precedence climbing: reads operators of at least this rank.
  Expr* expression(int least_rank = 1) {
    const std::size_t begin = at_;
    Expr* left = unary();
    while (!ended()) {
      const int rank = rank_of(text());
      if (rank < least_rank || rank == 0) {
        break;
      }
      const Nested nested(depth_);
      const std::size_t token = advance();
      if (rank == conditional_rank) {
        const Expr* const yes = too_deep() ? opaque_rest(at_) : expression();
        if (!take(":")) {
          return opaque_rest(begin);
        }
        const Expr* const no = expression(rank);
        left = node(Kind::conditional, begin, token, either(yes->type, no->type), {left, yes, no});
        continue;
      }
      const Expr* const right =
          too_deep() ? opaque_rest(at_) : expression(rank == assignment_rank ? rank : rank + 1);
      left = rank == 1 ? node(Kind::comma, begin, token, right->type, {left, right})
             : rank == assignment_rank
                 ? node(Kind::assignment, begin, token, left->type, {left, right})
                 : node(Kind::binary, begin, token, combined(token, left->type, right->type), {left, right});
    }
    return left;
  }

  // The type of a value: an array decays to a pointer.
  const Type* value_type(const Type* of) { return of->is(Type::Kind::array) ? pointer_to(of->inner) : of; }
  const Type* pointee(const Type* of) {
    of = value_type(of);
    return of->is(Type::Kind::pointer) ? of->inner : opaque_;
  }
  // Of the two values of ?: one is taken. A pointer to const and another make a pointer to const.
  const Type* either(const Type* yes, const Type* no) {
    yes = value_type(yes);
    no = value_type(no);
    if (yes->is(Type::Kind::opaque) || no->is(Type::Kind::opaque)) {
      return opaque_;
    }
    if (yes->is(Type::Kind::pointer) && no->is(Type::Kind::pointer)) {
      const Type* const inner = yes->inner->is(Type::Kind::nothing) ? no->inner : yes->inner;
      const Type* const other = yes->inner->is(Type::Kind::nothing) ? yes->inner : no->inner;
      return pointer_to(qualified(inner, other->is_const, other->is_volatile, other->space));
    }
    if (yes->is_arithmetic() && no->is_arithmetic()) {
      return yes->name == no->name ? yes : no->is(Type::Kind::vector) ? no : number_;
    }
    return yes->is(Type::Kind::pointer) ? yes : no;
  }

  const Type* combined(std::size_t token, const Type* left, const Type* right) {
    left = value_type(left);
    right = value_type(right);
    if (left->is(Type::Kind::opaque) || right->is(Type::Kind::opaque)) {
      return opaque_;
    }
    const bool sum = is(token, "+") || is(token, "-");
    if (sum && left->is(Type::Kind::pointer) && right->is_arithmetic()) {
      return left;
    }
    if (is(token, "+") && right->is(Type::Kind::pointer) && left->is_arithmetic()) {
      return right;
    }
    return left->is(Type::Kind::vector) ? left : right->is(Type::Kind::vector) ? right : number_;
  }

  Expr* unary() {
    static constexpr std::array<std::string_view, 8> operators{"++", "--", "&", "*", "+", "-", "~", "!"};
    static constexpr std::array<std::string_view, 4> sizes{"sizeof", "_Alignof", "__alignof__", "vec_step"};
    const Nested nested(depth_);
    const std::size_t begin = at_;
    if (too_deep() || ended()) {
      return opaque_rest(begin);
    }
    if (tokens_[at_].kind == TokenKind::punctuator &&
        std::ranges::find(operators, text()) != operators.end()) {
      const std::size_t token = advance();
      const Expr* const of = unary();
      return node(Kind::unary, begin, token, of_unary(token, of->type), {of});
    }
    if (is_word(at_) && std::ranges::find(sizes, text()) != sizes.end() && !is_condition_) {
      const std::size_t token = advance();
      if (is("(") && starts_type(at_ + 1)) {
        const Type* const of = type_name();
        Expr* const made = node(Kind::size, begin, token, number_, {});
        made->measured = of;
        return made;
      }
      return node(Kind::size, begin, token, number_, {unary()});
    }
    if (is("(") && starts_type(at_ + 1)) {
      return cast();
    }
    return postfix(primary(), begin);
  }

  const Type* of_unary(std::size_t token, const Type* of) {
    if (is(token, "&")) {
      return pointer_to(of);
    }
    if (is(token, "*")) {
      return pointee(of);
    }
    return is(token, "!") && !of->is(Type::Kind::vector) ? number_ : of;
  }

  // From an opening parenthesis past the closing one.
  const Type* type_name() {
    const std::size_t close = unit_.counterpart(at_);
    advance();
    const Specifiers common = specifiers();
    const Declarator made = declarator(common.type);
    const bool understood = skip_to(close) && made.understood && made.name == no_token;
    advance();
    return understood ? made.type : opaque_;
  }

  Expr* cast() {
    const std::size_t begin = at_;
    const Type* const to = type_name();
    if (is("{")) {
      const Expr* const list = initializer();
      return postfix(node(Kind::compound, begin, begin, to, {list}), begin);
    }
    if (is("(") && to->is(Type::Kind::vector) &&
        unit_.find({.begin = at_ + 1, .end = unit_.counterpart(at_)}, ",") != unit_.counterpart(at_)) {
      std::vector<const Expr*> parts;
      if (!arguments(parts)) {
        return opaque(begin);
      }
      return postfix(node(Kind::vector, begin, begin, to, parts), begin);
    }
    const Expr* const of = unary();
    return node(Kind::cast, begin, begin, to, {of});
  }

  // From an opening parenthesis past the closing one. Returns false for what is no list of values.
  bool arguments(std::vector<const Expr*>& list) {
    const std::size_t close = unit_.counterpart(at_);
    bool understood = true;
    advance();
    while (at_ < close) {
      const std::size_t begin = at_;
      if (starts_type(at_)) {
        look_up_until(",");
        list.push_back(opaque(begin));
      } else {
        list.push_back(expression(assignment_rank));
      }
      understood &= take(",") || skip_to(close);
    }
    advance();
    return understood;
  }

  Expr* postfix(Expr* value, std::size_t begin) {
    while (!ended()) {
      const std::size_t token = at_;
      if (is("[")) {
        const std::size_t close = unit_.counterpart(at_);
        advance();
        const Expr* const index = expression();
        if (at_ != close) {
          return opaque_rest(begin);
        }
        advance();
        value = node(Kind::subscript, begin, token, of_subscript(value->type, index->type), {value, index});
      } else if (is("(")) {
        std::vector<const Expr*> parts{value};
        if (!arguments(parts)) {
          value = opaque(begin);
          continue;
        }
        const Expr& callee = *value;
        value = node(Kind::call, begin, token, of_call(callee), parts);
        if (callee.kind == Kind::name && value->kind == Kind::call) {
          tree_->calls.emplace(callee.token, value);
        }
      } else if ((is(".") || is("->")) && is_word(at_ + 1)) {
        const bool arrow = is("->");
        advance();
        const Type* const object = arrow ? pointee(value->type) : value->type;
        const std::size_t member = advance();
        value = node(Kind::member, begin, member, of_member(object, tokens_[member].text), {value});
      } else if (is("++") || is("--")) {
        advance();
        value = node(Kind::postfix, begin, token, value->type, {value});
      } else {
        break;
      }
    }
    return value;
  }

  const Type* of_subscript(const Type* array, const Type* index) {
    array = value_type(array);
    index = value_type(index);
    if (array->is_arithmetic() && index->is(Type::Kind::pointer)) {
      std::swap(array, index);
    }
    return array->is(Type::Kind::pointer) ? array->inner
           : array->is_arithmetic()       ? qualified(number_, array->is_const, false, array->space)
                                          : opaque_;
  }

  const Type* of_call(const Expr& callee) {
    return callee.kind == Kind::name && callee.type->is(Type::Kind::function) ? callee.type->inner : opaque_;
  }
  // A member has the qualifiers of its object, too.
  const Type* of_member(const Type* object, const std::string& name) {
    if (object->is_arithmetic() && object->record == nullptr) {
      return qualified(number_, object->is_const, object->is_volatile, object->space);
    }
    const Type* const member =
        object->is(Type::Kind::record) ? member_type(*object->record, name, 0) : nullptr;
    return member == nullptr ? opaque_
                             : qualified(member, object->is_const, object->is_volatile, object->space);
  }

  [[nodiscard]] const Type* member_type(const Record& record, const std::string& name, int depth) const {
    constexpr int deepest = 16;
    for (const Decl* const member : record.members) {
      if (member->token != no_token && tokens_[member->token].text == name) {
        return member->type;
      }
      if (member->token == no_token && member->type->is(Type::Kind::record) && depth < deepest) {
        if (const Type* const inner = member_type(*member->type->record, name, depth + 1)) {
          return inner;
        }
      }
    }
    return nullptr;
  }

  Expr* primary() {
    const std::size_t begin = at_;
    if (ended()) {
      return opaque(begin);
    }
    if (is("(")) {
      const std::size_t close = unit_.counterpart(at_);
      advance();
      if (is("{")) { // GNU C allows statements in parentheses
        scoped([this] { return block(); });
        skip_to(close);
        advance();
        return opaque(begin);
      }
      Expr* value = expression();
      value = skip_to(close) ? value : opaque(begin);
      advance();
      value->tokens = since(begin);
      return value;
    }
    switch (tokens_[at_].kind) {
    case TokenKind::number: return node(Kind::number, begin, advance(), number_of(begin), {});
    case TokenKind::character: return node(Kind::text, begin, advance(), number_, {});
    case TokenKind::string:
      while (!ended() && tokens_[at_].kind == TokenKind::string) {
        advance();
      }
      return node(Kind::text, begin, begin, pointer_to(text_type()), {});
    case TokenKind::identifier: break;
    default: return opaque_rest(begin);
    }
    const Decl* const name = visible(at_);
    if (name != nullptr && (name->kind == Decl::Kind::type || name->kind == Decl::Kind::tag)) {
      return opaque_rest(begin);
    }
    const Type* of = opaque_;
    if (name != nullptr) {
      of = name->type;
    } else if (builtin(text())) {
      const bool is_event = text().starts_with("async_");
      of = type({.kind = Type::Kind::function,
                 .inner = is_event ? type({.kind = Type::Kind::handle, .name = "event_t"}) : number_});
    } else if (is("true") || is("false") || text().starts_with("memory_") ||
               (!is(at_ + 1, "(") && standard_macros().contains(text()))) {
      of = number_;
    }
    look_up();
    return node(Kind::name, begin, begin, of, {});
  }

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
  std::vector<Scope> scopes_{1}; // nested, that of the file first
  std::size_t at_ = 0;
  std::size_t last_ = 0; // the last token that was passed
  std::size_t depth_ = 0;
  std::size_t stuck_ = no_token; // the first token that did not fit
  bool too_deep_ = false;        // somewhere
  const bool is_condition_;
  std::optional<Error> error_;
  std::unordered_map<const Decl*, Record*> records_; // by tag
  const Type* opaque_ = nullptr;
  const Type* number_ = nullptr;
};

} // namespace

Result<void> parse_tree(TranslationUnit& unit) {
  return TreeParser(unit).run();
}

Condition parse_condition(TranslationUnit& unit) {
  return TreeParser(unit, true).condition();
}

} // namespace tidegate::opencl_c
