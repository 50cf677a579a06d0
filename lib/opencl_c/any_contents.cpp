// Decides whether a kernel may run on contents that no run of its program has: what a rank computes next to the rows
// that it needs may mix iterations.
#include "opencl_c/accesses.hpp"
#include "opencl_c/words.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::opencl_c {
namespace {

constexpr std::size_t deepest_call = 8; // functions that call each other end here

template <std::size_t N>
bool any_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

bool assigns(std::string_view word) {
  static constexpr std::array<std::string_view, 13> operators{
      "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"};
  return any_of(word, operators);
}

bool moves_vectors(std::string_view name) {
  return name.starts_with("vload") || name.starts_with("vstore");
}

// Follows data, which is all that memory holds, through the names of a function. Statements are tokens without a tree:
// data is whatever is assigned in a statement that has data.
class DataFlow {
public:
  // `data`: names of parameters that have some.
  DataFlow(const TranslationUnit& unit, const Function& function, std::set<std::string> data,
           std::size_t calls)
      : unit_(unit), tokens_(unit.source.tokens), body_(*function.body), data_(std::move(data)),
        calls_(calls) {}

  // Returns true if data decides no access, no repetition and no divisor.
  bool decides_nothing() {
    for (std::size_t known = data_.size() + 1; known != data_.size();) {
      known = data_.size();
      spread();
    }
    for (std::size_t i = body_.begin + 1; i + 1 < body_.end; ++i) {
      if (!allowed(i)) {
        return false;
      }
    }
    return true;
  }

private:
  [[nodiscard]] std::string_view text(std::size_t i) const { return tokens_[i].text; }
  [[nodiscard]] bool is_name(std::size_t i) const { return tokens_[i].kind == TokenKind::identifier; }
  [[nodiscard]] bool is_type(std::size_t i) const {
    const std::size_t meaning = unit_.meanings[i];
    return is_type_word(text(i)) || is_qualifier(text(i)) ||
           (meaning != no_name && unit_.names[meaning].kind == NameKind::type);
  }

  // Returns the position after the bracket that closes the one at `i`; of other tokens the next one.
  [[nodiscard]] std::size_t past(std::size_t i) const {
    return (tokens_[i].opens() ? unit_.counterparts[i] : i) + 1;
  }
  [[nodiscard]] std::size_t opening(std::size_t i) const { return unit_.counterparts[i]; }

  [[nodiscard]] bool is_call(std::size_t i) const { return is_name(i) && text(i + 1) == "("; }

  [[nodiscard]] std::vector<const Function*> called(std::size_t i) const {
    std::vector<const Function*> found; // several if it is overloaded
    for (const Function& one : unit_.functions) {
      if (is_call(i) && one.name == text(i) && one.body) {
        found.push_back(&one);
      }
    }
    return found;
  }

  // Returns true if an operand ends before `i`, so that * is a product and & no address.
  [[nodiscard]] bool follows_operand(std::size_t i) const {
    static constexpr std::array<std::string_view, 3> statements{"return", "else", "case"};
    static constexpr std::array<std::string_view, 3> heads{"if", "for", "sizeof"};
    const std::size_t before = i - 1;
    if (text(before) != ")") {
      return text(before) == "]" || tokens_[before].kind == TokenKind::number ||
             tokens_[before].kind == TokenKind::character ||
             (is_name(before) && !any_of(text(before), statements));
    }
    const std::size_t open = opening(before);
    bool cast = true;
    for (std::size_t of = open + 1; of < before; ++of) {
      cast = cast && (is_type(of) || text(of) == "*");
    }
    return !cast && !any_of(text(open - 1), heads);
  }

  [[nodiscard]] bool dereferences(std::size_t i) const {
    return text(i) == "*" && text(i + 1) != ")" && !follows_operand(i);
  }

