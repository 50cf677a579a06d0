// Collects edits to the tokens of each function and writes them out in source order.
#include "opencl_c/outline.hpp"

#include "opencl_c/facts.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::opencl_c {
namespace {

constexpr std::uint32_t most_empty_lines = 4; // for a larger gap a #line directive is shorter

bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_' || c == '.' || c == '$' || byte >= 0x80;
}

constexpr std::string_view item_parameter = "tg_item tg_self";
constexpr std::string_view item_argument = "tg_self";
constexpr std::string_view locals_argument = "tg_locals";

// Functions that reach barriers or use local memory must become part of the kernel: after its optimiser has
// propagated addresses, PoCL 3.1 gives a thread its own local memory only for code in the kernel itself; the
// rest would be shared by all work-groups.
constexpr std::string_view always_inline = "__attribute__((always_inline))";

// Thrown: why a function cannot be outlined.
struct Unfit {
  std::string function;
  Error error;
};

class Outliner {
public:
  // `kernels`: those of the request that have not failed.
  Outliner(const TranslationUnit& unit, const OutlineRequest& request, const std::set<std::string>& kernels)
      : unit_(unit), tokens_(unit.source.tokens), facts_(*unit.facts), request_(request),
        reachable_(facts_.reachable(kernels)), writer_(unit, outlined_.text) {
    for (const Decl* const name : unit.names) {
      const auto found = request.renamed.find(tokens_[name->token].text);
      if (found != request.renamed.end() && name->is_file_scope && name->kind != Decl::Kind::member) {
        new_names_[name->token] = found->second;
      }
    }
  }

  OutlinedUnit run() {
    refuse_unsupported();
    move_constants_out();
    std::size_t at = 0;
    for (const Function& function : unit_.functions) {
      declarations({.begin = at, .end = function.begin});
      if (reachable_.contains(function.name)) {
        write(function);
      }
      at = function.end;
    }
    declarations({.begin = at, .end = tokens_.size()});
    outlined_.text += '\n';
    return std::move(outlined_);
  }

private:
  [[noreturn]] void fail(const std::string& function, std::size_t token, std::string message,
                         std::string fix) const {
    throw Unfit{function,
                error_at(unit_, token, ErrorCode::unsupported_kernel, std::move(message), std::move(fix))};
  }

  void refuse_unsupported() const {
    for (const Function& function : unit_.functions) {
      const auto word = unsupported_word(unit_, {.begin = function.begin, .end = function.end});
      if (word && reachable_.contains(function.name)) {
        fail("", *word,
             fmt::format("{} cannot be carried into a persistent kernel", in_quotes(tokens_[*word].text)),
             fmt::format("write it without: {}", see_unsupported)); // no program of tidegate may have it
      }
    }
  }

  // Keeps out kernels that may use an address in constant memory where a kernel has constant arguments: those first.
  void move_constants_out() {
    std::set<std::string> takers;
    for (const Function& function : unit_.functions) {
      if (function.is_kernel && reachable_.contains(function.name) &&
          std::ranges::any_of(function.parameters, is_constant_pointer)) {
        takers.insert(function.name);
      }
    }
    if (takers.empty()) {
      return;
    }
    constants_ = constants_to_global(unit_);
    const std::set<std::string> reached = facts_.reachable(takers);
    for (const bool by_takers : {true, false}) {
      for (const std::size_t token : constants_.obstacles) {
        const auto in = std::ranges::find_if(unit_.functions, [token](const Function& function) {
          return function.begin <= token && token < function.end;
        });
        const std::string& name = in == unit_.functions.end() ? *takers.begin() : in->name;
        if (reachable_.contains(name) && reached.contains(name) == by_takers) {
          fail(
              name, token,
              "this may use an address in constant memory, and a persistent kernel has its constant arguments in global memory",
              "make the arguments pointers to global const");
        }
      }
    }
  }

  // Writes the declarations between the functions.
  void declarations(TokenRange range) {
    Edits edits;
    rename(range, edits);
    writer_.write(range, edits);
  }

