// Runs fuzz targets without libFuzzer, the same way each time: every file of a corpus, then a number of inputs that are made from them.
//
//   tidegate_fuzz TARGET MUTATIONS FOLDER…
//
// The input that is tried lies in the file finding-TARGET, which stays however the process ends early: a signal, a sanitizer, a loop
// without end. `tidegate_fuzz TARGET 0 finding-TARGET` tries it again.
#include "fuzz.hpp"

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 18U; // of an input
constexpr int most_seconds = 20;                          // of processor time for one input

// The files of a folder, or one file, in the order of their names.
std::vector<std::string> read_corpus(const fs::path& place) {
  std::vector<fs::path> paths;
  if (fs::is_directory(place)) {
    for (const auto& entry : fs::recursive_directory_iterator(place)) {
      if (entry.is_regular_file()) {
        paths.push_back(entry.path());
      }
    }
  } else {
    paths.push_back(place);
  }
  std::ranges::sort(paths);
  std::vector<std::string> inputs;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

// Makes inputs that are nearly sound: most of a text of the corpus stays, and what comes in is from the
// corpus too, or a number at which something ends.
class Mutator {
public:
  explicit Mutator(const std::vector<std::string>& corpus) : corpus_(corpus) {}

  std::string next() {
    std::string input = any();
    for (std::uint64_t changes = 1 + below(4); changes > 0; --changes) {
      change(input);
    }
    return input;
  }

private:
  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : engine_() % bound; }
  const std::string& any() { return corpus_[below(corpus_.size())]; }

  // A short piece of a text, where it may end at any byte.
  std::string piece(const std::string& text) {
    const std::size_t at = below(text.size() + 1);
    return text.substr(at, 1 + below(24));
  }

  void change(std::string& input) {
    static constexpr std::array<std::string_view, 12> interesting{
        "0",  "-1",   "255",   "2147483648", "18446744073709551615", "18446744073709551616", "{}",
        "[]", "null", "1e308", "\x1b[31m",   "\xe2\x80\xae"};
    const std::size_t at = below(input.size() + 1);
    switch (below(8)) {
    case 0: // a bit
      if (at < input.size()) {
        input[at] = static_cast<char>(static_cast<unsigned char>(input[at]) ^ (1U << below(8)));
      }
      break;
    case 1: // a byte
      if (at < input.size()) {
        input[at] = static_cast<char>(below(256));
      }
      break;
    case 2: input.erase(at, 1 + below(16)); break;
    case 3: input.insert(at, piece(any())); break;
    case 4: input.insert(at, piece(input)); break;
    case 5: input.insert(at, interesting[below(interesting.size())]); break;
    case 6: number(input, at, interesting[below(interesting.size())]); break;
    default: // the end of another
      input.resize(at);
      const std::string& other = any();
      input += other.substr(below(other.size() + 1));
    }
  }

  // Replaces the next number behind `at`.
  static void number(std::string& input, std::size_t at, std::string_view by) {
    const std::size_t begin = input.find_first_of("0123456789", at);
    if (begin != std::string::npos) {
      const std::size_t end = std::min(input.find_first_not_of("0123456789", begin), input.size());
      input.replace(begin, end - begin, by);
    }
  }

  const std::vector<std::string>& corpus_;
  std::mt19937_64 engine_; // with the same seed in every run
};

void try_input(tidegate::fuzz::Target run, int kept, std::string input) {
  input.resize(std::min(input.size(), most_bytes));
  tidegate::fuzz::require(::ftruncate(kept, 0) == 0 && ::pwrite(kept, input.data(), input.size(), 0) ==
                                                           static_cast<ssize_t>(input.size()),
                          "the input is kept");
  const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = most_seconds, .tv_usec = 0}};
  ::setitimer(ITIMER_VIRTUAL, &limit, nullptr); // its signal ends the process
  // Of its very size on the heap, so that a sanitizer sees what is read past its end.
  const std::vector<std::uint8_t> exact(input.begin(), input.end());
  run(exact.data(), exact.size());
}

} // namespace

int main(int argc, char** argv) {
  const std::string target = argc > 1 ? argv[1] : "";
  std::vector<std::string> corpus;
  for (int i = 3; i < argc; ++i) {
    std::ranges::move(read_corpus(argv[i]), std::back_inserter(corpus));
  }
  if (!tidegate::fuzz::targets().contains(target) || corpus.empty()) { // a test that tries nothing is none
    std::fprintf(stderr, "usage: tidegate_fuzz TARGET MUTATIONS FOLDER…\n");
    return 2;
  }
  const tidegate::fuzz::Target run = tidegate::fuzz::targets().at(target);
  const std::string finding = "finding-" + target;
  const int kept = ::open(finding.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  for (const std::string& input : corpus) {
    try_input(run, kept, input);
  }
  Mutator mutator(corpus);
  const long mutations = std::strtol(argv[2], nullptr, 10);
  for (long i = 0; i < mutations; ++i) {
    try_input(run, kept, mutator.next());
  }
  std::printf("%zu inputs\n", corpus.size() + static_cast<std::size_t>(mutations));
  return ::unlink(finding.c_str()); // and the look for leaks follows
}
