// What differs between programs where candidates are measured: how one is built, proved and run. The search
// (measure.hpp) knows candidates by their numbers, and nothing of what they run.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/run/run_report.hpp>
#include <tidegate/tuning/knob.hpp>
#include <tidegate/tuning/settings.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tidegate::tuning {

// Nanoseconds of the runs of each candidate.
using Times = std::map<std::size_t, std::vector<double>>;

class Bench {
public:
  Bench() = default;
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  virtual ~Bench() = default;

  [[nodiscard]] virtual std::span<const Knob> knobs() const = 0;

  // The program as it is, whose outputs are proved to be right; an error where it does not run, or they are
  // not.
  virtual Result<std::size_t> add_first(const Settings& settings) = 0;

  // Nothing where it would run just as another one here. An error says why it is thrown out: what refuses it,
  // how its run ended, or outputs that differ.
  virtual Result<std::optional<std::size_t>> add(const Settings& settings, std::uint64_t most_ns) = 0;

  // Nanoseconds of a dispatch; nothing where it does not come to its end in `most_ns`.
  virtual std::optional<double> time(std::size_t candidate, std::uint64_t most_ns) = 0;

  // The value that the candidate has, and those that it might have instead.
  [[nodiscard]] virtual std::string value_of(Knob knob, std::size_t candidate) const = 0;
  [[nodiscard]] virtual std::vector<Option> options_of(Knob knob, std::size_t candidate,
                                                       double dispatch_ns) const = 0;

  [[nodiscard]] virtual const Settings& settings(std::size_t candidate) const = 0;
  [[nodiscard]] virtual std::uint32_t workers(std::size_t candidate) const = 0; // work-groups that it has
  [[nodiscard]] virtual Settings with_workers(Settings settings, std::uint32_t workers) const = 0;

  // The candidate's settings with what the times of all tell beside them.
  virtual Settings concluded(std::size_t candidate, const Times& times) = 0;

  [[nodiscard]] virtual std::uint64_t runs() const = 0;
};

// Whoever interrupts measuring is told that nothing was written.
Error interrupted();

// Why a run that did not come to its end does not count.
Error ended(run::RunStatus status);

} // namespace tidegate::tuning
