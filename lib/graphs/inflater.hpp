// Inflating the members of gzip files.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace tidegate::graphs {

struct Inflated {
  std::size_t taken = 0;         // bytes of the input
  std::size_t given = 0;         // bytes of output
  bool ended = false;            // the member, its check sum and its length being right
  std::string_view problem = {}; // what is damaged; empty: nothing
};

class Inflater {
public:
  Inflater() = default;
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  virtual ~Inflater() = default;

  // The next byte is the first of a member.
  virtual void start() = 0;

  // Goes on with the member. There may be output without input; nothing taken, given or ended for no input:
  // it ends early.
  virtual Inflated inflate(std::span<const char> from, std::span<char> to) = 0;
};

// zlib's.
std::unique_ptr<Inflater> make_zlib_inflater();

// That of ISA-L (Intel's Intelligent Storage Acceleration Library), more than twice as fast; nothing where it
// is not installed. It is loaded when it is asked for: a shared library more takes a process longer to start
// than most commands take.
std::unique_ptr<Inflater> make_isal_inflater();

} // namespace tidegate::graphs