  // Renames file-scope names wherever no inner declaration hides them, and moves pointers to global memory.
  void rename(TokenRange range, Edits& edits) const {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const Decl* const name = unit_.meaning(i);
      const auto renamed = name == nullptr ? new_names_.end() : new_names_.find(name->token);
      if (renamed != new_names_.end() || constants_.words.contains(i)) {
        edits[i].text = renamed != new_names_.end() ? renamed->second : "const global";
      }
    }
  }

  // Adds the tg_item as first argument to each call that needs the position of the work-item.
  void pass_item(const Function& function, Edits& edits) const {
    for (const std::size_t i : facts_.own(function.name).functions) {
      const std::string& name = tokens_[i].text;
      const bool own = unit_.meaning(i) != nullptr;
      const std::size_t open = bracket_of_call(unit_, i);
      // "atomic_int value" and "atomic_int* values" only begin like a function.
      const bool is_type = !own && (unit_.is(i + 1, "*") || tokens_[i + 1].kind == TokenKind::identifier);
      if (i > function.body->begin && open == tokens_.size() && !is_type) {
        fail(function.name, i,
             fmt::format("the function {} is used without a call by its name", in_quotes(name)),
             fmt::format("write {}(…)", name));
      }
      if (i < function.body->begin || open == tokens_.size() ||
          !(own ? takes_item(name) : is_builtin(name, Builtin::Kind::id, Builtin::Kind::barrier))) {
        continue;
      }
      if (!own) {
        const auto call = unit_.tree->calls.find(i);
        if (call != unit_.tree->calls.end()) {
          replace(edits, call->second->operands[0]->tokens); // brackets around the name
        }
        edits[i].text = "tg_" + name;
      }
      edits[open].after = std::string(item_argument) + (tokens_[open + 1].is(")") ? "" : ", ");
    }
  }

  static bool sees_local_memory(const Function& function) {
    return std::ranges::find(function.parameters, AddressSpace::local, &Parameter::space) !=
           function.parameters.end();
  }

  [[nodiscard]] bool takes_item(const std::string& name) const {
    const Function* const function = unit_.definition(name);
    return (function != nullptr && function->is_kernel) || facts_.needs(name).item;
  }

  [[nodiscard]] std::string new_name(const std::string& name) const {
    const auto found = request_.renamed.find(name);
    return found == request_.renamed.end() ? name : found->second;
  }

  void write(const Function& function) {
    if (!function.is_kernel) {
      helper(function);
    } else if (!function.body) { // a prototype, for another kernel that calls it
      Edits edits;
      rename(function.parameter_list, edits);
      writer_.text("\n");
      signature(function, new_name(function.name), edits);
      writer_.text(");");
    } else {
      kernel(function);
    }
  }

  // As far as the parameters go.
  void signature(const Function& function, const std::string& name, const Edits& edits) {
    writer_.text(fmt::format("static void {}({}", name, item_parameter));
    if (!function.parameters.empty()) {
      writer_.text(", ");
      writer_.write(function.parameter_list, edits);
    }
  }

  void helper(const Function& function) {
    Edits edits;
    rename({.begin = function.begin, .end = function.end}, edits);
    if (function.body) {
      pass_item(function, edits);
    }
    if (takes_item(function.name)) {
      const bool is_alone = function.parameters.empty();
      replace(edits, is_alone ? function.parameter_list : TokenRange()); // the word void
      edits[function.parameter_list.begin - 1].after =
          fmt::format("{}{}", item_parameter, is_alone ? "" : ", ");
    }
    if (facts_.needs(function.name).whole_group || sees_local_memory(function)) {
      edits[function.begin].before = fmt::format("{} ", always_inline);
    }
    writer_.write({.begin = function.begin, .end = function.end}, edits);
  }

  void kernel(const Function& function) {
    const std::string name = new_name(function.name);
    Edits edits;
    rename({.begin = function.parameter_list.begin, .end = function.body->end}, edits);
    const std::string prefix = fmt::format("tg_constant{}_{}_", name.size(), name); // unique
    const auto variables = hoist_variables(unit_, function, prefix, edits);
    if (!variables) {
      throw Unfit{function.name, variables.error()};
    }
    const bool is_called = facts_.is_called(function.name, &reachable_);
    const Needs& needs = facts_.needs(function.name);
    OutlinedKernel& outlined = outlined_.kernels[function.name];
    outlined.function = name;
    outlined.rounds = needs.floats && needs.divides;
    outlined.loop_depth = needs.loop_depth;
    outlined.accesses = facts_.accesses(function.name);
    outlined.sub_group_functions = needs.special;
    std::erase_if(outlined.sub_group_functions,
                  [](const std::string& called) { return !is_builtin(called, Builtin::Kind::sub_group); });
    outlined.packs = !needs.more_than_barriers && variables->local_bytes;
    outlined.local_bytes = variables->local_bytes.value_or(0);
    if (write_locals(*variables, function, "tg_locals_" + name)) {
      outlined.locals = "tg_locals_" + name;
    }
    write_variables(*variables, false, "\n");
    outlined.needs_whole_group = needs.whole_group || !outlined.locals.empty() || sees_local_memory(function);

    if (request_.distinct.contains(function.name) && !is_called) {
      add_restrict(function, needs.orders_memory, edits);
    }
    pass_item(function, edits);
    const auto steady = request_.steady.find(function.name);
    if (steady != request_.steady.end() && outlined.needs_whole_group && !is_called) {
      std::string& before = edits[end_of_early_statements(unit_, function, steady->second)].before;
      before = fmt::format("TG_PASS({}) {}", item_argument, before);
      outlined.waits = true;
    }
    writer_.text(fmt::format("\n{} ", always_inline));
    signature(function, name, edits);
    if (!outlined.locals.empty()) {
      writer_.text(fmt::format(", local {}* {}", outlined.locals, locals_argument));
    }
    writer_.text(") ");
    writer_.write(*function.body, edits);
  }

  // "global float* a" becomes "global float* TG_RESTRICT a"; other forms stay unchanged. After a barrier a work-item
  // reads what others have written; with restrict a compiler may keep what it read before (NVIDIA's does).
  void add_restrict(const Function& function, bool orders_memory, Edits& edits) const {
    for (const Parameter& parameter : function.parameters) {
      for (std::size_t i = parameter.tokens.begin + 1; i < parameter.tokens.end; ++i) {
        if ((parameter.is_const || !orders_memory) && parameter.is_pointer &&
            parameter.space == AddressSpace::global && tokens_[i].text == parameter.name &&
            tokens_[i - 1].is("*")) {
          edits[i].before = "TG_RESTRICT " + edits[i].before;
        }
      }
    }
  }

  // Writes a structure of the local variables that the persistent kernel declares; returns false if there are none.
  bool write_locals(const HoistedVariables& variables, const Function& kernel, const std::string& type) {
    const auto& all = variables.declarations;
    const auto first = std::ranges::find(all, true, &HoistedVariable::is_local);
    if (first == all.end()) {
      return false;
    }
    if (facts_.is_called(kernel.name, &reachable_)) {
      fail(kernel.name, first->declaration.begin,
           "this kernel has local variables and is called by another function",
           "pass the local memory as an argument");
    }
    writer_.text("\ntypedef struct {");
    write_variables(variables, true, "");
    writer_.text(fmt::format("}} {};", type));
    return true;
  }

  void write_variables(const HoistedVariables& variables, bool are_local, std::string_view before) {
    for (const HoistedVariable& variable : variables.declarations) {
      if (variable.is_local == are_local) {
        writer_.text(before);
        writer_.write(variable.declaration, variable.edits);
        writer_.text(";");
      }
    }
  }

  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  const Facts& facts_;
  const OutlineRequest& request_;
  const std::set<std::string> reachable_;
  MovedConstants constants_;                     // empty if no kernel takes constant arguments
  std::map<std::size_t, std::string> new_names_; // by declaring token: the renamed names of file scope
  OutlinedUnit outlined_;
  TokenWriter writer_;
};

} // namespace

