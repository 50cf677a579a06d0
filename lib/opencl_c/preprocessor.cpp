// Reads lines, carries out their directives, and lets MacroExpander replace macros in the rest.
#include "opencl_c/preprocessor.hpp"

#include "core/files.hpp"
#include "opencl_c/constant_expression.hpp"
#include "opencl_c/lexer.hpp"
#include "opencl_c/macros.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate::opencl_c {
namespace {

// Nested groups of #if ... #endif in a file.

class ConditionStack {
public:
  // True inside a group that is skipped.
  [[nodiscard]] bool is_skipping() const { return !open_.empty() && !open_.back().active; }

  // The directive that opened the innermost group; null outside all groups.
  [[nodiscard]] const Token* innermost() const { return open_.empty() ? nullptr : &open_.back().opening; }

  // Carries out #if, #ifdef, #ifndef, #elif, #else or #endif, given by its name; returns false for any other
  // directive. Calls `evaluate` for the condition only where it matters. Error: kernel_source in the file
  // `path` for a directive without its #if or after #else.
  Result<bool> carry_out(const Token& name, std::string_view path,
                         const std::function<Result<bool>()>& evaluate) {
    if (name.is("if") || name.is("ifdef") || name.is("ifndef")) {
      const bool skipping = is_skipping();
      const auto holds = skipping ? false : evaluate();
      if (!holds) {
        return holds;
      }
      open_.push_back({.opening = name, .taken = skipping || *holds, .active = *holds});
      return true;
    }
    if (!name.is("elif") && !name.is("else") && !name.is("endif")) {
      return false;
    }
    if (open_.empty()) {
      return tl::unexpected(
          source_error(path, name, fmt::format("#{} without #if", name.text), "remove it, or add the #if"));
    }
    Conditional& innermost = open_.back();
    if (name.is("endif")) {
      open_.pop_back();
      return true;
    }
    if (innermost.else_seen) {
      return tl::unexpected(source_error(path, name, fmt::format("#{} after #else", name.text),
                                         "put #else last before #endif"));
    }
    innermost.else_seen = name.is("else");
    innermost.active = false;
    if (!innermost.taken) {
      const auto holds = innermost.else_seen ? true : evaluate();
      if (!holds) {
        return holds;
      }
      innermost.active = innermost.taken = *holds;
    }
    return true;
  }

private:
  struct Conditional {
    Token opening;
    bool taken;  // no further group counts: one did, or all around it are skipped
    bool active; // the current group counts
    bool else_seen = false;
  };

  std::vector<Conditional> open_;
};

// Here "-" is an ordinary file, not standard input.
std::string in_folder(const std::string& folder, const std::string& name) {
  const std::string path = (std::filesystem::path(folder) / name).string();
  return path == standard_stream ? "./-" : path;
}

// One spelling for all lexically equal paths.
std::string identity(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().string();
}

constexpr std::size_t most_open_files = 64;
constexpr std::size_t cost_of_a_file = 4096; // bytes charged by MacroExpander::spend, against many tiny files
constexpr std::size_t most_file_bytes = std::size_t{64} << 20U;

struct OpenFile {
  std::string path, text;
  Lexer lexer;
  std::uint32_t file;           // index into TokenStream::files
  std::uint32_t line_shift = 0; // shift by #line, modulo 2^32
  ConditionStack conditions;

  OpenFile(std::string its_path, std::string its_text, std::uint32_t index)
      : path(std::move(its_path)), text(std::move(its_text)), lexer(text, path), file(index) {}
};

// Text between the quotes of a string literal.
std::string unquoted(std::string_view literal) {
  std::string text;
  literal = literal.substr(literal.find('"') + 1);
  literal.remove_suffix(1);
  for (std::size_t i = 0; i < literal.size(); ++i) {
    if (literal[i] == '\\' && i + 1 < literal.size() && (literal[i + 1] == '"' || literal[i + 1] == '\\')) {
      ++i;
    }
    text += literal[i];
  }
  return text;
}

class Preprocessor {
public:
  explicit Preprocessor(const PreprocessorOptions& options)
      : options_(options), expander_(stream_.files, options.predefined, [this] { return next_line(); }) {}

  Result<TokenStream> run(const std::string& path) {
    TIDEGATE_TRY(auto text, read(path));
    TIDEGATE_CHECK(open(path, std::move(text), {}));
    TIDEGATE_CHECK(apply_definitions());
    while (true) {
      TIDEGATE_TRY(auto token, expander_.next());
      if (!token) {
        stream_.own_macros = own_macros();
        return std::move(stream_);
      }
      TIDEGATE_CHECK(write(std::move(*token)));
    }
  }

private:
  using Line = std::vector<Token>;

