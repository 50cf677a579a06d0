// Statements and typed expressions.
#include "opencl_c/parser.hpp"

namespace tidegate::opencl_c {

namespace {

constexpr std::array<std::string_view, 11> assignments{
    "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|="};

} // namespace

const Stmt* TreeParser::block() {
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

const Stmt* TreeParser::statement() {
  const Deeper deeper(*this);
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

const Stmt* TreeParser::statement_after_attributes(std::size_t begin) {
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
      values.push_back(conditional());
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

const Expr* TreeParser::in_parentheses() {
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

const Stmt* TreeParser::for_loop(std::size_t begin) {
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

Expr* TreeParser::expression() {
  const std::size_t begin = at_;
  Expr* value = assignment();
  while (is(",")) {
    const std::size_t token = advance();
    const Expr* const next = assignment();
    value = node(Kind::comma, begin, token, next->type, {value, next});
  }
  return value;
}

Expr* TreeParser::assignment() {
  const Deeper deeper(*this);
  const std::size_t begin = at_;
  if (too_deep()) {
    return opaque_rest(begin);
  }
  Expr* const target = conditional();
  if (ended() || std::ranges::find(assignments, text()) == assignments.end()) {
    return target;
  }
  const std::size_t token = advance();
  const Expr* const value = assignment();
  return node(Kind::assignment, begin, token, target->type, {target, value});
}

Expr* TreeParser::conditional() {
  const std::size_t begin = at_;
  Expr* const value = binary(1);
  if (!is("?")) {
    return value;
  }
  const Deeper deeper(*this);
  const std::size_t token = advance();
  const Expr* const yes = too_deep() ? opaque_rest(at_) : expression();
  if (!take(":")) {
    return opaque_rest(begin);
  }
  const Expr* const no = conditional();
  return node(Kind::conditional, begin, token, either(yes->type, no->type), {value, yes, no});
}

Expr* TreeParser::binary(int least_rank) {
  const std::size_t begin = at_;
  Expr* left = unary();
  while (!ended() && tokens_[at_].kind == TokenKind::punctuator) {
    const int rank = binary_rank(text());
    if (rank < least_rank || rank == 0) {
      break;
    }
    const std::size_t token = advance();
    const Expr* const right = binary(rank + 1);
    left = node(Kind::binary, begin, token, combined(token, left->type, right->type), {left, right});
  }
  return left;
}

const Type* TreeParser::either(const Type* yes, const Type* no) {
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

const Type* TreeParser::combined(std::size_t token, const Type* left, const Type* right) {
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

Expr* TreeParser::unary() {
  static constexpr std::array<std::string_view, 8> operators{"++", "--", "&", "*", "+", "-", "~", "!"};
  static constexpr std::array<std::string_view, 4> sizes{"sizeof", "_Alignof", "__alignof__", "vec_step"};
  const Deeper deeper(*this);
  const std::size_t begin = at_;
  if (too_deep() || ended()) {
    return opaque_rest(begin);
  }
  if (tokens_[at_].kind == TokenKind::punctuator && std::ranges::find(operators, text()) != operators.end()) {
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

const Type* TreeParser::of_unary(std::size_t token, const Type* of) {
  if (is(token, "&")) {
    return pointer_to(of);
  }
  if (is(token, "*")) {
    const Type* const pointer = value_type(of);
    return pointer->is(Type::Kind::pointer) ? pointer->inner : opaque_;
  }
  return is(token, "!") && !of->is(Type::Kind::vector) ? number_ : of;
}

const Type* TreeParser::type_name() {
  const std::size_t close = unit_.counterpart(at_);
  advance();
  const Specifiers common = specifiers();
  const Declarator made = declarator(common.type);
  const bool understood = skip_to(close) && made.understood && made.name == no_name;
  advance();
  return understood ? made.type : opaque_;
}

Expr* TreeParser::cast() {
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

bool TreeParser::arguments(std::vector<const Expr*>& list) {
  const std::size_t close = unit_.counterpart(at_);
  bool understood = true;
  advance();
  while (at_ < close) {
    const std::size_t begin = at_;
    if (starts_type(at_)) {
      look_up_until(",");
      list.push_back(opaque(begin));
    } else {
      list.push_back(assignment());
    }
    understood &= take(",") || skip_to(close);
  }
  advance();
  return understood;
}

Expr* TreeParser::postfix(Expr* value, std::size_t begin) {
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
      const Type* const object = arrow ? of_unary_star(value->type) : value->type;
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

const Type* TreeParser::of_subscript(const Type* array, const Type* index) {
  array = value_type(array);
  index = value_type(index);
  if (array->is_arithmetic() && index->is(Type::Kind::pointer)) {
    std::swap(array, index);
  }
  return array->is(Type::Kind::pointer) ? array->inner
         : array->is_arithmetic()       ? qualified(number_, array->is_const, false, array->space)
                                        : opaque_;
}

const Type* TreeParser::of_member(const Type* object, const std::string& name) {
  if (object->is_arithmetic() && object->record == nullptr) {
    return qualified(number_, object->is_const, object->is_volatile, object->space);
  }
  const Type* const member = object->is(Type::Kind::record) ? member_type(*object->record, name, 0) : nullptr;
  return member == nullptr ? opaque_
                           : qualified(member, object->is_const, object->is_volatile, object->space);
}

const Type* TreeParser::member_type(const Record& record, const std::string& name, int depth) const {
  constexpr int deepest = 16;
  for (const Decl* const member : record.members) {
    if (member->name != no_name && tokens_[unit_.names[member->name].token].text == name) {
      return member->type;
    }
    if (member->name == no_name && member->type->is(Type::Kind::record) && depth < deepest) {
      if (const Type* const inner = member_type(*member->type->record, name, depth + 1)) {
        return inner;
      }
    }
  }
  return nullptr;
}

Expr* TreeParser::primary() {
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
  const Name* const name = visible(at_);
  if (name != nullptr && (name->kind == NameKind::type || name->kind == NameKind::tag)) {
    return opaque_rest(begin);
  }
  const Type* of = opaque_;
  if (name != nullptr) {
    of = name->type == nullptr ? opaque_ : name->type;
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

} // namespace tidegate::opencl_c
