// One recursive descent over a file, or over the condition of a directive. It resolves names by the scopes of C (C99 6.2.1 to
// 6.2.3) as it reads, so that it knows a type from a value. A construct that it does not know becomes opaque up to the end of its
// brackets or statement; the names in there are still looked up. So does what is nested deeper than compilers read.
#include "opencl_c/parser_base.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::opencl_c {
namespace {

// Binary operators by rank, from the comma up. Those of assignment and of conditions bind to the right.
constexpr int comma_rank = 1;
constexpr int assignment_rank = 2;
constexpr int conditional_rank = 3;
int rank_of(const Token& token) {
  static constexpr std::array<std::string_view, 13> operators{",",     "= *= /= %= += -= <<= >>= &= ^= |=",
                                                              "?",     "||",
                                                              "&&",    "|",
                                                              "^",     "&",
                                                              "== !=", "< > <= >=",
                                                              "<< >>", "+ -",
                                                              "* / %"};
  const auto* const found = std::ranges::find_if(
      operators, [&token](std::string_view rank) { return is_one_of(rank, token.text); });
  const bool is_operator = token.kind == TokenKind::punctuator && found != operators.end();
  return is_operator ? static_cast<int>(found - operators.begin()) + 1 : 0;
}

// A statement that begins with one of these words, and its parts: v is a value, p one in parentheses, c a constant, s a statement,
// d the first of a for loop, e "else" with a statement, w "while", n a name, and signs are themselves. What a capital stands for may
// be missing; a missing N is null.
struct StatementForm {
  std::string_view words;
  Stmt::Kind kind = Stmt::Kind::expression;
  std::string_view parts = "v;";
};
constexpr StatementForm statement_forms[]{{";", Stmt::Kind::nothing, ""},
                                          {"if", Stmt::Kind::if_else, "pse"},
                                          {"while", Stmt::Kind::while_loop, "ps"},
                                          {"do", Stmt::Kind::do_loop, "swp;"},
                                          {"for", Stmt::Kind::for_loop, "(dN;N)s"},
                                          {"switch", Stmt::Kind::switch_block, "ps"},
                                          {"case", Stmt::Kind::case_label, "c:S"},
                                          {"default", Stmt::Kind::default_label, ":S"},
                                          {"goto", Stmt::Kind::goto_label, "n;"},
                                          {"return", Stmt::Kind::return_value, "V;"},
                                          {"break", Stmt::Kind::break_out, ";"},
                                          {"continue", Stmt::Kind::continue_loop, ";"},
                                          {"asm __asm__ __asm", Stmt::Kind::opaque, ""}};

class TreeParser : ParserBase {
public:
  explicit TreeParser(TranslationUnit& unit, bool is_condition = false)
      : ParserBase(unit), is_condition_(is_condition) {}

