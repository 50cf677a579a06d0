// Reads files line by line, carries out their directives and replaces macros in the rest.
//
// A stack holds the texts that are still to be read: a line, on it the result of a macro, on that the result of a macro in
// there. A macro is disabled while its result is on the stack, so a call may begin in a result and end after it; a name that
// is read while its macro is disabled stays for ever (as in GCC).
//
//   #define f(x) x * g
//   #define g f            f(2)(9)     result of f: 2 * g    read up to g
//                                      result of g: f        f is read while it is disabled, so it stays
#include "opencl_c/preprocessor.hpp"

#include "core/files.hpp"
#include "opencl_c/lexer.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <iomanip>

namespace tidegate::opencl_c {
namespace {

using Line = std::vector<Token>;

struct Macro {
  bool is_built_in = false; // __LINE__, __FILE__ or __COUNTER__
  bool is_function = false;
  std::vector<std::string> parameters;
  bool variadic = false; // the last parameter takes all remaining arguments
  bool disabled = false; // its result is being read
  Line body;

  // The parameter that this token of the body names.
  [[nodiscard]] std::optional<std::size_t> parameter(std::size_t i) const {
    const auto found = i < body.size() ? std::ranges::find(parameters, body[i].text) : parameters.end();
    return found == parameters.end() ? std::nullopt
                                     : std::optional(static_cast<std::size_t>(found - parameters.begin()));
  }
  [[nodiscard]] bool is(std::size_t i, const char* text) const { return i < body.size() && body[i].is(text); }
};

using SharedMacro = std::shared_ptr<Macro>;

struct Argument {
  Line tokens;
  std::optional<Line> expanded;
  bool omitted = false; // a missing variadic argument, which differs from an empty one
};

// A text that is being read. Tokens without letters keep the blanks where nothing remains of a macro.
struct Text {
  Line rest;         // the next token last
  SharedMacro macro; // whose result it is; or null
};

// A group of #if ... #endif.
struct Conditional {
  Token opening;
  bool taken = false;  // no further part counts: one did, or all around it are skipped
  bool active = false; // the current part counts
  bool else_seen = false;
};

struct OpenFile {
  std::string path;
  Lexer lexer;
  std::uint32_t file;           // index into TokenStream::files
  std::uint32_t line_shift = 0; // shift by #line, modulo 2^32
  std::vector<Conditional> groups;

  [[nodiscard]] bool is_skipping() const { return !groups.empty() && !groups.back().active; }
};

constexpr std::size_t most_open_files = 64;
constexpr std::size_t cost_of_a_file = 4096;                // bytes charged for each, against many tiny files
constexpr std::size_t most_bytes = std::size_t{256} << 20U; // of text and tokens: macros can double them
constexpr std::size_t most_depth = 256;                     // nested calls in arguments, which recurse

// The text between quotes.
std::string with_escapes(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  }
  return result;
}

Token stringized(const Argument& argument) {
  Token result{.kind = TokenKind::string, .text = "\""};
  for (const Token& token : argument.tokens) {
    const bool literal = token.kind == TokenKind::string || token.kind == TokenKind::character;
    result.text += token.space_before && result.text.size() > 1 ? " " : "";
    result.text += literal ? with_escapes(token.text) : token.text;
  }
  // A single trailing backslash would escape the closing quote.
  const std::size_t last = result.text.find_last_not_of('\\');
  if ((result.text.size() - last) % 2 == 0) {
    result.text.pop_back();
  }
  result.text += '"';
  return result;
}

class Preprocessor {
public:
  explicit Preprocessor(const PreprocessorOptions& options) : options_(options) {
    for (const char* const name : {"__LINE__", "__FILE__", "__COUNTER__"}) {
      macros_.emplace(name, std::make_shared<Macro>(Macro{.is_built_in = true}));
    }
  }

  TokenStream run(const std::string& path) {
    open(path, taken(options_.read(path)), {});
    apply_definitions();
    while (auto token = scan()) {
      left_to_compiler_ = token->is("_Pragma") ? token->text : left_to_compiler_;
      stream_.tokens.push_back(std::move(*token));
    }
    stream_.own_macros = own_macros();
    return std::move(stream_);
  }

private:
  OpenFile& file() { return open_.back(); }

