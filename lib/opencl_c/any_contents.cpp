// Whether a kernel may run on contents that no run of its program has: what a rank computes next to the rows that it needs
// may mix iterations.
#include "opencl_c/accesses.hpp"
#include "opencl_c/words.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::opencl_c {
namespace {

constexpr std::size_t deepest_call = 8; // functions that call each other end here

template <std::size_t N>
bool one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

bool assigns(const Token& token) {
  static constexpr std::array<std::string_view, 13> operators{
      "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"};
  return one_of(token.text, operators);
}

// Data flows through a function in tokens, without types: what it cannot follow counts as data.
class DataFlow {
public:
  DataFlow(const TranslationUnit& unit, const Function& function, std::set<std::string> data,
           std::size_t calls)
      : unit_(unit), tokens_(unit.source.tokens), body_(*function.body), data_(std::move(data)),
        calls_(calls) {}

  // Returns true if data decides no address, no repetition and no divisor.
  bool decides_nothing() {
    for (std::size_t before = 0, after = 1; before != after;) { // until nothing is added
      before = data_.size() + (data_decides_ ? 1 : 0);
      spread();
      after = data_.size() + (data_decides_ ? 1 : 0);
    }
    for (std::size_t i = body_.begin; i < body_.end; ++i) {
      if (!allowed(i)) {
        return false;
      }
    }
    return true;
  }

private:
  [[nodiscard]] std::string_view text(std::size_t i) const {
    return i < body_.end ? std::string_view(tokens_[i].text) : "";
  }
  [[nodiscard]] bool is_name(std::size_t i) const {
    return i < body_.end && tokens_[i].kind == TokenKind::identifier;
  }

  // The token after the bracket that closes the one at `i`.
  [[nodiscard]] std::size_t past(std::size_t i) const {
    std::size_t depth = 0;
    for (; i < body_.end; ++i) {
      depth += tokens_[i].opens() ? 1 : 0;
      depth -= tokens_[i].closes() ? 1 : 0;
      if (depth == 0) {
        return i + 1;
      }
    }
    return i;
  }

  [[nodiscard]] const Function* called(std::size_t i) const {
    if (!is_name(i) || text(i + 1) != "(") {
      return nullptr;
    }
    const auto found = std::ranges::find_if(
        unit_.functions, [&](const Function& one) { return one.name == tokens_[i].text && one.body; });
    return found == unit_.functions.end() ? nullptr : &*found;
  }

  // Built-in functions that read memory or change it.
  [[nodiscard]] bool uses_memory(std::size_t i) const {
    static constexpr std::array<std::string_view, 10> beginnings{
        "vload", "vstore", "atom",  "async_",      "prefetch",
        "read_", "write_", "wait_", "work_group_", "sub_group_"};
    return is_name(i) && text(i + 1) == "(" &&
           std::ranges::any_of(beginnings,
                               [&](std::string_view beginning) { return text(i).starts_with(beginning); });
  }

  // A * that is no product: what comes before it is no operand. Casts to pointers and declarations have operands before it.
  [[nodiscard]] bool dereferences(std::size_t i) const {
    return text(i) == "*" && text(i + 1) != ")" && !is_name(i - 1) &&
           tokens_[i - 1].kind != TokenKind::number &&
           !one_of(text(i - 1), std::array<std::string_view, 2>{")", "]"});
  }

  [[nodiscard]] bool has_data(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < std::min(end, body_.end); ++i) {
      if (data_.contains(tokens_[i].text) || text(i) == "[" || text(i) == "->" || dereferences(i) ||
          uses_memory(i) || called(i) != nullptr) {
        return true;
      }
    }
    return false;
  }

  // Makes data of what is assigned in a statement with data and, where data decides about statements, of all that is
  // assigned without being declared. Headers of loops are statements of their own.
  void spread() {
    std::size_t begin = body_.begin;
    for (std::size_t i = body_.begin; i < body_.end; ++i) {
      if (text(i) == "for") {
        spread(begin, i);
        begin = past(i + 1);
        spread(i, begin);
        i = begin - 1;
      } else if (one_of(text(i), std::array<std::string_view, 3>{";", "{", "}"})) {
        spread(begin, i);
        begin = i + 1;
      }
    }
  }

