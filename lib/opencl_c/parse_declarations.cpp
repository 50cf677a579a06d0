// Declarations: types, names with their scopes, functions and their parameters, initial values.
#include "opencl_c/parser.hpp"

namespace tidegate::opencl_c {

Result<void> TreeParser::run() {
  unit_.tree = tree_;
  skip_pragmas();
  while (!ended() && !error_) {
    if (!take(";")) {
      declaration(tree_->file_scope);
    }
  }
  for (const Name& name : unit_.names) {
    if (name.is_file_scope && name.kind != NameKind::member) {
      unit_.file_scope_names.insert(tokens_[name.token].text);
    }
  }
  return error_ ? tl::unexpected(std::move(*error_)) : Result<void>();
}

Condition TreeParser::condition() {
  unit_.tree = tree_;
  const Expr* const value = expression();
  return {.value = value, .stuck = ended() ? stuck_ : std::min(stuck_, at_), .too_deep = too_deep_};
}

void TreeParser::attributes(Attributes& found) {
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

const Type* TreeParser::tagged(std::size_t first) {
  const std::size_t keyword = advance();
  Record::Kind kind = is(keyword, "enum")    ? Record::Kind::enumeration
                      : is(keyword, "union") ? Record::Kind::union_type
                                             : Record::Kind::structure;
  Attributes before;
  attributes(before);
  Record* record = nullptr;
  if (is_word(at_)) {
    const std::string key = "struct " + text(); // all tags share one name space
    const bool declares = is(at_ + 1, "{") || (is(at_ + 1, ";") && first == keyword);
    std::size_t tag = declares ? scopes_.find_innermost(key) : scopes_.find(key);
    if (tag == no_name) {
      tag = declare({.kind = NameKind::tag, .token = at_}, key);
    }
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
    advance();
    while (at_ < close) {
      const std::size_t begin = at_;
      if (kind == Record::Kind::enumeration) {
        enumerator(*record);
      } else if (!take(";")) {
        declaration(record->members, true);
      }
      if (at_ == begin) {
        look_up();
      }
    }
    jump(close + 1);
    record->attributes = before;
    attributes(record->attributes);
    if (kind == Record::Kind::enumeration) {
      evaluate_enumerators(unit_, *record, tree_->enumerators);
    }
  }
  return type({.kind = kind == Record::Kind::enumeration ? Type::Kind::number : Type::Kind::record,
               .record = record});
}

void TreeParser::enumerator(Record& record) {
  if (!is_word(at_)) {
    look_up_until(",");
    take(",");
    return;
  }
  const std::size_t name = advance();
  Attributes unused;
  attributes(unused);
  const Expr* const value = take("=") ? whole(conditional(), ",") : nullptr;
  const std::size_t declared =
      declare({.kind = NameKind::enumerator, .token = name, .type = number_}, tokens_[name].text);
  record.members.push_back(
      remember(name, {.name = declared, .type = number_, .tokens = since(name), .value = value}));
  look_up_until(",");
  take(",");
}

TreeParser::Specifiers TreeParser::specifiers() {
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
  if (found.attributes.packed || !found.attributes.aligned.empty() || found.attributes.other) {
    found.type = attributed(found.type);
  }
  return found;
}

const Type* TreeParser::named_type(const std::vector<std::string_view>& words) {
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

const Type* TreeParser::declarator(const Type* base, Declarator& found) {
  const Deeper deeper(*this);
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

const Type* TreeParser::suffixes(const Type* base, Declarator& found) {
  const Deeper deeper(*this);
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
    Scopes::Closed scope = parameters(list);
    const Type* const result = suffixes(base, found);
    found.list = between;
    found.parameters = std::move(list);
    found.scope = std::move(scope);
    return type({.kind = Type::Kind::function, .inner = result});
  }
  attributes(found.attributes);
  return is("[") || is("(") ? suffixes(base, found) : base;
}

Scopes::Closed TreeParser::parameters(std::vector<const Decl*>& list) {
  const std::size_t close = unit_.counterpart(at_);
  scopes_.open();
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
    std::size_t name = no_name;
    if (made.name != no_name) {
      name = declare({.kind = NameKind::variable,
                      .token = made.name,
                      .specifiers = common.tokens,
                      .declarator = since(made.begin),
                      .type = of},
                     tokens_[made.name].text);
    }
    const bool is_void = name == no_name && of->is(Type::Kind::nothing);
    if (!is_void) {
      list.push_back(remember(made.name, {.name = name, .type = of, .tokens = since(begin)}));
    }
    if (!take(",") && at_ < close) {
      look_up();
    }
  }
  jump(close + 1);
  return scopes_.close();
}

void TreeParser::declaration(std::vector<const Decl*>& declared, bool of_members) {
  const std::size_t begin = at_;
  const bool at_file_scope = scopes_.is_file_scope() && !of_members;
  const Specifiers common = specifiers();
  if (is(";")) {
    if (of_members) {
      declared.push_back(remember(no_name, {.type = common.type, .tokens = common.tokens}));
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
    const bool has_attributes =
        made.attributes.packed || made.attributes.other || !made.attributes.aligned.empty();
    of = has_attributes && common.is_typedef ? attributed(of) : of;
    std::size_t name = no_name;
    if (made.name != no_name) {
      name = declare({.kind = of_members          ? NameKind::member
                              : common.is_typedef ? NameKind::type
                              : is_function       ? NameKind::function
                                                  : NameKind::variable,
                      .token = made.name,
                      .specifiers = common.tokens,
                      .declarator = since(made.begin),
                      .type = of},
                     tokens_[made.name].text);
    }
    Decl decl{.name = name,
              .type = of,
              .is_typedef = common.is_typedef,
              .has_attributes = has_attributes,
              .parameters = kept(made.parameters)};
    if (!of_members && !common.is_typedef && name != no_name) {
      refuse_shared(common, made.name, *of);
    }
    const bool has_body = is("{") && first && is_function && name != no_name;
    const bool is_recorded = at_file_scope && first && is_function && name != no_name && made.list.end != 0;
    if (is_recorded) {
      function(begin, common, made);
    }
    if (has_body) {
      decl.tokens = since(made.begin);
      declared.push_back(remember(made.name, decl));
      scopes_.open();
      for (const auto& [key, index] : made.scope) {
        scopes_.declare(key, index);
      }
      const std::size_t number = unit_.functions.size();
      const Stmt* const body = block();
      tree_->bodies.emplace(made.name, body);
      scopes_.close();
      if (is_recorded) {
        unit_.functions[number - 1].body = body->tokens;
        unit_.functions[number - 1].end = body->tokens.end;
      }
      return;
    }
    if (take("=")) {
      decl.value = whole(initializer(), ",;");
    } else if (of_members && take(":")) {
      decl.is_bit_field = true;
      decl.value = whole(conditional(), ",;");
    } else if (at_file_scope && !is(",") && !is(";")) {
      break;
    } else {
      look_up_until(",;");
    }
    decl.tokens = since(made.begin);
    if (name != no_name && unit_.names[name].token == made.name) {
      unit_.names[name].declarator.end = decl.tokens.end;
    }
    declared.push_back(remember(made.name, decl));
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

void TreeParser::refuse_shared(const Specifiers& common, std::size_t name, const Type& type) {
  const Type* element = &type;
  while (element->is(Type::Kind::array)) {
    element = element->inner;
  }
  // A sampler is constant even without const or constant.
  if (element->space == AddressSpace::constant ||
      (element->is(Type::Kind::handle) && element->name == "sampler_t")) {
    return;
  }
  if (scopes_.is_file_scope() && !type.is(Type::Kind::function)) {
    refuse(
        name, ErrorCode::unsupported_kernel,
        fmt::format("{} is a variable of file scope outside constant memory", in_quotes(tokens_[name].text)),
        fix_of_shared);
  }
  for (std::size_t i = common.tokens.begin; i < common.tokens.end && !scopes_.is_file_scope(); ++i) {
    if ((is(i, "static") || is(i, "extern")) && element->space != AddressSpace::local) {
      refuse_shared(i);
    }
  }
}

void TreeParser::function(std::size_t begin, const Specifiers& common, const Declarator& made) {
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
  found.result = result.is(Type::Kind::pointer) ? "" : name_of(result, common.tokens, no_name);
  std::array<std::uint64_t, 3> size{1, 1, 1};
  const std::vector<const Expr*>& required =
      made.attributes.required_size.empty() ? common.attributes.required_size : made.attributes.required_size;
  bool known = !required.empty() && required.size() <= size.size();
  for (std::size_t i = 0; known && i < required.size(); ++i) {
    const auto value = value_of(unit_, *required[i]);
    known = value.has_value();
    size[i] = static_cast<std::uint64_t>(value.value_or(0));
  }
  found.required_local_size = known ? std::optional(size) : std::nullopt;
  unit_.functions.push_back(std::move(found));
}

Parameter TreeParser::parameter(const Decl& decl) {
  const std::size_t name = decl.name == no_name ? no_name : unit_.names[decl.name].token;
  Parameter made{.name = name == no_name ? "" : tokens_[name].text,
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
  made.type = !integer.empty() ? integer : name_of(*pointee, decl.tokens, name);
  if (is_image_type(made.type)) {
    made.image_access = ImageAccess::read_only;
    for (const Token& token : unit_.tokens(decl.tokens)) {
      made.image_access = image_access(token.text).value_or(*made.image_access);
    }
  }
  return made;
}

std::string TreeParser::name_of(const Type& type, TokenRange declaration, std::size_t declared) const {
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

Expr* TreeParser::initializer() {
  const Deeper deeper(*this);
  const std::size_t begin = at_;
  if (!is("{")) {
    return assignment();
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

const Expr* TreeParser::initializer_part() {
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

Result<void> parse_tree(TranslationUnit& unit) {
  return TreeParser(unit).run();
}

Condition parse_condition(TranslationUnit& unit) {
  return TreeParser(unit, true).condition();
}

} // namespace tidegate::opencl_c