  template <class T>
  static T taken(Result<T> result) {
    if (!result) {
      throw std::move(result.error());
    }
    return std::move(*result);
  }

  [[noreturn]] void refuse(const Token& at, std::string message, std::string fix) const {
    throw source_error(stream_.files[at.file], at, std::move(message), std::move(fix));
  }

  void spend(std::size_t bytes, const Token& place) {
    if (bytes > bytes_left_) {
      refuse(place, "the program takes more than 256 MiB with its macros replaced",
             "look for macros that repeat each other, or files that include each other");
    }
    bytes_left_ -= bytes;
  }

  // Returns why the tokens depend on the program's own definitions, or nothing. The tokens are compiled without
  // these definitions, which matters if one redefines a macro of the compiler that the tokens leave to the
  // compiler.
  std::string own_macros() {
    if (!left_to_compiler_.empty()) {
      return fmt::format("it uses \"{}\", which only the device's compiler replaces", left_to_compiler_);
    }
    const auto spaced = [](const std::string& text) {
      return fmt::format(" {} ", fmt::join(words_in(text), " "));
    };
    for (const auto& [own, macro] : macros_) {
      const bool is_own = may_be_predefined(own) && (macro == nullptr || !macro->is_built_in);
      const std::string* const replaced = is_own ? of_compiler(own) : nullptr;
      if (replaced == nullptr) {
        continue;
      }
      const std::string value = spaced(*replaced);
      auto left = identifiers(stream_); // and what the options define or undefine
      left.insert(options_.undefinitions.begin(), options_.undefinitions.end());
      for (const MacroDefinition& definition : options_.definitions) {
        left.insert(definition.name);
      }
      if (left.contains(own)) {
        return fmt::format("it defines or undefines {}, which the device's compiler defines, too",
                           in_quotes(own));
      }
      for (const std::string& name : left) {
        const std::string* const text = may_be_predefined(name) ? predefined(name) : nullptr;
        if (text != nullptr && value.size() > 2 && spaced(*text).find(value) != std::string::npos) {
          return fmt::format("it redefines {}, and {} of the device's compiler may depend on it",
                             in_quotes(own), in_quotes(name));
        }
      }
    }
    return {};
  }

  void apply_definitions() {
    for (const MacroDefinition& definition : options_.definitions) {
      try {
        const std::string text = "#define " + definition.name + " " + definition.value;
        define(taken(Lexer(text, "").next_line()));
      } catch (Error& error) {
        error.source = "-D" + definition.name;
        error.line = error.column = std::nullopt; // no source line contains it
        throw;
      }
    }
    for (const std::string& name : options_.undefinitions) {
      macros_[name] = nullptr;
    }
  }

  // --- Files and lines ---

  std::uint32_t index_of_file(const std::string& name) {
    const auto index = std::ranges::find(stream_.files, name) - stream_.files.begin();
    if (index == std::ssize(stream_.files)) {
      stream_.files.push_back(name);
    }
    return static_cast<std::uint32_t>(index);
  }

  void open(const std::string& path, std::string_view text, const Token& place) {
    const std::uint32_t index = index_of_file(path);
    spend(text.size() + cost_of_a_file, place);
    open_.push_back({.path = path, .lexer = Lexer(text, path), .file = index});
  }

  // Returns the next line of the text; an empty line for a directive or the end of a file; nothing at the end
  // of the text.
  std::optional<Line> next_line() {
    while (!open_.empty()) {
      Line line = taken(file().lexer.next_line());
      for (Token& token : line) {
        token.file = file().file;
        token.line += file().line_shift;
      }
      if (line.empty()) {
        if (!file().groups.empty()) {
          const Token& opening = file().groups.back().opening;
          refuse(opening, fmt::format("#{} has no #endif", opening.text), "close it in the same file");
        }
        open_.pop_back();
      } else if (line.front().is("#")) {
        line = carry_out(line);
      } else if (file().is_skipping()) {
        continue;
      } else {
        check_literals(line);
      }
      return line;
    }
    return std::nullopt;
  }

  void check_literals(const Line& line) const {
    const auto found = std::ranges::find_if(line, is_unterminated);
    if (found != line.end()) {
      const bool trigraph = found->text.find("?\?") != std::string::npos;
      refuse(*found,
             fmt::format("{} {}", in_quotes(found->text),
                         trigraph ? "has a trigraph" : "is not closed on its line"),
             trigraph ? "write the character that it stands for" : "add the closing quote");
    }
  }