  OpenFile& file() { return *open_.back(); }
  tl::unexpected<Error> refused(const Token& at, std::string message, std::string fix) {
    return tl::unexpected(source_error(stream_.files[at.file], at, std::move(message), std::move(fix)));
  }

  // Returns why the tokens depend on the program's own definitions, or nothing. The tokens are compiled without
  // these definitions, which matters if one redefines a macro of the compiler that the tokens leave to the
  // compiler.
  std::string own_macros() {
    if (expander_.overridden().empty()) {
      return {};
    }
    const auto words = [](const std::string& text) {
      std::vector<std::string> found;
      const auto line = Lexer(text, "").next_line();
      for (const Token& token : line.value_or(Line())) {
        found.push_back(token.text);
      }
      return found;
    };
    std::set<std::string_view> left;
    for (const Token& token : stream_.tokens) {
      if (token.kind == TokenKind::identifier) {
        left.insert(token.text);
      }
    }
    for (const std::string& own : expander_.overridden()) {
      const bool by_option = std::ranges::any_of(
          options_.definitions, [&own](const MacroDefinition& definition) { return definition.name == own; });
      if (left.contains(own) || by_option ||
          std::ranges::find(options_.undefinitions, own) != options_.undefinitions.end()) {
        return fmt::format("it defines or undefines {}, which the device's compiler defines, too",
                           in_quotes(own));
      }
      const auto value = words(*options_.predefined->names.at(own));
      for (const std::string_view name : left) {
        const std::string* const text =
            may_be_predefined(name) ? expander_.predefined(std::string(name)) : nullptr;
        const auto other = words(text == nullptr ? "" : *text);
        if (!value.empty() &&
            std::search(other.begin(), other.end(), value.begin(), value.end()) != other.end()) {
          return fmt::format("it redefines {}, and {} of the device's compiler may depend on it",
                             in_quotes(own), in_quotes(name));
        }
      }
    }
    return {};
  }

  Result<void> apply_definitions() {
    for (const MacroDefinition& definition : options_.definitions) {
      const std::string text = "#define " + definition.name + " " + definition.value;
      const std::string source = "-D" + definition.name;
      auto line = Lexer(text, source).next_line();
      auto defined = line ? define(*line, source) : tl::unexpected(std::move(line.error()));
      if (!defined) {
        defined.error().line = defined.error().column = std::nullopt; // no source line contains it
        return defined;
      }
    }
    for (const std::string& name : options_.undefinitions) {
      expander_.undefine(name);
    }
    return {};
  }

  Result<void> define(const Line& line, const std::string& source) {
    TIDEGATE_TRY(auto macro, parse_macro(line, source));
    expander_.define(std::move(macro));
    return {};
  }

  Result<std::string> read(const std::string& path) const {
    return options_.read ? options_.read(path) : read_all(path, most_file_bytes);
  }

  std::uint32_t index_of_file(const std::string& name) {
    const auto [found, added] =
        file_indices_.try_emplace(name, static_cast<std::uint32_t>(stream_.files.size()));
    if (added) {
      stream_.files.push_back(name);
    }
    return found->second;
  }

  Result<void> open(const std::string& path, std::string text, const Token& place) {
    const std::uint32_t index = index_of_file(path);
    TIDEGATE_CHECK(expander_.spend(text.size() + cost_of_a_file, place));
    open_.push_back(std::make_unique<OpenFile>(path, std::move(text), index));
    return {};
  }

  Result<void> close() {
    if (const Token* opening = file().conditions.innermost()) {
      return refused(*opening, fmt::format("#{} has no #endif", opening->text), "close it in the same file");
    }
    open_.pop_back();
    return {};
  }

  // Implements MacroExpander::NextLine; carries out directives on the way.
  Result<std::optional<std::vector<Token>>> next_line() {
    while (!open_.empty()) {
      TIDEGATE_TRY(auto line, file().lexer.next_line());
      for (Token& token : line) {
        token.file = file().file;
        token.line += file().line_shift;
      }
      const bool directive = !line.empty() && line.front().is("#");
      if (!directive && !line.empty() && file().conditions.is_skipping()) {
        continue;
      }
      TIDEGATE_CHECK(line.empty() ? close() : directive ? carry_out(line) : check_literals(line));
      return line;
    }
    return std::nullopt;
  }