std::string line_directive(std::uint32_t line, std::string_view path) {
  std::string escaped;
  for (const char c : path) {
    escaped += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c < ' ' && c >= 0 ? '?' : c);
  }
  return fmt::format("#line {} \"{}\"\n", line, escaped);
}

void replace(Edits& edits, TokenRange range, std::string text) {
  for (std::size_t i = range.begin; i < range.end; ++i) {
    edits[i] = {.text = std::exchange(text, "")};
  }
}

void TokenWriter::go_to(const Token& token) {
  const bool near =
      started_ && token.file == file_ && token.line >= line_ && token.line - line_ <= most_empty_lines;
  if (near) {
    out_.append(token.line - line_, '\n');
  } else {
    out_ += "\n" + line_directive(token.line, unit_.source.files[token.file]);
  }
  started_ = true;
  file_ = token.file;
  line_ = token.line;
}

void TokenWriter::text(std::string_view text) {
  if (!out_.empty() && !text.empty() && is_word(out_.back()) && is_word(text.front())) {
    out_ += ' ';
  }
  out_ += text;
  started_ = started_ && text.find('\n') == std::string_view::npos; // the line numbers no longer agree
}

void TokenWriter::write(TokenRange range, const Edits& edits) {
  for (std::size_t i = range.begin; i < range.end; ++i) {
    static const Edit none;
    const Token& token = unit_.source.tokens[i];
    const auto found = edits.find(i);
    const Edit& edit = found == edits.end() ? none : found->second;
    const std::string& written = edit.text ? *edit.text : token.text;
    if (written.empty() && edit.before.empty() && edit.after.empty()) {
      continue;
    }
    const std::size_t length = out_.size();
    if (!started_ || token.file != file_ || token.line != line_) {
      go_to(token);
    }
    if (token.kind == TokenKind::pragma) {
      text(edit.before);
      out_ += (out_.empty() || out_.back() == '\n' ? "" : "\n") + token.text + "\n";
      started_ = false; // the line numbers no longer agree
      continue;
    }
    // A space keeps two tokens apart where they would merge or where the source had one.
    const bool same_line = out_.size() == length;
    const bool punctuators = token.kind == TokenKind::punctuator && i > range.begin &&
                             unit_.source.tokens[i - 1].kind == TokenKind::punctuator &&
                             std::string_view("()[]{};,").find(token.text[0]) == std::string_view::npos;
    // 0x1e and + would form one number, L and 'c' one character.
    const bool joins =
        i > range.begin && ((unit_.source.tokens[i - 1].kind == TokenKind::number &&
                             (token.text[0] == '+' || token.text[0] == '-')) ||
                            token.kind == TokenKind::character || token.kind == TokenKind::string);
    if (same_line && !out_.empty() && out_.back() != ' ' && out_.back() != '\n' &&
        (token.space_before || punctuators || joins)) {
      out_ += ' ';
    }
    text(edit.before);
    text(written);
    text(edit.after);
  }
}

