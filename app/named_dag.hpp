// A wave DAG as a document gives it, with names, and as the planners take it, with indices.
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/planning/documents.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::commands {

// Finds things by their unique names: a hash table with open addressing that stores four bytes a name and
// leaves the names where they are, for documents with millions of them.

class UniqueNames {
public:
  using NameOf = std::function<std::string_view(std::uint32_t)>;

  // For up to `most` names; `name_of` gives the name of a thing by its index, and stays valid.
  UniqueNames(std::size_t most, NameOf name_of)
      : name_of_(std::move(name_of)), slots_(std::bit_ceil(most * 2 + 1), none) {}

  // The thing that has this name already, or nothing when it is new and now inserted.
  std::optional<std::uint32_t> insert(std::uint32_t index) {
    std::uint32_t& slot = slots_[slot_of(name_of_(index))];
    if (slot != none) {
      return slot;
    }
    slot = index;
    ++size_;
    return {};
  }

  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const {
    const std::uint32_t index = slots_[slot_of(name)];
    return index == none ? std::nullopt : std::optional(index);
  }

  [[nodiscard]] std::size_t size() const { return size_; }

private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  // The slot that holds the name, or the empty one where it belongs.
  [[nodiscard]] std::size_t slot_of(std::string_view name) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = std::hash<std::string_view>{}(name)&mask;
    while (slots_[slot] != none && name_of_(slots_[slot]) != name) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  NameOf name_of_;
  std::vector<std::uint32_t> slots_;
  std::size_t size_ = 0;
};

struct NamedDag {
  planning::WaveDag dag;
  std::vector<std::string> names; // by wave, empty for one without; no items when no wave has a name

  // What a wave is called in a sentence: its name in quotes, or "wave 3".
  [[nodiscard]] std::string wave_text(std::uint64_t wave) const;

  // What it is called in a picture: its name, or its index.
  [[nodiscard]] std::string wave_label(std::uint64_t wave) const;
};

// Finds the waves that dependencies name. Errors, all at once and each with its place: duplicate_name,
// invalid_wave, self_dependency. Of a document that is not wholly read those of the rest.
Result<NamedDag> resolve(documents::NamedWaveDag&& document, const UnreadPlaces& unread = {});

// A planner's refusal with names, a pointer into the document and a fix.
Error to_error(const planning::PlanError& error, const NamedDag& named);

} // namespace tidegate::commands