  // --- Directives ---

  // Returns only text of the line: the token of a pragma, or nothing.
  Line carry_out(const Line& line) {
    if (line.size() == 1) {
      return {};
    }
    const Token& name = line[1];
    std::vector<Conditional>& groups = file().groups;
    const bool skips = file().is_skipping();
    if (is_one_of("if ifdef ifndef", name.text)) {
      const bool holds = !skips && evaluate(line);
      groups.push_back({.opening = name, .taken = skips || holds, .active = holds});
    } else if (is_one_of("elif else endif", name.text)) {
      if (groups.empty()) {
        refuse(name, fmt::format("#{} without #if", name.text), "remove it, or add the #if");
      }
      Conditional& group = groups.back();
      if (name.is("endif")) {
        groups.pop_back();
        return {};
      }
      if (group.else_seen) {
        refuse(name, fmt::format("#{} after #else", name.text), "put #else last before #endif");
      }
      group.else_seen = name.is("else");
      group.active = !group.taken && (group.else_seen || evaluate(line));
      group.taken |= group.active;
    } else if (skips || name.is("warning")) {
      return {};
    } else if (name.is("pragma")) {
      if (line.size() != 3 || !line[2].is("once")) {
        return {pragma(line)};
      }
      only_once_.insert(std::filesystem::path(file().path).lexically_normal());
    } else if (name.is("error")) {
      refuse(name, "#error " + spelling(std::span(line).subspan(2)),
             "the program refuses these options; change them as it says");
    } else {
      check_literals(line);
      if (name.is("define")) {
        define(line);
      } else if (name.is("undef")) {
        macros_[macro_name(line).text] = nullptr;
      } else if (name.is("include")) {
        include(line);
      } else if (name.is("line") || name.kind == TokenKind::number) { // preprocessors write "# 12 "file""
        set_line(line);
      } else {
        refuse(name, fmt::format("there is no directive #{}", shortened(name.text)), "remove the line");
      }
    }
    return {};
  }

  // Returns the line of a pragma as one token. Compilers replace macros after the words that name the pragma, except in
  // pragmas of standards and of GCC.
  Token pragma(Line line) {
    const auto word = [&line](std::size_t i) { return i < line.size() ? line[i].text : std::string(); };
    const bool is_clang = word(2) == "clang";
    const bool as_it_is = is_one_of("OPENCL STDC GCC push_macro pop_macro", word(2)) ||
                          (is_clang && is_one_of("diagnostic poison", word(3)));
    const std::size_t words = is_clang || word(2) == "omp" ? 4 : 3;
    if (!as_it_is && line.size() > words) {
      const Line expanded = expand(std::span(line).subspan(words));
      line.resize(words);
      line.insert(line.end(), expanded.begin(), expanded.end());
    }
    Token whole = line[0];
    whole.kind = TokenKind::pragma;
    whole.text = "#" + spelling(std::span(line).subspan(1));
    return whole;
  }

  // Evaluates the condition of #if, #elif, #ifdef or #ifndef.
  bool evaluate(const Line& line) {
    const Token& directive = line[1];
    if (directive.is("ifdef") || directive.is("ifndef")) {
      return is_defined(macro_name(line).text) == directive.is("ifdef");
    }
    in_condition_ = true;
    const Line tokens = expand(std::span(line).subspan(2));
    in_condition_ = false;
    // Only the compiler can expand its macros with arguments and decide where compilers differ.
    bool asks = false;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      asks |= tokens[i].kind == TokenKind::identifier && tokens[i + 1].is("(") &&
              predefined(tokens[i].text) != nullptr;
    }
    const std::string& path = stream_.files[directive.file];
    const bool has_compiler = options_.predefined != nullptr;
    auto value = asks ? std::nullopt : taken(evaluate_condition(tokens, directive, path, !has_compiler));
    if (value) {
      return *value;
    }
    const std::string text = spelling(tokens);
    if (has_compiler) {
      const auto answer = options_.predefined->conditions.find(text);
      if (answer == options_.predefined->conditions.end()) {
        options_.predefined->unknown_conditions.insert(text);
        return false;
      }
      value = answer->second;
    }
    if (!value) {
      refuse(directive,
             has_compiler ? "the device's compiler refuses this condition"
                          : "compilers may differ in the value of this condition",
             fmt::format("it is `#if {}`, with the program's own macros replaced", printable(text)));
    }
    return *value;
  }

