#include <tidegate/core/text.hpp>
#include <tidegate/graphs/entry_flaw.hpp>

#include <fmt/format.h>

#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace tidegate::graphs {
namespace {

// What stands at this place, up to a blank.
std::string_view word_at(const char* at) {
  const char* end = at;
  while (!is_blank(*end) && *end != '\n') {
    ++end;
  }
  return {at, static_cast<std::size_t>(end - at)};
}

struct Wording {
  std::string message;
  std::string fix;
};

Wording expected(std::string_view what, std::string_view word) {
  return {fmt::format("expected {}, got {}", what, word.empty() ? "the end of the line" : in_quotes(word)),
          word.find(',') != std::string_view::npos ? "write blanks where the commas are"
                                                   : "give an edge on each line, as the header says"};
}

std::string_view part_name(const EntryFlaw& flaw, const EntryRules& rules) {
  return flaw.part < rules.ends.size() ? rules.ends[flaw.part] : "value";
}

Wording in_words(const EntryFlaw& flaw, const EntryRules& rules) {
  using Kind = EntryFlaw::Kind;
  const std::string_view word = word_at(flaw.at);
  const std::string number = shortened(word);
  const std::string_view part = part_name(flaw, rules);
  const std::uint64_t from = flaw.edge.source + rules.first_vertex;
  const std::uint64_t to = flaw.edge.target + rules.first_vertex;
  constexpr std::string_view correct_range = "correct it, or the size that the file states";
  constexpr std::string_view other_weights =
      "shift the weights, or choose an algorithm that does not look at them";
  switch (flaw.kind) {
  case Kind::keyword: return expected(fmt::format("\"{}\" and an edge, or a comment", rules.keyword), word);
  case Kind::vertex: return expected(fmt::format("the {}, a whole number", part), word);
  case Kind::vertex_range:
    if (rules.last_vertex < rules.first_vertex) {
      return {fmt::format("the {} is {}, and there are no vertices", part, number),
              std::string(correct_range)};
    }
    return {fmt::format("the {} is {}, and vertices are {} to {}", part, number, rules.first_vertex,
                        rules.last_vertex),
            std::string(correct_range)};
  case Kind::gap:
    return expected(word.empty() ? fmt::format("the {}", part) : fmt::format("a blank and the {}", part),
                    word);
  case Kind::integer: return expected("an integer", word);
  case Kind::integer_range:
    return {fmt::format("the value {} is not {}: {} to {}", number, rules.value_type, rules.least_value,
                        rules.greatest_value),
            "correct it, or the type that the file states"};
  case Kind::real: return expected("a number", word);
  case Kind::not_finite:
    return {fmt::format("the value {} is not a finite number of 64 bits", number), "correct it"};
  case Kind::line_end: return expected("the end of the line", word);
  case Kind::on_diagonal: return {"a skew-symmetric matrix has no entries on its diagonal", "leave it out"};
  case Kind::negative:
    return {fmt::format("the edge from {} to {} weighs {}, and weights are from 0 on", from, to, number),
            std::string(other_weights)};
  case Kind::opposite_negative:
    return {fmt::format(
                "the edge from {} to {}, opposite in a skew-symmetric matrix, weighs -{}, and weights are "
                "from 0 on",
                to, from, number),
            std::string(other_weights)};
  case Kind::not_whole:
    return {fmt::format("the weight {} is no whole number", number), "take the weights as f32"};
  case Kind::beyond_u32:
    return {fmt::format("the weight {} is above {}", number, std::numeric_limits<std::uint32_t>::max()),
            "scale the weights down, or take them as f32"};
  case Kind::beyond_f32:
    return {fmt::format("the weight {} does not fit 32 bits", number), "scale the weights down"};
  }
  return {};
}

} // namespace

Error to_error(const EntryFlaw& flaw, const EntryRules& rules, const char* line, std::uint64_t line_number) {
  auto [message, fix] = in_words(flaw, rules);
  return {.code = ErrorCode::bad_graph,
          .message = std::move(message),
          .fix = std::move(fix),
          .line = line_number,
          .column = character_count({line, static_cast<std::size_t>(flaw.at - line)}) + 1};
}

} // namespace tidegate::graphs
