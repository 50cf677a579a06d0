// A wave DAG as a document gives it, with names, and as the planners take it, with indices.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/core/unread.hpp>
#include <tidegate/documents/planning_documents.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidegate::commands {

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