  void set_line(const Line& line) {
    const Line tokens = expand(std::span(line).subspan(line[1].is("line") ? 2 : 1));
    const auto number = number_in<std::uint32_t>(tokens.empty() ? "" : tokens[0].text);
    const bool named = tokens.size() > 1;
    if (!number || (named && tokens[1].kind != TokenKind::string)) {
      refuse(line[1], "#line needs a number and may name a file", "write it as in #line 12 \"file.cl\"");
    }
    file().line_shift = *number - file().lexer.line();
    if (named) {
      std::string name;
      std::istringstream(tokens[1].text) >> std::quoted(name);
      file().file = index_of_file(name);
    }
  }

  void include(const Line& line) {
    const Token& directive = line[1];
    Line tokens(line.begin() + 2, line.end());
    if (tokens.empty() || tokens[0].kind != TokenKind::string) {
      tokens = expand(tokens);
    }
    const bool is_named = !tokens.empty() && tokens[0].kind == TokenKind::string;
    const std::string delimited = is_named ? tokens[0].text : ""; // with its quotes or brackets
    if (delimited.size() < 3 || delimited[0] == 'L') {
      refuse(directive, "#include needs the name of a file", "write it as in #include \"file.cl\"");
    }
    if (open_.size() == most_open_files) {
      refuse(directive, fmt::format("files include each other more than {} deep", most_open_files),
             "look for a file that includes itself without an include guard");
    }
    const std::string name = delimited.substr(1, delimited.size() - 2);
    std::vector<std::string> folders = options_.include_folders;
    if (delimited.front() == '"') {
      folders.insert(folders.begin(), std::filesystem::path(file().path).parent_path().string());
    }
    for (std::string& folder : folders) {
      std::string path = (std::filesystem::path(folder) / name).string();
      path = path == standard_stream ? "./-" : path; // an ordinary file
      if (only_once_.contains(std::filesystem::path(path).lexically_normal())) {
        return;
      }
      if (auto text = options_.read(path)) {
        return open(path, *text, directive);
      } else if (text.error().code != ErrorCode::cannot_read) {
        Error error = std::move(text.error());
        error.source = stream_.files[directive.file];
        error.line = directive.line;
        error.column = directive.column;
        throw error;
      }
      folder = folder.empty() ? "." : folder;
    }
    refuse(directive, fmt::format("cannot find the file {} to include", in_quotes(name)),
           folders.empty() ? "name its folder with -I"
                           : fmt::format("looked in {}; name its folder with -I", fmt::join(folders, ", ")));
  }

  // --- Definitions ---

  // The name after #define, #undef, #ifdef or #ifndef.
  [[nodiscard]] const Token& macro_name(const Line& line) const {
    if (line.size() < 3 || line[2].kind != TokenKind::identifier || line[2].is("defined")) {
      refuse(line[line.size() < 3 ? 1 : 2], fmt::format("#{} needs the name of a macro", line[1].text),
             "put a name after it that is not \"defined\"");
    }
    return line[2];
  }

  void define(const Line& line) {
    const Token& name = macro_name(line);
    Macro macro;
    std::size_t at = 3;
    if (at < line.size() && line[at].is("(") && !line[at].space_before) {
      macro.is_function = true;
      at = read_parameters(line, macro);
    }
    macro.body.assign(line.begin() + static_cast<std::ptrdiff_t>(at), line.end());
    for (std::size_t i = 0; i < macro.body.size(); ++i) {
      const bool pastes = macro.is(i, "##");
      const bool quotes = macro.is_function && macro.is(i, "#");
      has_operators_ |= pastes || quotes;
      if (pastes && (i == 0 || i + 1 == macro.body.size())) {
        refuse(macro.body[i], "## has nothing to join on one side", "put it between two tokens of the macro");
      }
      if (quotes && !macro.parameter(i + 1)) {
        refuse(macro.body[i], "# is not followed by a parameter of the macro", "name a parameter after it");
      }
    }
    macros_.insert_or_assign(name.text, std::make_shared<Macro>(std::move(macro)));
  }

