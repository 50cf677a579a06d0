// Walks over statements and declarations, and keeps the scopes.
#include "opencl_c/translation_unit.hpp"
#include "opencl_c/words.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tidegate::opencl_c {
namespace {

// Nested scopes of C (C99 6.2.1), the file's outermost. Names are indices into TranslationUnit::names.
class Scopes {
public:
  void open() { opened_.emplace_back(); }

  void close() {
    for (const std::string& key : opened_.back()) {
      visible_[key].pop_back();
    }
    opened_.pop_back();
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

// Walks over declarations and statements. An explicit stack holds the open constructs, so deep nesting uses
// memory instead of the call stack.
class NameResolver {
public:
  explicit NameResolver(TranslationUnit& unit) : unit_(unit), tokens_(unit.source.tokens) {
    unit.names.clear();
    unit.meanings.assign(tokens_.size(), no_name);
  }

  void run() {
    frames_.push_back({.in = In::block});
    while (!ended()) {
      step();
    }
    for (const Name& name : unit_.names) {
      if (name.is_file_scope && name.kind != NameKind::member) {
        unit_.file_scope_names.insert(tokens_[name.token].text);
      }
    }
  }

private:
  enum class In : std::uint8_t {
    block,        // statements; the first one is the file
    condition,    // of if: its condition is next, then its statement
    loop,         // of for, likewise; it is a scope
    do_statement, // the statement after do
    substatement, // of while, switch and else
    members,
    enumerators,
    brackets,
    expression, // ends at a semicolon
    case_label, // ends at a colon
    declaration,
    parameters,
  };
  enum class Part : std::uint8_t { specifiers, declarator, value };

  // One entry of the walk's stack: a construct that is open around the current token.
  struct Frame {
    In in = In::block;
    bool has_scope = false; // a scope that ends with it
    // For declarations, parameters and enumerators:
    Part part = Part::specifiers;
    bool is_typedef = false;
    bool is_member = false;
    bool has_type = false;           // a word of the specifiers names one
    std::size_t open = 0;            // open parentheses of the declarator; open ? of a case label
    TokenRange specifiers;           // shared by the declarators that follow
    std::size_t declarator = 0;      // its first token
    std::optional<std::size_t> name; // token of the declarator's name
    bool is_declared = false;        // the name has been declared
    std::size_t declared = no_name;  // index of the name if that was new
  };

  [[nodiscard]] bool ended() const { return at_ >= tokens_.size(); }
  [[nodiscard]] const Token& token() const { return tokens_[at_]; }
  [[nodiscard]] bool is(std::size_t i, const char* text) const { return unit_.is(i, text); }
  [[nodiscard]] bool is_word(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == TokenKind::identifier;
  }
  [[nodiscard]] bool is_attribute(std::size_t i) const {
    return is_word(i) && opencl_c::is_attribute(tokens_[i].text);
  }
  [[nodiscard]] bool opens() const { return token().opens(); }
  [[nodiscard]] bool closes() const { return token().closes(); }
  [[nodiscard]] bool starts_tag() const {
    return token().is("struct") || token().is("union") || token().is("enum");
  }

  // Passes a token of an expression and records what it names.
  void use() {
    if (is_word(at_) && !unit_.is_member(at_)) {
      unit_.meanings[at_] = scopes_.find(token().text);
    }
    ++at_;
  }

  // "__attribute__((aligned(size)))": words inside the third parentheses are expressions, the others belong
  // to the attribute.
  void attribute() {
    std::size_t depth = 0;
    ++at_;
    if (!is(at_, "(")) {
      return;
    }
    do {
      depth += opens() ? 1U : 0U;
      depth -= closes() ? 1U : 0U;
      if (depth > 2) {
        use();
      } else {
        ++at_;
      }
    } while (depth > 0 && !ended());
  }

  // Declares a name that the innermost scope may already have; returns its index if it is new.
  std::size_t declare(const Name& name, const std::string& key) {
    const std::size_t found = name.kind == NameKind::member ? no_name : scopes_.find_innermost(key);
    if (found != no_name) {
      unit_.meanings[name.token] = found;
      return no_name;
    }
    const std::size_t number = unit_.names.size();
    unit_.names.push_back(name);
    unit_.names.back().is_file_scope = scopes_.is_file_scope();
    unit_.names.back().statement = statement_;
    unit_.meanings[name.token] = number;
    if (name.kind != NameKind::member) {
      scopes_.declare(key, number);
    }
    return number;
  }

  // Passes a tag, which may be declared already.
  void tag(bool declares) {
    const std::string key = "struct " + token().text; // all tags share one name space
    const std::size_t found = declares ? scopes_.find_innermost(key) : scopes_.find(key);
    if (found == no_name) {
      declare({.kind = NameKind::tag, .token = at_}, key);
    } else {
      unit_.meanings[at_] = found;
    }
    ++at_;
  }

  Frame& frame() { return frames_.back(); }

  void step() {
    if (token().kind == TokenKind::pragma) {
      ++at_;
      return;
    }
    switch (frame().in) {
    case In::members: member(); break;
    case In::enumerators: enumerator(); break;
    case In::brackets:
    case In::expression:
    case In::case_label: expression(); break;
    case In::declaration:
    case In::parameters: declaration(); break;
    default: statement();
    }
  }

  void push(In in) { frames_.push_back({.in = in, .specifiers = {.begin = at_, .end = at_}}); }

  void pop() {
    if (frame().has_scope) {
      scopes_.close();
    }
    frames_.pop_back();
  }

  void open_block() {
    push(In::block);
    scopes_.open();
    frame().has_scope = true;
    ++at_;
  }

  // At a closing bracket: ends the constructs inside it that have no end token.
  void close_bracket() {
    const auto has_bracket = [](In in) {
      return in == In::block || in == In::members || in == In::enumerators || in == In::brackets ||
             in == In::parameters;
    };
    while (frames_.size() > 1 && !has_bracket(frame().in)) {
      pop();
    }
    ++at_;
    if (frames_.size() == 1) {
      return;
    }
    const In closed = frame().in;
    if (closed == In::parameters) { // parameters are visible in the function's body
      frames_.pop_back();
      frame().has_scope = true;
      return;
    }
    pop();
    if (closed == In::block) {
      complete();
    }
  }

  // After a statement: ends the enclosing statements of which it was the last part.
  void complete() {
    while (frame().in == In::condition || frame().in == In::loop || frame().in == In::substatement) {
      if (frame().in == In::condition && is(at_, "else")) {
        frame().in = In::substatement;
        ++at_;
        return;
      }
      pop();
    }
    if (frame().in == In::do_statement) { // "while (…);" comes next and reads as a separate loop
      pop();
    }
  }

  void statement() {
    statement_ = std::exchange(follows_attribute_, false) ? statement_ : at_;
    if (closes()) {
      close_bracket();
    } else if (token().is(";")) {
      ++at_;
      complete();
    } else if (frames_.size() == 1) {
      push(In::declaration);
    } else if (token().is("{")) {
      open_block();
    } else if (is_attribute(at_)) { // attributes of the loop or declaration that follows
      attribute();
      follows_attribute_ = true;
    } else if (!keyword()) {
      push(is_declaration() ? In::declaration : In::expression);
    }
  }

  // Reads the keyword or label that starts a statement; returns false if there is none.
  bool keyword() {
    const std::string& word = token().text;
    if (word == "if") {
      head(In::condition);
    } else if (word == "while" || word == "switch") {
      head(In::substatement);
    } else if (word == "for") {
      scopes_.open();
      head(In::loop);
      frames_[frames_.size() - 2].has_scope = true;
      if (is_declaration()) {
        push(In::declaration);
      }
    } else if (word == "do") {
      push(In::do_statement);
      ++at_;
    } else if (word == "case") {
      push(In::case_label);
      ++at_;
    } else if (word == "goto" || (is_word(at_) && is(at_ + 1, ":"))) { // labels have a separate name space
      at_ += 2;
    } else {
      return false;
    }
    return true;
  }

  // Reads a keyword; its condition in parentheses may follow.
  void head(In in) {
    push(in);
    if (is(++at_, "(") || in == In::loop) {
      push(In::brackets);
      ++at_;
    }
  }

  // True if a declaration starts here. An undeclared word may be a type that only the compiler knows.
  [[nodiscard]] bool is_declaration() const {
    if (!is_word(at_)) {
      return false;
    }
    const std::string& word = token().text;
    if (word == "asm" || word == "__asm__" || word == "__asm") { // "asm volatile (…)" declares nothing
      return false;
    }
    if (word == "typedef" || is_qualifier(word) || is_type_word(word)) {
      return true;
    }
    const std::size_t found = scopes_.find(word);
    if (found != no_name) {
      return unit_.names[found].kind == NameKind::type;
    }
    std::size_t next = at_ + 1;
    while (is(next, "*")) {
      ++next;
    }
    return word != "return" && word != "sizeof" && is_word(next);
  }

  // At struct, union or enum: declares or finds the tag and enters the braces.
  void tagged_type() {
    const std::size_t keyword = at_;
    const bool is_enum = token().is("enum");
    ++at_;
    while (is_attribute(at_)) {
      attribute();
    }
    if (is_word(at_)) {
      tag(is(at_ + 1, "{") || (is(at_ + 1, ";") && frame().specifiers.begin == keyword));
    }
    if (is(at_, "{")) {
      push(is_enum ? In::enumerators : In::members);
      ++at_;
    }
  }

  void member() {
    if (closes()) {
      close_bracket();
    } else if (token().is(";")) {
      ++at_;
    } else {
      push(In::declaration);
      frame().is_member = true;
    }
  }

  // An enumerator is declared after its value (C99 6.2.1).
  void enumerator() {
    if (frame().name && (closes() || token().is(","))) {
      const std::size_t name = *frame().name;
      declare({.kind = NameKind::enumerator, .token = name}, tokens_[name].text);
      frame().name.reset();
    } else if (token().is(",")) {
      frame().part = Part::declarator;
      ++at_;
    } else if (frame().part != Part::value && is_word(at_) && !is_attribute(at_)) {
      frame().name = at_++;
      frame().part = Part::value;
    } else {
      expression();
    }
  }

  void expression() {
    if (closes()) {
      close_bracket();
    } else if (opens()) {
      // GNU C allows statements in parentheses.
      if (token().is("{") && is(at_ - 1, "(")) {
        open_block();
      } else {
        push(In::brackets);
        ++at_;
      }
    } else if (frame().in == In::expression && token().is(";")) {
      pop();
      ++at_;
      complete();
    } else if (frame().in == In::case_label && (token().is("?") || token().is(":"))) {
      case_colon();
    } else if (starts_tag()) {
      tagged_type();
    } else if (is_attribute(at_)) {
      attribute();
    } else {
      use();
    }
  }

  void case_colon() {
    if (token().is("?")) {
      ++frame().open;
    } else if (frame().open > 0) {
      --frame().open;
    } else {
      pop();
    }
    ++at_;
  }

  void declaration() {
    if (is_attribute(at_)) {
      attribute();
    } else if (frame().part == Part::specifiers) {
      specifier();
    } else if (frame().part == Part::value && !token().is(",") && !token().is(";")) {
      expression();
    } else {
      declarator();
    }
  }

  void specifier() {
    const std::string& word = token().text;
    if (starts_tag()) {
      frame().has_type = true;
      tagged_type();
      return;
    }
    const bool another_word = is_word(at_ + 1) && !is_attribute(at_ + 1);
    if (is_word(at_) && (word == "typedef" || is_qualifier(word))) {
      frame().is_typedef |= word == "typedef";
      ++at_;
    } else if (is_word(at_) && (is_type_word(word) || !frame().has_type || another_word)) {
      frame().has_type = true;
      use();
    } else {
      frame().part = Part::declarator;
      frame().specifiers.end = at_;
      frame().declarator = at_;
    }
  }

  void declarator() {
    const bool named = frame().name.has_value();
    if (token().is(",")) {
      end_declarator();
      frame().declarator = ++at_;
      frame().part = Part::declarator;
      if (frame().in == In::parameters) { // each parameter has its own specifiers
        frames_.pop_back();
        push(In::parameters);
      }
    } else if (token().is(";")) {
      end_declarator();
      pop();
      ++at_;
      complete();
    } else if (token().is("(") && !named) {
      ++frame().open; // parentheses around the name
      ++at_;
    } else if (token().is(")") && frame().open > 0) {
      --frame().open;
      ++at_;
    } else if (token().is("(")) {
      declare_name(NameKind::function);
      scopes_.open();
      push(In::parameters);
      frame().specifiers.begin = ++at_;
    } else if (token().is("[")) {
      push(In::brackets);
      ++at_;
    } else if (token().is("{")) { // a function's body, in the scope of its parameters
      const bool has_scope = frame().has_scope;
      frames_.pop_back();
      push(In::block);
      frame().has_scope = has_scope;
      ++at_;
    } else if (closes()) {
      end_declarator();
      close_bracket();
    } else if (token().is("=") || token().is(":")) {
      declare_name(NameKind::variable);
      frame().part = Part::value;
      ++at_;
    } else {
      if (is_word(at_) && !is_qualifier(token().text) && !named) {
        frame().name = at_;
      }
      ++at_;
    }
  }

  // Declares the name after its declarator and before its value, where its scope begins.
  void declare_name(NameKind kind) {
    if (!frame().name || frame().is_declared) {
      return;
    }
    const Frame declared = frame();
    if (declared.is_member) {
      kind = NameKind::member;
    } else if (declared.is_typedef) {
      kind = NameKind::type;
    }
    frame().is_declared = true;
    frame().declared = declare({.kind = kind,
                                .token = *declared.name,
                                .specifiers = declared.specifiers,
                                .declarator = {.begin = declared.declarator, .end = *declared.name + 1}},
                               tokens_[*declared.name].text);
  }

  // Ends the declarator after its value.
  void end_declarator() {
    declare_name(NameKind::variable);
    if (frame().declared != no_name) {
      unit_.names[frame().declared].declarator.end = at_;
    }
    if (frame().has_scope) { // the scope of a prototype's parameters
      scopes_.close();
    }
    frame().has_scope = false;
    frame().name.reset();
    frame().is_declared = false;
    frame().declared = no_name;
  }

  TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  Scopes scopes_;
  std::size_t at_ = 0;
  std::size_t statement_ = 0; // first token of the declaration that the token is part of
  std::vector<Frame> frames_;
  bool follows_attribute_ = false; // a statement that starts after its attributes
};

} // namespace

void resolve_names(TranslationUnit& unit) {
  NameResolver(unit).run();
}

} // namespace tidegate::opencl_c