  Result<void> check_literals(const Line& line) {
    const auto found = std::ranges::find_if(line, is_unterminated);
    if (found != line.end()) {
      return refused(*found, fmt::format("{} is not closed on its line", in_quotes(found->text)),
                     "add the closing quote");
    }
    return {};
  }

  // Appends a token; _Pragma("...") becomes a pragma at its last token.
  Result<void> write(Token token) {
    std::vector<Token>& tokens = stream_.tokens;
    tokens.push_back(std::move(token));
    if (tokens.size() < 4 || !tokens.back().is(")")) {
      return {};
    }
    const auto call = std::span(tokens).last(4);
    if (!call[0].is("_Pragma") || !call[1].is("(") || call[2].kind != TokenKind::string) {
      return {};
    }
    const std::string text = "#pragma " + unquoted(call[2].text);
    TIDEGATE_TRY(auto line, Lexer(text, stream_.files[call[0].file]).next_line());
    TIDEGATE_TRY(auto whole, pragma(std::move(line), call[0]));
    tokens.resize(tokens.size() - 3);
    tokens.back() = std::move(whole);
    return {};
  }

  // Returns the line of a pragma as one token at `place`. Compilers replace macros after the words that name
  // the pragma, except in pragmas of standards and of GCC.
  Result<Token> pragma(Line line, const Token& place) {
    for (Token& token : line) {
      token.move_to(place);
    }
    const auto is = [&line](std::size_t i, std::string_view word) {
      return i < line.size() && line[i].text == word;
    };
    const bool as_it_is = is(2, "OPENCL") || is(2, "STDC") || is(2, "GCC") || is(2, "push_macro") ||
                          is(2, "pop_macro") || (is(2, "clang") && (is(3, "diagnostic") || is(3, "poison")));
    const std::size_t words = is(2, "clang") || is(2, "omp") ? 4 : 3;
    if (!as_it_is && line.size() > words) {
      TIDEGATE_TRY(auto expanded,
                   expander_.expand({line.begin() + static_cast<std::ptrdiff_t>(words), line.end()}, false));
      line.resize(words);
      line.insert(line.end(), expanded.begin(), expanded.end());
    }
    Token whole = place;
    whole.kind = TokenKind::pragma;
    whole.text = "#" + spelling(std::span(line).subspan(1));
    return whole;
  }

  // Carries out the directive and leaves only text in the line: the token of a pragma, or nothing.
  Result<void> carry_out(Line& line) {
    const Line directive = std::exchange(line, {});
    if (directive.size() == 1) {
      return {};
    }
    const Token& name = directive[1];
    const auto conditional =
        file().conditions.carry_out(name, stream_.files[name.file], [&] { return evaluate(directive); });
    if (!conditional) {
      return tl::unexpected(conditional.error());
    }
    if (*conditional || file().conditions.is_skipping()) {
      return {};
    }
    if (name.is("pragma")) {
      if (directive.size() == 3 && directive[2].is("once")) {
        only_once_.insert(identity(file().path));
      } else {
        TIDEGATE_TRY(auto whole, pragma(directive, directive[0]));
        line.push_back(std::move(whole));
      }
      return {};
    }
    if (name.is("error")) {
      return refused(name, "#error " + spelling(std::span(directive).subspan(2)),
                     "the program refuses these options; change them as it says");
    }
    if (name.is("warning")) {
      return {};
    }
    TIDEGATE_CHECK(check_literals(directive));
    if (name.is("define")) {
      return define(directive, stream_.files[name.file]);
    }
    if (name.is("undef")) {
      TIDEGATE_TRY(const auto macro, macro_name(directive, stream_.files[name.file]));
      expander_.undefine(macro.text);
      return {};
    }
    if (name.is("include")) {
      return include(directive);
    }
    if (name.is("line") || name.kind == TokenKind::number) { // preprocessors write "# 12 "file""
      return set_line(directive);
    }
    return unknown_directive(name);
  }

  tl::unexpected<Error> unknown_directive(const Token& name) {
    constexpr std::array<std::string_view, 13> directives{"define", "elif",  "else",   "endif",   "error",
                                                          "if",     "ifdef", "ifndef", "include", "line",
                                                          "pragma", "undef", "warning"};
    const auto nearest = nearest_name(name.text, directives);
    return refused(name, fmt::format("there is no directive #{}", shortened(name.text)),
                   nearest ? fmt::format("did you mean #{}?", *nearest) : "remove the line");
  }