  // Reads "(a, b, ...)" and returns the place after it.
  std::size_t read_parameters(const Line& line, Macro& macro) const {
    const auto is = [&line](std::size_t i, const char* text) { return i < line.size() && line[i].is(text); };
    std::size_t at = 4;
    for (bool more = !is(at, ")"); more; at += more ? 1 : 0) {
      const bool named = at < line.size() && line[at].kind == TokenKind::identifier;
      const std::string name = named ? line[at].text : "__VA_ARGS__";
      const bool fits = (named && !is(at, "__VA_ARGS__")) || is(at, "...");
      const bool is_new = std::ranges::find(macro.parameters, name) == macro.parameters.end();
      macro.parameters.push_back(name);
      at += named && fits && is_new ? 1 : 0;
      macro.variadic = is(at, "..."); // GNU extension: a name before it is that of all remaining arguments
      at += macro.variadic ? 1 : 0;
      more = !macro.variadic && is(at, ",");
      if (!fits || !is_new || !(more || is(at, ")"))) {
        refuse(line[at < line.size() ? at : 2],
               fmt::format("the parameters of macro {} are no list of names", in_quotes(line[2].text)),
               "write them as in NAME(a, b, ...)");
      }
    }
    return at + 1;
  }

  bool is_defined(const std::string& name) {
    const auto found = macros_.find(name);
    return found == macros_.end() ? predefined(name) != nullptr : found->second != nullptr;
  }

  // Replacement of a macro that the compiler predefines, unless the program defined or undefined it; null if none is known.
  const std::string* predefined(const std::string& name) {
    return macros_.contains(name) ? nullptr : of_compiler(name);
  }

  // The same whatever the program does. The compiler does not know the program's folders.
  const std::string* of_compiler(const std::string& name) {
    if (options_.predefined == nullptr || name == "__has_include") {
      return nullptr;
    }
    const auto found = options_.predefined->names.find(name);
    if (found == options_.predefined->names.end()) {
      options_.predefined->unknown_names.insert(name);
      return nullptr;
    }
    return found->second ? &*found->second : nullptr;
  }

  // --- Expansion ---

  // Returns the next token without expansion; none at the end of what may be read now.
  std::optional<Token> next(bool past_directives = true) {
    bool space = false;
    while (true) {
      if (texts_.size() == floor_) {
        auto line = floor_ == 0 ? next_line() : std::nullopt;
        if (!line || (line->empty() && !past_directives)) {
          return std::nullopt;
        }
        push(std::move(*line));
      } else if (Text& text = texts_.back(); text.rest.empty()) {
        if (text.macro != nullptr) {
          text.macro->disabled = false;
        }
        texts_.pop_back();
      } else {
        Token token = std::move(text.rest.back());
        text.rest.pop_back();
        space |= token.space_before;
        if (!token.text.empty()) {
          token.space_before = space;
          return token;
        }
      }
    }
  }

  void push(Line tokens, SharedMacro macro = nullptr) {
    std::ranges::reverse(tokens);
    if (macro != nullptr) {
      macro->disabled = true;
    }
    texts_.push_back({.rest = std::move(tokens), .macro = std::move(macro)});
  }

  // The macro that a name calls if it is not disabled; null for none.
  SharedMacro called(Token& name) {
    const auto found = name.kind == TokenKind::identifier ? macros_.find(name.text) : macros_.end();
    const SharedMacro macro = found == macros_.end() ? nullptr : found->second;
    name.stays |= macro != nullptr && macro->disabled;
    return name.stays ? nullptr : macro;
  }

  // Returns the next token that no macro replaces, at the position of the outermost call. Predefined macros stay in the
  // text if the compiler may replace them.
  std::optional<Token> scan() {
    while (auto token = next()) {
      const SharedMacro macro = called(*token);
      const bool replaced = macro != nullptr ? enter(macro, *token) : enter_predefined(*token);
      if (!replaced) {
        return token;
      }
    }
    return std::nullopt;
  }

