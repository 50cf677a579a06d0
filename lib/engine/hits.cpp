#include "engine/hits.hpp"

#include "engine/device_memory.hpp"

namespace tidegate::engine {

std::vector<HitsReport> hits_before(const Job& program) {
  std::vector<HitsReport> reports;
  for (const ProgramBuffer& buffer : program.buffers) {
    if (buffer.hits) {
      reports.push_back(buffer.hits->report);
    }
  }
  return reports;
}

std::vector<HitsReport> count_hits(const Job& program, const HostContents& contents) {
  std::vector<HitsReport> counted;
  for (std::size_t i = 0; i < program.buffers.size() && contents.size() != 0; ++i) {
    if (program.buffers[i].hits) {
      counted.push_back(program.buffers[i].hits->count(contents[i]));
    }
  }
  return counted;
}

} // namespace tidegate::engine