  // Evaluates the condition of #if, #elif, #ifdef or #ifndef.
  Result<bool> evaluate(const Line& line) {
    const Token& directive = line[1];
    const std::string& path = stream_.files[directive.file];
    if (directive.is("ifdef") || directive.is("ifndef")) {
      TIDEGATE_TRY(const auto name, macro_name(line, path));
      return expander_.is_defined(name.text) == directive.is("ifdef");
    }
    TIDEGATE_TRY(auto expanded, expander_.expand({line.begin() + 2, line.end()}, true));
    const Line tokens = with_includes_answered(std::move(expanded));
    // Only the compiler can expand its macros with arguments and decide where compilers differ.
    bool asks = false;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      asks |= tokens[i].kind == TokenKind::identifier && tokens[i + 1].is("(") &&
              expander_.predefined(tokens[i].text) != nullptr;
    }
    TIDEGATE_TRY(const auto value,
                 asks ? Result<std::optional<bool>>() : evaluate_condition(tokens, directive, path));
    if (value) {
      return *value;
    }
    if (options_.predefined == nullptr) {
      return evaluate_condition_as_clang(tokens, directive, path);
    }
    const auto found = options_.predefined->conditions.find(spelling(tokens));
    if (found == options_.predefined->conditions.end()) {
      options_.predefined->unknown_conditions.insert(spelling(tokens));
      return false;
    }
    if (!found->second) {
      return refused(
          directive, "the device's compiler refuses this condition",
          fmt::format("it is `#if {}`, with the program's own macros replaced", printable(spelling(tokens))));
    }
    return *found->second;
  }

  // Replaces "__has_include(...)" by 1 or 0: the compiler does not know the program's include folders.
  Line with_includes_answered(Line tokens) {
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (!tokens[i].is("__has_include") || !tokens[i + 1].is("(") || !expander_.is_defined(tokens[i].text)) {
        continue;
      }
      const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(i);
      const auto end = std::find_if(begin, tokens.end(), [](const Token& token) { return token.is(")"); });
      std::string name;
      for (auto part = begin + 2; part < end; ++part) {
        name += part->text;
      }
      if (end == tokens.end() || name.size() < 3) {
        continue;
      }
      const std::string file = name.substr(1, name.size() - 2);
      const bool found = std::ranges::any_of(folders_of(name), [&](const std::string& folder) {
        return read(in_folder(folder, file)).has_value();
      });
      tokens[i].kind = TokenKind::number;
      tokens[i].text = found ? "1" : "0";
      tokens.erase(begin + 1, end + 1);
    }
    return tokens;
  }

  Result<void> set_line(const Line& line) {
    const Token& directive = line[1];
    const std::ptrdiff_t first = directive.is("line") ? 2 : 1;
    TIDEGATE_TRY(const auto tokens, expander_.expand({line.begin() + first, line.end()}, false));
    std::uint32_t number = 0;
    const std::string digits = tokens.empty() ? "" : tokens.front().text;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool named = tokens.size() > 1;
    if (failure != std::errc() || end != digits.data() + digits.size() ||
        (named && tokens[1].kind != TokenKind::string)) {
      return refused(directive, "#line needs a number and may name a file",
                     "write it as in #line 12 \"file.cl\"");
    }
    file().line_shift = number - file().lexer.line();
    if (named) {
      file().file = index_of_file(unquoted(tokens[1].text));
    }
    return {};
  }

  // Returns the name with its quotes or angle brackets.
  Result<std::string> included_name(const Line& line) {
    std::vector<Token> tokens(line.begin() + 2, line.end());
    if (tokens.empty() || tokens[0].kind != TokenKind::string) {
      TIDEGATE_TRY(auto expanded, expander_.expand(std::move(tokens), false));
      tokens = std::move(expanded);
    }
    std::string name;
    if (!tokens.empty() && tokens[0].kind == TokenKind::string) {
      name = tokens[0].text;
    } else if (!tokens.empty() && tokens[0].is("<")) {
      const auto end = std::ranges::find_if(tokens, [](const Token& token) { return token.is(">"); });
      name = end == tokens.end() ? "" : spelling({tokens.begin(), end + 1});
    }
    if (name.size() < 3 || name[0] == 'L') {
      return refused(line[1], "#include needs the name of a file", "write it as in #include \"file.cl\"");
    }
    return name;
  }

  // Folders to search for a name in quotes or angle brackets.
  std::vector<std::string> folders_of(const std::string& delimited) {
    std::vector<std::string> folders = options_.include_folders;
    if (delimited.front() == '"') {
      folders.insert(folders.begin(), std::filesystem::path(file().path).parent_path().string());
    }
    return folders;
  }

  Result<void> include(const Line& line) {
    const Token& directive = line[1];
    TIDEGATE_TRY(const auto delimited, included_name(line));
    if (open_.size() == most_open_files) {
      return refused(directive, fmt::format("files include each other more than {} deep", most_open_files),
                     "look for a file that includes itself without an include guard");
    }
    const std::string name = delimited.substr(1, delimited.size() - 2);
    const std::vector<std::string> folders = folders_of(delimited);
    for (const std::string& folder : folders) {
      const std::string path = in_folder(folder, name);
      if (only_once_.contains(identity(path))) {
        return {};
      }
      auto text = read(path);
      if (text) {
        return open(path, std::move(*text), directive);
      }
      if (text.error().code != ErrorCode::cannot_read) {
        Error error = std::move(text.error());
        error.source = stream_.files[directive.file];
        error.line = directive.line;
        error.column = directive.column;
        return tl::unexpected(std::move(error));
      }
    }
    std::vector<std::string> shown;
    for (const std::string& folder : folders) {
      shown.push_back(folder.empty() ? "." : folder);
    }
    return refused(directive, fmt::format("cannot find the file {} to include", in_quotes(name)),
                   folders.empty()
                       ? "name its folder with -I"
                       : fmt::format("looked in {}; name its folder with -I", fmt::join(shown, ", ")));
  }

  const PreprocessorOptions& options_;
  TokenStream stream_;
  std::map<std::string, std::uint32_t> file_indices_;
  MacroExpander expander_;
  std::vector<std::unique_ptr<OpenFile>> open_; // each included by the previous one
  std::set<std::string> only_once_;             // files with #pragma once
};

} // namespace