  // Pushes the replacement of a predefined macro where it matters before compilation: in conditions; in
  // arguments of # and ##; and for version, extension and feature macros, since the generated kernel may be
  // compiled with other options.
  bool enter_predefined(const Token& name) {
    const auto begins = [&name](std::string_view prefix) { return name.text.starts_with(prefix); };
    const bool keyword = is_qualifier(name.text) || is_attribute(name.text) || begins("__builtin_");
    const bool depends_on_options = !keyword && (begins("__") || begins("cl_") || begins("CL_"));
    if (name.kind != TokenKind::identifier || name.stays || name.is("defined") ||
        !(in_condition_ || (depth_ > 0 && has_operators_) || depends_on_options)) {
      return false;
    }
    const std::string* const text = predefined(name.text);
    if (text == nullptr || *text == name.text) {
      return false;
    }
    Line tokens = taken(Lexer(*text, "the device's compiler").next_line());
    const bool number = tokens.size() == 1 && tokens.front().kind == TokenKind::number;
    if (!in_condition_ && depth_ == 0 && !number) {
      return false;
    }
    spend(text->size() + sizeof(Token) * tokens.size(), name);
    for (Token& token : tokens) {
      token.move_to(name);
      token.stays = true;
    }
    if (!tokens.empty()) {
      tokens.front().space_before = name.space_before;
    }
    push(std::move(tokens));
    return true;
  }

  // Pushes the result of a macro; returns false if the name is not a call and stays.
  bool enter(const SharedMacro& macro, const Token& name) {
    std::vector<Argument> arguments;
    if (macro->is_function) {
      auto open = next(false); // a directive between the name and the parenthesis means no call
      if (!open || !open->is("(")) {
        push(open ? Line{std::move(*open)} : Line());
        return false;
      }
      arguments = read_arguments(*macro, name);
    }
    push(macro->is_built_in ? Line{built_in(name)} : substituted(*macro, arguments, name), macro);
    return true;
  }

  Token built_in(Token name) {
    const bool is_file = name.is("__FILE__");
    name.kind = is_file ? TokenKind::string : TokenKind::number;
    name.text = is_file ? fmt::format("\"{}\"", with_escapes(stream_.files[name.file]))
                        : fmt::format("{}", name.is("__LINE__") ? name.line : counter_++);
    return name;
  }

  // Reads up to the closing parenthesis.
  std::vector<Argument> read_arguments(const Macro& macro, const Token& name) {
    const std::size_t wanted = macro.parameters.size();
    std::vector<Argument> arguments(1);
    for (std::size_t open = 1; open > 0;) {
      auto token = next();
      if (!token) {
        refuse(name, fmt::format("the call of macro {} does not end", in_quotes(name.text)),
               "close its parentheses");
      }
      called(*token);
      open += token->is("(") ? 1 : 0;
      open -= token->is(")") ? 1 : 0;
      if (open == 1 && token->is(",") && !(macro.variadic && arguments.size() == wanted)) {
        arguments.emplace_back();
      } else if (open > 0) {
        arguments.back().tokens.push_back(std::move(*token));
      }
    }
    if (wanted == 0 && arguments.size() == 1 && arguments[0].tokens.empty()) {
      arguments.clear();
    }
    const std::size_t given = arguments.size();
    if (macro.variadic && (given + 1 == wanted || (wanted == 1 && arguments[0].tokens.empty()))) {
      arguments.resize(wanted);
      arguments.back().omitted = true;
    }
    if (arguments.size() != wanted) {
      refuse(name,
             fmt::format("macro {} takes {}, but {} given", in_quotes(name.text), plural(wanted, "argument"),
                         given == 1 ? "1 is" : fmt::format("{} are", given)),
             "pass one argument for each parameter");
    }
    return arguments;
  }