std::string preprocessed_text(const TranslationUnit& unit, const Edits& edits) {
  std::string text;
  TokenWriter(unit, text).write({.begin = 0, .end = unit.source.tokens.size()}, edits);
  return text + '\n';
}

// A list holds everything that early statements may contain: types, variables of the body, values, pointers to memory that no wave
// writes, some functions.
std::size_t end_of_early_statements(const TranslationUnit& unit, const Function& kernel,
                                    const std::set<std::size_t>& steady) {
  // True for a name that leaves nothing, meets no other work-items and reaches no memory that changes.
  const auto is_harmless = [&](std::size_t token) {
    const std::string& text = unit.source.tokens[token].text;
    const Decl* const name = unit.meaning(token);
    if (name == nullptr) {
      return is_builtin(text, Builtin::Kind::id, Builtin::Kind::arithmetic, Builtin::Kind::conversion) ||
             text.starts_with("vload");
    }
    if (name->kind == Decl::Kind::function) { // it has no memory but what the kernel passes
      const Function* const function = unit.definition(text);
      const Needs& needs = unit.facts->needs(text);
      return function != nullptr && !function->is_kernel && !needs.orders_memory && !needs.whole_group;
    }
    const auto parameter = std::ranges::find(kernel.parameters, name, &Parameter::decl);
    if (parameter == kernel.parameters.end()) {
      return true; // a variable of the body, a constant
    }
    const auto index = static_cast<std::size_t>(parameter - kernel.parameters.begin());
    return parameter->is_pointer ? steady.contains(index) && !unit.contains(parameter->tokens, "volatile")
                                 : arithmetic_type(parameter->type).has_value();
  };
  std::size_t end = kernel.body->begin + 1;
  for (const Stmt* const stmt : kernel.statements->parts) {
    bool known = stmt->kind != Stmt::Kind::block;
    each_statement(*stmt, [&](const Stmt& part) {
      using S = Stmt::Kind;
      static constexpr std::array<S, 7> kinds{S::nothing,  S::expression, S::declaration,  S::block,
                                              S::for_loop, S::break_out,  S::continue_loop};
      known = known && !part.has_attributes && std::ranges::find(kinds, part.kind) != kinds.end() &&
              std::ranges::none_of(part.declared,
                                   [](const Decl* decl) { return decl->type->is(Type::Kind::opaque); });
      const auto look_at = [&](const Expr& expr) {
        using E = Expr::Kind;
        known = known && expr.kind != E::opaque && (expr.kind != E::name || is_harmless(expr.token)) &&
                (expr.kind != E::call || expr.operands[0]->kind == E::name) &&
                (expr.kind != E::cast || !expr.type->is(Type::Kind::opaque));
      };
      each_value(part, [&](const Expr& value) { each_expression(value, look_at); });
    });
    if (!known) {
      break;
    }
    end = stmt->tokens.end;
  }
  return end;
}

Result<OutlinedUnit> outline(const TranslationUnit& unit, const OutlineRequest& request) {
  OutlinedUnit outlined;
  const PragmaScope scope = pragma_scope(unit);
  const std::string& obstacle = unit.source.own_macros.empty() ? scope.obstacle : unit.source.own_macros;
  std::set<std::string> open = request.kernels;
  if (!obstacle.empty()) {
    for (const std::string& kernel : std::exchange(open, {})) {
      outlined.fallbacks[kernel] = {
          .code = ErrorCode::unsupported_kernel, .message = obstacle, .fix = "leave it out"};
    }
  }
  while (!open.empty()) {
    try {
      OutlinedUnit written = Outliner(unit, request, open).run();
      outlined.text = written.text + scope.after;
      outlined.kernels = std::move(written.kernels);
      break;
    } catch (Unfit& unfit) {
      const auto left_out = std::erase_if(open, [&](const std::string& kernel) {
        const bool fails = unit.facts->reachable({kernel}).contains(unfit.function);
        if (fails) {
          outlined.fallbacks[kernel] = unfit.error;
        }
        return fails;
      });
      if (left_out == 0) {
        return tl::unexpected(std::move(unfit.error));
      }
    }
  }
  return outlined;
}

} // namespace tidegate::opencl_c