  void spread(std::size_t begin, std::size_t end) {
    const bool data = has_data(begin, end);
    const bool header = text(begin) == "for";
    const bool declares =
        is_name(begin) && (is_name(begin + 1) || text(begin + 1) == "*") && text(begin) != "else";
    for (std::size_t i = begin; i < end; ++i) {
      const bool asks = text(i) == "if" || text(i) == "switch";
      data_decides_ = data_decides_ || (asks && has_data(i + 1, past(i + 1)));
      const bool operand =
          is_name(i - 1) || tokens_[i - 1].kind == TokenKind::number || tokens_[i - 1].closes();
      if (text(i) == "&" && is_name(i + 1) && !operand) {
        data_.insert(tokens_[i + 1].text); // its address is taken
      }
      const bool steps = text(i - 1) == "++" || text(i - 1) == "--";
      if (!is_name(i) || !(assigns(tokens_[i + 1]) || steps)) {
        continue;
      }
      if (data || (data_decides_ && !header && !declares)) {
        data_.insert(tokens_[i].text);
        for (std::size_t of = i; text(of - 1) == "." && is_name(of - 2); of -= 2) {
          data_.insert(tokens_[of - 2].text);
        }
      }
    }
  }

  // The end of the operand at `i`, casts included.
  [[nodiscard]] std::size_t operand_end(std::size_t i) const {
    while (one_of(text(i), std::array<std::string_view, 4>{"-", "+", "!", "~"})) {
      ++i;
    }
    while (i < body_.end) {
      const bool group = tokens_[i].opens();
      i = group ? past(i) : i + 1;
      const bool more = tokens_[i].opens() || text(i) == "." || text(i) == "->" || text(i - 1) == "." ||
                        (group && (is_name(i) || tokens_[i].kind == TokenKind::number));
      if (!more) {
        break;
      }
    }
    return i;
  }

  [[nodiscard]] bool allowed(std::size_t i) {
    static constexpr std::array<std::string_view, 7> never{"while", "do",      "goto", "asm",
                                                           "__asm", "__asm__", "->"};
    static constexpr std::array<std::string_view, 4> divides{"/", "%", "/=", "%="};
    if (one_of(text(i), never) || text(i).starts_with("async_")) {
      return false;
    }
    if (text(i) == "for") {
      return !has_data(i + 1, past(i + 1));
    }
    if (text(i) == "[") {
      return !has_data(i + 1, past(i) - 1) && !data_.contains(tokens_[i - 1].text) && text(i - 1) != ")";
    }
    if (dereferences(i)) {
      return !has_data(i + 1, operand_end(i + 1));
    }
    if (one_of(text(i), divides)) {
      return !has_data(i + 1, operand_end(i + 1));
    }
    if (data_decides_ && is_collective(text(i))) { // not all work-items may come to it
      return false;
    }
    if (uses_memory(i)) {
      return !has_data(i + 2, past(i + 1));
    }
    const Function* const function = called(i);
    return function == nullptr || call_decides_nothing(*function, i + 1);
  }

  [[nodiscard]] bool call_decides_nothing(const Function& function, std::size_t open) {
    if (calls_ == deepest_call) {
      return false;
    }
    std::set<std::string> data;
    std::size_t parameter = 0;
    const std::size_t end = past(open) - 1;
    for (std::size_t begin = open + 1; begin < end; ++parameter) {
      std::size_t comma = begin;
      while (comma < end && text(comma) != ",") {
        comma = tokens_[comma].opens() ? past(comma) : comma + 1;
      }
      if (has_data(begin, comma) && parameter < function.parameters.size()) {
        data.insert(function.parameters[parameter].name);
      }
      begin = comma + 1;
    }
    return DataFlow(unit_, function, std::move(data), calls_ + 1).decides_nothing();
  }

  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  TokenRange body_;
  std::set<std::string> data_; // names
  std::size_t calls_;
  bool data_decides_ = false; // about statements
};

} // namespace

bool runs_on_any_contents(const TranslationUnit& unit, const Function& kernel) {
  return kernel.body && DataFlow(unit, kernel, {}, 0).decides_nothing();
}

} // namespace tidegate::opencl_c