  // Puts the arguments into the body and applies # and ## (C99 6.10.3.1 to 6.10.3.3). A token without letters stands where
  // nothing remains of an argument.
  Line substituted(const Macro& macro, std::vector<Argument>& arguments, const Token& name) {
    Line result;
    for (std::size_t i = 0; i < macro.body.size(); ++i) {
      const bool space_before = macro.body[i].space_before;
      const bool joins = macro.is(i, "##");
      i += joins ? 1 : 0;
      const bool quotes = macro.is_function && macro.is(i, "#");
      i += quotes ? 1 : 0;
      left_to_compiler_ = macro.is(i, "__VA_OPT__") ? macro.body[i].text : left_to_compiler_;
      const auto parameter = macro.parameter(i);
      Argument* const argument = parameter ? &arguments[*parameter] : nullptr;
      Line operand = argument == nullptr              ? Line{macro.body[i]}
                     : quotes                         ? Line{stringized(*argument)}
                     : joins || macro.is(i + 1, "##") ? argument->tokens
                                                      : expanded(*argument, name);
      if (operand.empty()) {
        operand.push_back({.kind = TokenKind::punctuator, .text = ""});
      }
      for (Token& token : operand) {
        spend(sizeof(token) + token.text.size(), name);
        token.move_to(name);
      }
      if (!joins) {
        operand.front().space_before = space_before;
      } else if (!(macro.variadic && parameter == macro.parameters.size() - 1 && result.back().is(","))) {
        operand.front() = joined(result.back(), operand.front(), name);
        result.pop_back();
      } else if (argument->omitted) { // GNU extension: ", ## __VA_ARGS__" drops the comma, and never joins
        result.pop_back();
      }
      std::ranges::move(operand, std::back_inserter(result));
    }
    if (result.empty()) {
      result.push_back({.kind = TokenKind::punctuator, .text = ""});
    }
    result.front().space_before = name.space_before;
    return result;
  }

  Token joined(const Token& left, const Token& right, const Token& place) const {
    Token whole = left.text.empty() ? right : left;
    if (!left.text.empty() && !right.text.empty()) {
      const std::string text = left.text + right.text;
      auto line = Lexer(text, "").next_line();
      if (!line || line->size() != 1 || line->front().text.size() != text.size()) {
        refuse(place,
               fmt::format("## joins {} and {} into something that is not a token", in_quotes(left.text),
                           in_quotes(right.text)),
               "leave the ## out, or join parts of one name, number or operator");
      }
      whole = std::move(line->front());
      whole.move_to(place);
    }
    whole.space_before = left.space_before;
    return whole;
  }

  // Expands the argument as if it were the whole text.
  const Line& expanded(Argument& argument, const Token& name) {
    if (!argument.expanded) {
      if (depth_ == most_depth) {
        refuse(name, fmt::format("macro calls in arguments are nested more than {} deep", most_depth),
               "nest them less deeply");
      }
      ++depth_;
      argument.expanded = expand(argument.tokens);
      --depth_;
    }
    return *argument.expanded;
  }

  // Expands tokens alone; in conditions "defined NAME" and "defined(NAME)" become 1 or 0.
  Line expand(std::span<const Token> tokens) {
    texts_.emplace_back(); // the floor of what is read now
    const std::size_t floor = std::exchange(floor_, texts_.size());
    push({tokens.begin(), tokens.end()});
    Line result;
    while (auto token = scan()) {
      if (in_condition_ && depth_ == 0 && token->is("defined")) {
        answer_defined(*token);
      }
      result.push_back(std::move(*token));
    }
    floor_ = floor;
    texts_.pop_back();
    return result;
  }

  // Reads NAME or (NAME) after "defined".
  void answer_defined(Token& defined) {
    auto name = next();
    const bool enclosed = name && name->is("(");
    name = enclosed ? next() : name;
    const auto end = enclosed ? next() : name;
    if (!name || name->kind != TokenKind::identifier || !end || (enclosed && !end->is(")"))) {
      refuse(defined, "\"defined\" needs the name of a macro", "write defined(NAME) or defined NAME");
    }
    defined.kind = TokenKind::number;
    defined.text = is_defined(name->text) ? "1" : "0";
  }

  const PreprocessorOptions& options_;
  TokenStream stream_;
  std::vector<OpenFile> open_;                // each included by the previous one
  std::set<std::filesystem::path> only_once_; // files with #pragma once
  std::map<std::string, SharedMacro> macros_; // null for an undefined one
  std::string left_to_compiler_;              // what it may replace by another text; or empty
  bool in_condition_ = false;
  bool has_operators_ = false; // # and ## see how an argument is replaced
  std::vector<Text> texts_;    // to be read, the innermost last
  std::size_t floor_ = 0;      // what is below is not to be read now; 0 for the files
  std::size_t depth_ = 0;      // of arguments
  std::size_t bytes_left_ = most_bytes;
  std::size_t counter_ = 0;
};

} // namespace

Result<TokenStream> preprocess(const std::string& path, const PreprocessorOptions& options) {
  try {
    return Preprocessor(options).run(path);
  } catch (Error& error) {
    return tl::unexpected(std::move(error));
  }
}

} // namespace tidegate::opencl_c
