// Waves before and after the repeated ones: their order in plain launches and for the planner.
#include "../program_support.hpp"
#include <tidegate/planning/wave_dag.hpp>

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;

namespace {

// Waves 0 and 4 after the repetition, 2 before it.
Job in_sections() {
  Job program = program_of(1, {8, 8, 8});
  program.waves = {wave_of(0, {reads(1)}), wave_of(0, {reads(0), writes(1)}), wave_of(0, {writes(0)}),
                   wave_of(0, {writes(2)}), wave_of(0, {writes(2)})};
  program.waves[0].section = program.waves[4].section = Section::after;
  program.waves[2].section = Section::before;
  program.dependencies = derive_dependencies(program.waves, program.buffers.size());
  return program;
}

std::string edges(const auto& dependencies) {
  std::string text;
  for (const auto& dependency : dependencies) {
    text += (text.empty() ? "" : " ") + std::to_string(dependency.before) + ">" +
            std::to_string(dependency.after);
  }
  return text;
}

} // namespace

TEST_CASE("dependencies follow from the order of the sections") {
  const Job program = in_sections();
  CHECK(edges(program.dependencies) == "2>1 1>0 3>4");
  CHECK(section_order(program.waves) == std::vector<std::uint32_t>{2, 1, 3, 0, 4});
  CHECK(program_order(program) == std::vector<std::uint32_t>{2, 1, 3, 0, 4});
}

TEST_CASE("a section waits for the one before, whatever it touches") {
  const Job program = in_sections();
  const planning::WaveDag dag = wave_dag(program, 0);
  CHECK(edges(dag.dependencies) == "2>1 1>0 3>4 1>4 2>3 3>0");
  const auto plan = planning::plan_layered(dag);
  REQUIRE(plan);
  CHECK(plan->group_count() == 3);
  // A plan that mixes sections does not fit this program.
  planning::MemoryPlan mixed = *plan;
  mixed.order = {2, 3, 1, 0, 4};
  mixed.group_begin = {0, 2, 3, 5};
  CHECK(planning::first_violation(dag, mixed));
}

TEST_CASE("without sections nothing is added") {
  Job program = in_sections();
  for (ProgramWave& wave : program.waves) {
    wave.section = Section::each;
  }
  program.dependencies = derive_dependencies(program.waves, program.buffers.size());
  CHECK(wave_dag(program, 0).dependencies.size() == program.dependencies.size());
}
