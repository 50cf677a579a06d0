#include <tidegate/opencl_c/call_graph.hpp>
#include <tidegate/opencl_c/constant_pointers.hpp>
#include <tidegate/opencl_c/words.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace tidegate::opencl_c {
namespace {

// True when the range had the qualifier.
bool replace_constant(const std::vector<Token>& tokens, TokenRange range, Edits& edits) {
  bool replaced = false;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    if (address_space(tokens[i].text) == AddressSpace::constant) {
      edits[i].replaced = true;
      edits[i].text = "const global";
      replaced = true;
    }
  }
  return replaced;
}

} // namespace

void constants_to_global(const TranslationUnit& unit, const Function& function, Edits& edits) {
  const std::vector<Token>& tokens = unit.source.tokens;
  std::set<std::string> moved;
  for (const Parameter& parameter : function.parameters) {
    if (is_constant_pointer(parameter)) {
      moved.insert(parameter.name);
      replace_constant(tokens, parameter.tokens, edits);
    }
  }
  if (!function.body) {
    return;
  }
  std::size_t begin = function.body->begin + 1;
  for (std::size_t i = begin; i < function.body->end; ++i) {
    if (!tokens[i].is(";") && !tokens[i].is("{") && !tokens[i].is("}")) {
      continue;
    }
    const TokenRange statement{.begin = begin, .end = i};
    begin = i + 1;
    bool mentions = false;
    for (std::size_t k = statement.begin; k < statement.end; ++k) {
      mentions |= moved.contains(tokens[k].text) && !is_member(tokens, k);
    }
    if (!mentions || !replace_constant(tokens, statement, edits)) {
      continue;
    }
    for (std::size_t k = statement.begin + 1; k < statement.end; ++k) { // what is declared here follows
      if (tokens[k].is("=") && tokens[k - 1].kind == TokenKind::identifier) {
        moved.insert(tokens[k - 1].text);
      }
    }
  }
}

} // namespace tidegate::opencl_c