  // Functions that are called here may do so, too.
  [[nodiscard]] bool accesses(std::size_t begin, std::size_t end, std::size_t calls = 0) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (text(i) == "[" || text(i) == "->" || dereferences(i) || (is_call(i) && moves_vectors(text(i)))) {
        return true;
      }
      for (const Function* const function : called(i)) {
        if (calls == deepest_call ||
            accesses(function->body->begin + 1, function->body->end - 1, calls + 1)) {
          return true;
        }
      }
    }
    return false;
  }

  [[nodiscard]] bool has_data(std::size_t begin, std::size_t end) const {
    return accesses(begin, end) ||
           std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(begin),
                       tokens_.begin() + static_cast<std::ptrdiff_t>(end),
                       [this](const Token& token) { return data_.contains(token.text); });
  }

  // Headers of loops count as separate statements.
  void spread() {
    std::size_t begin = body_.begin + 1;
    for (std::size_t i = begin; i < body_.end; ++i) {
      if (text(i) == "for") {
        spread(begin, i);
        begin = past(i + 1);
        spread(i, begin);
        i = begin - 1;
      } else if (text(i) == ";" || text(i) == "{" || text(i) == "}") {
        spread(begin, i);
        begin = i + 1;
      }
    }
  }

  void spread(std::size_t begin, std::size_t end) {
    const bool data = has_data(begin, end);
    for (std::size_t i = begin; i < end; ++i) {
      if (text(i) == "&" && !follows_operand(i)) {
        add_names(i + 1, past(i + 1));                             // others may change it
      } else if (data && assigns(text(i)) && text(i - 1) != "]") { // elements are memory
        std::size_t target = i - 1;
        target = text(target) == ")" ? opening(target) : target;
        while (text(target - 1) == ".") {
          target -= 2;
        }
        add_names(target, i);
        if (text(i) == "++" || text(i) == "--") {
          add_names(i + 1, operand_end(i + 1));
        }
      }
    }
  }

  void add_names(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (is_name(i)) {
        data_.insert(tokens_[i].text);
      }
    }
  }

  // Returns the end of the operand at `i`, casts included.
  [[nodiscard]] std::size_t operand_end(std::size_t i) const {
    while (any_of(text(i), std::array<std::string_view, 4>{"-", "+", "!", "~"})) {
      ++i;
    }
    for (bool more = true; more;) {
      const bool group = tokens_[i].opens();
      i = group ? past(i) : i + 1;
      more = tokens_[i].opens() || text(i) == "." || text(i) == "->" || text(i - 1) == "." ||
             (group && (is_name(i) || tokens_[i].kind == TokenKind::number));
    }
    return i;
  }

  // Returns true unless data before an operator (?, && or ||) decides whether something after it is accessed.
  [[nodiscard]] bool chooses_without_data(std::size_t i) const {
    static constexpr std::array<std::string_view, 5> before_all{"?", ":", ",", ";", "return"};
    std::size_t begin = i;
    while (!tokens_[begin - 1].opens() && text(begin - 1) != "}" && !any_of(text(begin - 1), before_all) &&
           !assigns(text(begin - 1))) {
      begin = tokens_[begin - 1].closes() ? opening(begin - 1) : begin - 1;
    }
    std::size_t end = i + 1;
    while (!tokens_[end].closes() && text(end) != "," && text(end) != ";") {
      end = tokens_[end].opens() ? past(end) : end + 1;
    }
    return !has_data(begin, i) || !accesses(i + 1, end);
  }

  [[nodiscard]] bool loop_is_bounded(std::size_t open) const {
    std::size_t condition = open + 1;
    while (text(condition) != ";") {
      ++condition;
    }
    return text(condition + 1) != ";" && !has_data(open, past(open));
  }

  [[nodiscard]] bool allowed(std::size_t i) const {
    static constexpr std::array<std::string_view, 8> never{"while", "do",    "goto",    "switch",
                                                           "asm",   "__asm", "__asm__", "->"};
    static constexpr std::array<std::string_view, 4> divides{"/", "%", "/=", "%="};
    static constexpr std::array<std::string_view, 3> chooses{"?", "&&", "||"};
    if (any_of(text(i), never)) {
      return false;
    }
    if (text(i) == "if") {
      return !has_data(i + 1, past(i + 1));
    }
    if (text(i) == "for") {
      return loop_is_bounded(i + 1);
    }
    if (text(i) == "[") {
      return text(i - 1) != ")" && !data_.contains(tokens_[i - 1].text) && !has_data(i + 1, past(i) - 1);
    }
    if (any_of(text(i), divides) || dereferences(i)) {
      return !has_data(i + 1, operand_end(i + 1));
    }
    if (any_of(text(i), chooses)) {
      return chooses_without_data(i);
    }
    return !is_call(i) || call_decides_nothing(i);
  }

  [[nodiscard]] bool call_decides_nothing(std::size_t i) const {
    static constexpr std::array<std::string_view, 4> others{"return", "sizeof", "barrier",
                                                            "work_group_barrier"};
    const std::vector<const Function*> functions = called(i);
    if (functions.empty()) {
      const std::size_t first =
          text(i).starts_with("vstore") ? operand_end(i + 2) : i + 2; // what is stored may be data
      return is_type(i) || is_attribute(text(i)) || any_of(text(i), others) ||
             (orders_nothing(text(i)) && (!moves_vectors(text(i)) || !has_data(first, past(i + 1))));
    }
    return calls_ != deepest_call && std::ranges::all_of(functions, [&](const Function* function) {
             return DataFlow(unit_, *function, data_of_call(*function, i + 1), calls_ + 1).decides_nothing();
           });
  }

  // The parameters that get data.
  [[nodiscard]] std::set<std::string> data_of_call(const Function& function, std::size_t open) const {
    std::set<std::string> data;
    const std::size_t end = past(open) - 1;
    std::size_t begin = open + 1;
    for (const Parameter& parameter : function.parameters) {
      std::size_t comma = begin;
      while (comma < end && text(comma) != ",") {
        comma = tokens_[comma].opens() ? past(comma) : comma + 1;
      }
      if (has_data(begin, comma)) {
        data.insert(parameter.name);
      }
      begin = std::min(comma + 1, end);
    }
    return data;
  }

  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  TokenRange body_;
  std::set<std::string> data_; // names
  std::size_t calls_;
};

} // namespace

bool runs_on_any_contents(const TranslationUnit& unit, const Function& kernel) {
  return kernel.body && DataFlow(unit, kernel, {}, 0).decides_nothing();
}

} // namespace tidegate::opencl_c