  Result<void> run() {
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

  std::pair<const Expr*, std::size_t> condition() {
    const Expr* const value = expression();
    return {value, at_};
  }

private:
  static constexpr std::size_t most_depth = 256;        // of brackets and statements, as in clang
  static constexpr std::uint32_t most_operators = 2000; // one in another: visitors recurse
  [[nodiscard]] bool too_deep() const { return depth_ > most_depth; }

  // --- Nodes and types ---

  template <class T>
  T* make(const T& node) {
    return ::new (tree_->memory.allocate(sizeof(T), alignof(T))) T(node);
  }

  template <class T>
  std::span<const T> kept(const std::vector<T>& list) {
    T* const memory = std::pmr::polymorphic_allocator<T>(&tree_->memory).allocate(list.size());
    std::uninitialized_copy(list.begin(), list.end(), memory);
    return {memory, list.size()};
  }

  // From `begin` to here; `stuck` does not fit.
  Expr* opaque(std::size_t begin, std::size_t stuck) {
    return make(Expr{.token = stuck, .tokens = since(begin), .type = opaque_, .operands = {}});
  }
  Expr* opaque(std::size_t begin) { return opaque(begin, at_); }

  // Takes the rest of the brackets or the statement for opaque.
  Expr* opaque_rest(std::size_t begin) {
    const std::size_t stuck = at_;
    look_up_until(";");
    return opaque(begin, stuck);
  }

  // The expression if it ends at one of these characters or a bracket; otherwise all up to there is opaque.
  Expr* whole(Expr* value, std::string_view stops) {
    const std::size_t end = at_;
    look_up_until(stops);
    return at_ == end ? value : opaque(value->tokens.begin, end);
  }

  // Without a type, the operands give it.
  Expr* node(Kind kind, std::size_t begin, std::size_t token, const std::vector<const Expr*>& operands,
             const Type* of = nullptr) {
    std::uint32_t depth = 0;
    for (const Expr* const operand : operands) {
      depth = std::max(depth, operand->depth);
    }
    if (depth >= most_operators) {
      return opaque(begin);
    }
    return make(Expr{.kind = kind,
                     .depth = depth + 1,
                     .token = token,
                     .tokens = since(begin),
                     .type = of == nullptr ? type_of(kind, token, operands) : of,
                     .operands = kept(operands)});
  }

  Stmt* statement_node(Stmt::Kind kind, std::size_t begin, const std::vector<const Expr*>& values = {},
                       const std::vector<const Stmt*>& parts = {},
                       const std::vector<const Decl*>& declared = {}) {
    return make(Stmt{.kind = kind,
                     .tokens = since(begin),
                     .values = kept(values),
                     .parts = kept(parts),
                     .declared = kept(declared)});
  }

  // Passes a qualifier.
  void qualify(Type& of) {
    const AddressSpace space = address_space(text());
    of.is_const |= is("const") || space == AddressSpace::constant;
    of.is_volatile |= is("volatile");
    of.space = space == AddressSpace::none ? of.space : space;
    advance();
  }

  // --- Names ---

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

  // True where a type starts in an expression.
  [[nodiscard]] bool starts_type(std::size_t i) const {
    if (!is_word(i) || is_condition_) {
      return false;
    }
    const Decl* const name = visible(i);
    return name == nullptr ? is_qualifier(tokens_[i].text) || is_type_word(tokens_[i].text) || is_attribute(i)
                           : name->kind == Decl::Kind::type;
  }

  // True if a declaration starts here. An undeclared word may be a type that only the compiler knows.
  [[nodiscard]] bool is_declaration() const {
    std::size_t next = at_ + 1;
    while (is(next, "*")) {
      ++next;
    }
    return starts_type(at_) || (is_word(at_) && visible(at_) == nullptr && !is("sizeof") && is_word(next));
  }

  // --- Declarations ---

  // "__attribute__((aligned(size)))"
  void attributes(Attributes& found) {
    while (is_attribute(at_)) {
      advance();
      if (!is("(") || !is(at_ + 1, "(")) {
        found.other = true;
        continue;
      }
      in_brackets([&](std::size_t) {
        in_brackets([&](std::size_t close) {
          while (at_ < close) {
            attribute(found);
          }
        });
      });
    }
  }

  void attribute(Attributes& found) {
    const bool named = is_word(at_);
    std::string_view word = text();
    if (word.starts_with("__") && word.ends_with("__") && word.size() > 4) {
      word = word.substr(2, word.size() - 4);
    }
    advance();
    std::vector<const Expr*> values;
    const bool understood = !is("(") || arguments(values);
    if (named && word == "aligned") {
      found.aligned.push_back(understood && values.size() == 1 ? values[0] : nullptr);
    } else if (named && word == "reqd_work_group_size") {
      std::array<std::uint64_t, 3> size{1, 1, 1};
      bool known = understood && !values.empty() && values.size() <= size.size();
      for (std::size_t i = 0; known && i < values.size(); ++i) {
        const auto value = value_of(unit_, *values[i]);
        known = value.has_value();
        size[i] = static_cast<std::uint64_t>(value.value_or(0));
      }
      found.required_size = known ? std::optional(size) : std::nullopt;
    }
    found.packed |= named && word == "packed";
    found.overloadable |= named && word == "overloadable";
    found.other |= named && word != "packed" && word != "unused" && word != "aligned";
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
    const bool is_enumeration = is(keyword, "enum");
    Attributes found;
    attributes(found);
    const Decl* tag = nullptr;
    if (is_word(at_)) {
      const bool declares = is(at_ + 1, "{") || (is(at_ + 1, ";") && first == keyword);
      tag = find("struct " + text(), declares); // all tags share one name space
      tag = tag == nullptr ? declare({.kind = Decl::Kind::tag, .token = at_, .type = opaque_}) : tag;
      unit_.meanings[at_] = tag;
      advance();
    }
    Record* unnamed = nullptr;
    Record*& record = tag == nullptr ? unnamed : records_[tag];
    if (record == nullptr) {
      record = &tree_->records.emplace_back(Record{.kind = is_enumeration         ? Record::Kind::enumeration
                                                           : is(keyword, "union") ? Record::Kind::union_type
                                                                                  : Record::Kind::structure,
                                                   .tag = tag});
    }
    if (is("{")) {
      std::vector<Decl*> enumerators;
      in_brackets([&](std::size_t close) {
        record->body = {.begin = last_ + 1, .end = close};
        while (at_ < close) {
          const std::size_t begin = at_;
          if (is_enumeration) {
            enumerator(enumerators);
          } else if (!take(";")) {
            declaration(record->members, true);
          }
          if (at_ == begin) {
            look_up();
          }
        }
      });
      record->members.insert(record->members.end(), enumerators.begin(), enumerators.end());
      attributes(found);
      record->attributes = found;
      record->integer = is_enumeration ? evaluate_enumerators(unit_, enumerators) : "";
    }
    return type({.kind = is_enumeration ? Type::Kind::number : Type::Kind::record, .record = record});
  }

  // An enumerator is declared after its value (C99 6.2.1).
  void enumerator(std::vector<Decl*>& list) {
    if (is_word(at_)) {
      const std::size_t name = advance();
      Attributes unused;
      attributes(unused);
      const Expr* const value = take("=") ? whole(expression(conditional_rank), ",") : nullptr;
      list.push_back(declare({.kind = Decl::Kind::enumerator,
                              .token = name,
                              .tokens = since(name),
                              .type = number_,
                              .value = value}));
    }
    look_up_until(",");
    take(",");
  }

  Specifiers specifiers() {
    Specifiers found{.tokens = {.begin = at_, .end = at_}};
    std::vector<std::string_view> words; // of a built-in type, or of an unknown one
    bool unknown = false;
    Type qualifiers;
    for (; is_word(at_); found.tokens.end = last_ + 1) {
      const bool has_type = found.type != nullptr || !words.empty();
      const Decl* const name = visible(at_);
      const bool names_type = name != nullptr && name->kind == Decl::Kind::type;
      const bool built_in = is_type_word(text());
      if (is_attribute(at_)) {
        attributes(found.attributes);
      } else if (is_one_of("struct union enum", text())) {
        found.type = tagged(found.tokens.begin);
      } else if (is("typedef") || is_qualifier(text())) {
        found.is_typedef |= is("typedef");
        qualify(qualifiers);
      } else if (names_type && !has_type) {
        found.type = name->type;
        look_up();
      } else if (built_in || !has_type || (is_word(at_ + 1) && !is_attribute(at_ + 1))) {
        unknown |= !built_in || names_type;
        words.push_back(text());
        look_up();
      } else {
        break;
      }
    }
    if (unknown || (found.type != nullptr && !words.empty()) ||
        (found.attributes.other && found.is_typedef)) { // such as vector_size
      found.type = opaque_;
    } else if (found.type == nullptr) {
      found.type = named_type(words);
    }
    qualifiers.has_attributes = found.attributes.any();
    found.type = qualified(found.type, qualifiers);
    return found;
  }

  struct Declarator {
    std::size_t begin = 0;
    std::size_t name = no_token;
    std::vector<Type> parts; // pointers, arrays and functions, from the name outwards
    const Type* type = nullptr;
    bool understood = true;
    Attributes attributes;
    TokenRange list;                     // of the first function, between its parentheses
    std::vector<const Decl*> parameters; // in there
    Scope scope;                         // that of its parameters
  };

  Declarator declarator(const Type* base) {
    Declarator found{.begin = at_, .type = base};
    read_declarator(found);
    found.understood &= found.parts.size() <= most_depth;
    for (auto part = found.parts.rbegin(); part != found.parts.rend(); ++part) {
      part->inner = found.type;
      found.type = type(*part);
    }
    return found;
  }

  void read_declarator(Declarator& found) {
    const Nested nested(depth_);
    if (too_deep()) {
      found.understood = false;
      return;
    }
    std::vector<Type> pointers;
    while (is("*") || is_attribute(at_) || (is_word(at_) && is_qualifier(text()))) {
      if (take("*")) {
        pointers.push_back({.kind = Type::Kind::pointer});
      } else if (is_attribute(at_)) {
        attributes(found.attributes);
      } else {
        Type unused;
        found.understood &= !pointers.empty();
        qualify(pointers.empty() ? unused : pointers.back());
      }
    }
    const std::size_t next = at_ + 1;
    if (is("(") && (is(next, "*") || is(next, "(") || is(next, "[") ||
                    (is_word(next) && (is_attribute(next) || !starts_type(next))))) {
      found.understood &= in_brackets([&](std::size_t) { read_declarator(found); });
    } else if (is_word(at_)) {
      found.name = advance();
    }
    while (is("[") || is("(") || is_attribute(at_)) {
      if (is_attribute(at_)) {
        attributes(found.attributes);
        continue;
      }
      Type part{.kind = is("[") ? Type::Kind::array : Type::Kind::function};
      if (is("[")) {
        found.understood &= in_brackets([&](std::size_t close) {
          while (is_word(at_) && is_qualifier(text())) {
            advance();
          }
          part.extent = at_ == close ? nullptr : expression();
        });
      } else {
        parameters(found);
      }
      found.parts.push_back(part);
    }
    found.parts.insert(found.parts.end(), pointers.rbegin(), pointers.rend());
  }

  // From the opening parenthesis past the closing one.
  void parameters(Declarator& function) {
    const TokenRange between{.begin = at_ + 1, .end = unit_.counterpart(at_)};
    std::vector<const Decl*> list;
    scopes_.emplace_back();
    in_brackets([&](std::size_t close) {
      while (at_ < close) {
        const std::size_t begin = at_;
        const Specifiers common = specifiers();
        Declarator made = declarator(common.type);
        made.understood &= at_ == close || is(",");
        look_up_until(",");
        const Type* of = value_type(made.understood ? made.type : opaque_);
        if (made.name != no_token || !of->is(Type::Kind::nothing)) { // (void) is none
          list.push_back(
              declare({.token = made.name, .specifiers = common.tokens, .tokens = since(begin), .type = of}));
        }
        if (!take(",") && at_ < close) {
          look_up();
        }
      }
    });
    if (function.list.end == 0) {
      function.list = between;
      function.parameters = std::move(list);
      function.scope = std::move(scopes_.back());
    }
    scopes_.pop_back();
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
      const Decl::Kind kind = of_members                            ? Decl::Kind::member
                              : common.is_typedef                   ? Decl::Kind::type
                              : made.type->is(Type::Kind::function) ? Decl::Kind::function
                                                                    : Decl::Kind::variable;
      const bool is_function = kind == Decl::Kind::function;
      const Type* of = !made.understood                        ? opaque_
                       : made.attributes.other && !is_function ? qualified(opaque_, element_of(*made.type))
                                                               : made.type;
      const bool has_attributes = made.attributes.any();
      Decl& decl = *declare({.kind = kind,
                             .has_attributes = has_attributes,
                             .token = made.name,
                             .specifiers = common.tokens,
                             .tokens = since(made.begin),
                             .type = qualified(of, {.has_attributes = has_attributes && common.is_typedef}),
                             .parameters = kept(made.parameters)});
      const bool is_named = made.name != no_token;
      if (is_named && (is_function || kind == Decl::Kind::variable)) {
        refuse_shared(decl);
      }
      const Stmt* body = nullptr;
      const bool starts_function = is_function && is_named && first;
      if (starts_function && is("{")) {
        scopes_.push_back(std::move(made.scope));
        body = block();
        scopes_.pop_back();
      }
      if (starts_function && at_file_scope && made.list.end != 0) {
        keep_function(common, made, decl, body);
      }
      if (body != nullptr) {
        declared.push_back(&decl);
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
  void refuse_shared(const Decl& decl) {
    const Type& element = element_of(*decl.type);
    if (element.space == AddressSpace::constant || element.name == "sampler_t") { // which is always constant
      return;
    }
    if (is_file_scope() && !decl.type->is(Type::Kind::function)) {
      refuse(decl.token, ErrorCode::unsupported_kernel,
             fmt::format("{} is a variable of file scope outside constant memory",
                         in_quotes(tokens_[decl.token].text)),
             fix_of_shared);
    }
    for (std::size_t i = decl.specifiers.begin; i < decl.specifiers.end && !is_file_scope(); ++i) {
      if ((is(i, "static") || is(i, "extern")) && element.space != AddressSpace::local) {
        refuse_static(i);
      }
    }
  }

  // Keeps a function of file scope.
  void keep_function(const Specifiers& common, const Declarator& made, const Decl& decl, const Stmt* body) {
    Function found = signature(unit_, decl);
    found.is_overloadable = common.attributes.overloadable || made.attributes.overloadable;
    found.parameter_list = made.list;
    found.statements = body;
    if (body != nullptr) {
      found.body = body->tokens;
      found.end = body->tokens.end;
    }
    const auto& size = made.attributes.required_size;
    found.required_local_size = size ? size : common.attributes.required_size;
    unit_.functions.push_back(std::move(found));
  }

  Expr* initializer() {
    const Nested nested(depth_);
    const std::size_t begin = at_;
    if (!is("{")) {
      return expression(assignment_rank);
    }
    std::vector<const Expr*> parts;
    const bool understood = in_brackets([&](std::size_t close) {
      for (bool more = true; more && at_ < close && !too_deep();) {
        if (is("[")) {
          in_brackets([&](std::size_t) { parts.push_back(expression()); });
        } else if (take(".")) {
          advance();
        } else if (!take("=")) {
          parts.push_back(initializer());
          more = take(",");
        }
      }
    });
    return understood ? node(Kind::list, begin, begin, parts) : opaque(begin);
  }

  // --- Statements ---

  Stmt* statement() {
    const Nested nested(depth_);
    const std::size_t begin = at_;
    Attributes unused;
    attributes(unused);
    const bool has_attributes = at_ != begin;
    const std::size_t scopes = scopes_.size();
    scopes_.resize(is("{") || is("for") ? scopes + 1 : scopes);
    Stmt* const made = closes()     ? statement_node(Stmt::Kind::nothing, begin)
                       : too_deep() ? opaque_statement(begin)
                                    : statement_form(begin);
    scopes_.resize(scopes);
    made->has_attributes |= has_attributes;
    return made;
  }

  Stmt* opaque_statement(std::size_t begin) {
    look_up_until(";");
    take(";");
    return statement_node(Stmt::Kind::opaque, begin);
  }

  Stmt* statement_form(std::size_t begin) {
    if (is("{")) {
      return block();
    }
    const auto* const known = std::ranges::find_if(
        statement_forms, [this](const StatementForm& row) { return is_one_of(row.words, text()); });
    StatementForm form;
    if (known != std::end(statement_forms)) {
      form = *known;
      advance();
    } else if (is_word(at_) && is(at_ + 1, ":")) {
      form = {.kind = Stmt::Kind::label, .parts = "n:S"};
    } else if (is_declaration()) {
      std::vector<const Decl*> declared;
      declaration(declared);
      return statement_node(Stmt::Kind::declaration, begin, {}, {}, declared);
    }
    std::vector<const Expr*> values;
    std::vector<const Stmt*> parts;
    const std::size_t close = form.kind == Stmt::Kind::for_loop && is("(") ? unit_.counterpart(at_) : 0;
    bool fits = form.kind != Stmt::Kind::opaque;
    for (std::size_t i = 0; fits && i < form.parts.size(); ++i) {
      const char part = form.parts[i];
      if (part == 'p' && is("(")) {
        values.push_back(in_parentheses());
      } else if (part == 'N') {
        values.push_back(is(";") || is(")") ? nullptr : expression());
      } else if (part == 'v' || (part == 'V' && !is(";"))) {
        values.push_back(expression());
      } else if (part == 'c') {
        values.push_back(expression(conditional_rank));
      } else if (part == 's' || part == 'd' || (part == 'S' && !closes()) || (part == 'e' && take("else"))) {
        const Stmt& made = *parts.emplace_back(statement());
        fits = part != 'd' || (!made.has_attributes &&
                               (made.kind == Stmt::Kind::declaration || made.kind == Stmt::Kind::nothing ||
                                made.kind == Stmt::Kind::expression));
      } else if (part == 'n') {
        advance(); // labels have a separate name space
      } else if (std::string_view("VSe").find(part) == std::string_view::npos) {
        fits = take(part == 'w' ? "while" : form.parts.substr(i, 1));
      }
    }
    while (!fits && at_ <= close) {
      look_up();
    }
    return fits ? statement_node(form.kind, begin, values, parts) : opaque_statement(begin);
  }

  // At an opening brace. The scope is the caller's.
  Stmt* block() {
    const std::size_t begin = at_;
    std::vector<const Stmt*> parts;
    in_brackets([&](std::size_t close) {
      while (at_ < close) {
        const std::size_t first = at_;
        parts.push_back(statement());
        if (at_ == first) {
          look_up();
        }
      }
    });
    return statement_node(Stmt::Kind::block, begin, {}, parts);
  }

  // --- Expressions ---

  Expr* in_parentheses() {
    Expr* value = nullptr;
    in_brackets([&](std::size_t) { value = whole(expression(), ""); });
    return value;
  }

  // Precedence climbing: reads operators of at least this rank.
  Expr* expression(int least_rank = comma_rank) {
    const std::size_t begin = at_;
    Expr* left = unary();
    while (!ended()) {
      const int rank = rank_of(tokens_[at_]);
      if (rank < least_rank || rank == 0 || (is_condition_ && rank == assignment_rank)) {
        break;
      }
      const Nested nested(depth_);
      const std::size_t token = advance();
      std::vector<const Expr*> operands{left};
      if (rank == conditional_rank) {
        operands.push_back(expression());
        if (!take(":")) {
          return opaque_rest(begin);
        }
      }
      const bool to_the_right = rank == assignment_rank || rank == conditional_rank;
      operands.push_back(expression(to_the_right ? rank : rank + 1));
      constexpr std::array kinds{Kind::binary, Kind::comma, Kind::assignment, Kind::conditional}; // by rank
      left =
          node(kinds[rank <= conditional_rank ? static_cast<std::size_t>(rank) : 0], begin, token, operands);
    }
    return left;
  }

  Expr* unary() {
    const Nested nested(depth_);
    const std::size_t begin = at_;
    if (too_deep() || ended()) {
      return opaque_rest(begin);
    }
    if (is_one_of(is_condition_ ? "+ - ~ !" : "+ - ~ ! ++ -- & *", text())) {
      const std::size_t token = advance();
      return node(Kind::unary, begin, token, {unary()});
    }
    if (is_one_of("sizeof _Alignof __alignof__ vec_step", text()) && !is_condition_) {
      const std::size_t token = advance();
      if (!is("(") || !starts_type(at_ + 1)) {
        return node(Kind::size, begin, token, {unary()});
      }
      const Type* const of = type_name();
      Expr* const made = node(Kind::size, begin, token, {});
      made->measured = of;
      return made;
    }
    return is("(") && starts_type(at_ + 1) ? cast() : postfix(primary(), begin);
  }

  // From an opening parenthesis past the closing one.
  const Type* type_name() {
    Declarator made;
    const bool complete = in_brackets([&](std::size_t) { made = declarator(specifiers().type); });
    return complete && made.understood && made.name == no_token ? made.type : opaque_;
  }

  Expr* cast() {
    const std::size_t begin = at_;
    const Type* const to = type_name();
    if (is("{")) {
      const Expr* const list = initializer();
      return postfix(node(Kind::compound, begin, begin, {list}, to), begin);
    }
    return node(Kind::cast, begin, begin, {unary()}, to);
  }

  // From an opening parenthesis past the closing one. Returns false for what is no list of values.
  bool arguments(std::vector<const Expr*>& list) {
    return in_brackets([&](std::size_t close) {
      bool more = at_ < close;
      while (more) {
        list.push_back(expression(assignment_rank));
        more = take(",") && at_ < close;
      }
    });
  }

  Expr* postfix(Expr* value, std::size_t begin) {
    while (!ended() && !is_condition_) {
      const std::size_t token = at_;
      std::vector<const Expr*> operands{value};
      if (is("[")) {
        const bool understood = in_brackets([&](std::size_t) { operands.push_back(expression()); });
        value = understood ? node(Kind::subscript, begin, token, operands) : opaque(begin);
      } else if (is("(")) {
        const Expr& callee = *value;
        value = arguments(operands) ? node(Kind::call, begin, token, operands) : opaque(begin);
        if (callee.kind == Kind::name && value->kind == Kind::call) {
          tree_->calls.emplace(callee.token, value);
        }
      } else if ((is(".") || is("->")) && is_word(at_ + 1)) {
        advance();
        const std::size_t member = advance();
        value = node(Kind::member, begin, member, operands);
      } else if (is("++") || is("--")) {
        advance();
        value = node(Kind::postfix, begin, token, operands);
      } else {
        break;
      }
    }
    return value;
  }

  Expr* primary() {
    const std::size_t begin = at_;
    if (is("(") && is(at_ + 1, "{")) { // GNU C allows statements in parentheses
      in_brackets([this](std::size_t) { statement(); });
      return opaque(begin);
    }
    if (is("(")) {
      Expr* const value = in_parentheses();
      value->tokens = since(begin);
      return value;
    }
    switch (tokens_[at_].kind) {
    case TokenKind::number: advance(); return node(Kind::number, begin, begin, {});
    case TokenKind::character: advance(); return node(Kind::text, begin, begin, {}, number_);
    case TokenKind::string:
      if (is_condition_) {
        return opaque_rest(begin);
      }
      while (!ended() && tokens_[at_].kind == TokenKind::string) {
        advance();
      }
      return node(Kind::text, begin, begin, {},
                  pointer_to(type({.kind = Type::Kind::number,
                                   .is_const = true,
                                   .space = AddressSpace::constant,
                                   .name = "char"})));
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
               (!is(at_ + 1, "(") && is_standard_macro(text()))) {
      of = number_;
    }
    look_up();
    return node(Kind::name, begin, begin, {}, of);
  }

  std::size_t depth_ = 0;
  const bool is_condition_;
  std::unordered_map<const Decl*, Record*> records_; // by tag
};

} // namespace

Result<void> parse_tree(TranslationUnit& unit) {
  return TreeParser(unit).run();
}

std::pair<const Expr*, std::size_t> parse_condition(TranslationUnit& unit) {
  return TreeParser(unit, true).condition();
}

} // namespace tidegate::opencl_c