Result<TokenStream> preprocess(const std::string& path, const PreprocessorOptions& options) {
  return Preprocessor(options).run(path);
}

namespace {

tl::unexpected<Error> refused_options(std::string message, std::string fix) {
  return failure(ErrorCode::kernel_options, std::move(message), std::move(fix));
}

Result<std::vector<std::string>> split_into_words(std::string_view options) {
  constexpr std::string_view separators = " \t\v\f\r\n";
  std::vector<std::string> words;
  bool in_word = false, in_quotation = false;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (!in_quotation && separators.find(options[i]) != std::string_view::npos) {
      in_word = false;
      continue;
    }
    if (!in_word) {
      words.emplace_back();
      in_word = true;
    }
    if (options[i] == '"') {
      in_quotation = !in_quotation;
      continue;
    }
    if (options[i] == '\\' && ++i == options.size()) {
      return refused_options("the compiler options end in a backslash", "write \\\\ for a backslash");
    }
    if (static_cast<unsigned char>(options[i]) < ' ') {
      return refused_options("the compiler options have a control character between quotes", "leave it out");
    }
    words.back() += options[i];
  }
  if (in_quotation) {
    return refused_options(
        fmt::format("a quote is not closed in the compiler options: {}", in_quotes(words.back())),
        "add the closing quote, or write \\\" for a quote");
  }
  return words;
}

} // namespace

Result<CompilerOptions> parse_compiler_options(std::string_view options) {
  TIDEGATE_TRY(const auto words, split_into_words(options));
  constexpr std::string_view standard = "-cl-std=";
  CompilerOptions result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-') {
      return refused_options(fmt::format("{} is not a compiler option", in_quotes(word)),
                             "options begin with -; put quotes around a value with blanks");
    }
    const bool takes_value = word[1] == 'D' || word[1] == 'I' || word[1] == 'U';
    std::string value = takes_value ? word.substr(2) : "";
    if (takes_value && value.empty() && i + 1 < words.size()) {
      value = words[++i];
    }
    if ((takes_value && value.empty()) || word == standard) {
      return refused_options(fmt::format("the compiler option {} needs a value", word),
                             "write it as in -D NAME=VALUE, -I FOLDER, -U NAME or -cl-std=CL1.2");
    }
    if (word[1] == 'D') {
      const std::size_t end = value.find('=');
      const bool has_value = end != std::string::npos;
      result.definitions.push_back(
          {.name = value.substr(0, end), .value = has_value ? value.substr(end + 1) : "1"});
    } else if (word[1] == 'I') {
      result.include_folders.push_back(std::move(value));
    } else if (word[1] == 'U') {
      result.undefinitions.push_back(std::move(value));
    } else if (word.starts_with(standard)) {
      result.language_standard = word.substr(standard.size());
    } else {
      result.others.push_back(word);
    }
  }
  std::ranges::sort(result.others);
  result.others.erase(std::unique(result.others.begin(), result.others.end()), result.others.end());
  return result;
}

} // namespace tidegate::opencl_c
