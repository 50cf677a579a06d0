// Runs fuzz targets without libFuzzer, the same way each time: every file of its corpus, then a number of
// inputs that are made from them.
//
//   tidegate_fuzz TARGET FILE…                              what a finding does, in this process
//   tidegate_fuzz TARGET --mutations N [--seed S] FOLDER    the corpus and N mutations
//
// The work is done in a child, and each input lies in memory that the parent shares: however the child ends
// (a signal, a sanitizer, a loop without end), the parent keeps the input that did it as finding-TARGET.
#include "fuzz.hpp"

#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 18U; // of an input
constexpr int most_seconds = 20;                          // of processor time for one input

struct Shared {
  std::uint64_t count = 0;
  std::size_t size = 0;
  std::array<std::uint8_t, most_bytes> bytes{};
};

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> read_corpus(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  std::vector<std::string> inputs;
  std::ranges::transform(paths, std::back_inserter(inputs), read);
  return inputs;
}

// Makes inputs that are nearly sound: most of a text of the corpus stays, and what comes in is from the
// corpus too, or a number at which something ends.
class Mutator {
public:
  Mutator(const std::vector<std::string>& corpus, std::uint64_t seed) : corpus_(corpus), engine_(seed) {}

  std::string next() {
    std::string input = any();
    for (std::uint64_t changes = 1 + below(4); changes > 0; --changes) {
      change(input);
    }
    input.resize(std::min(input.size(), most_bytes));
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
    static constexpr std::array<std::string_view, 16> interesting{"0",
                                                                  "-1",
                                                                  "255",
                                                                  "65536",
                                                                  "2147483648",
                                                                  "4294967295",
                                                                  "18446744073709551615",
                                                                  "18446744073709551616",
                                                                  "{}",
                                                                  "[]",
                                                                  "\"\"",
                                                                  "null",
                                                                  "1e308",
                                                                  "\xc2\x9b\x1b[31m",
                                                                  "\xe2\x80\xae",
                                                                  "\xff"};
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
  std::mt19937_64 engine_;
};

void try_input(tidegate::fuzz::Target run, Shared& shared, const std::string& input) {
  shared.size = std::min(input.size(), most_bytes);
  std::memcpy(shared.bytes.data(), input.data(), shared.size);
  ++shared.count;
  const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = most_seconds, .tv_usec = 0}};
  ::setitimer(ITIMER_VIRTUAL, &limit, nullptr);
  // Of its very size on the heap, so that a sanitizer sees what is read past its end.
  const std::vector<std::uint8_t> exact(input.begin(),
                                        input.begin() + static_cast<std::ptrdiff_t>(shared.size));
  run(exact.data(), exact.size());
}

int keep_finding(const Shared& shared, const std::string& target, int status) {
  const std::string path = "finding-" + target;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(shared.bytes.data()), static_cast<std::streamsize>(shared.size));
  const bool slow = WIFSIGNALED(status) && WTERMSIG(status) == SIGVTALRM;
  std::fprintf(stderr, "%s: input %llu of %zu bytes %s; it is kept as %s\n", target.c_str(),
               static_cast<unsigned long long>(shared.count), shared.size,
               slow ? "takes more than 20 s" : "ends the process", path.c_str());
  return 1;
}

bool read_number(const char* text, std::uint64_t& number) {
  const char* const end = text + std::strlen(text);
  return std::from_chars(text, end, number).ptr == end && end != text;
}

} // namespace

int main(int argc, char** argv) {
  const std::string target = argc > 1 ? argv[1] : "";
  if (!tidegate::fuzz::targets().contains(target)) {
    std::fprintf(stderr, "\"%s\" is no target\n", target.c_str());
    return 2;
  }
  const tidegate::fuzz::Target run = tidegate::fuzz::targets().at(target);
  std::uint64_t mutations = 0;
  std::uint64_t seed = 1;
  std::vector<std::string> corpus;
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--mutations" || word == "--seed") {
      if (i + 1 == argc || !read_number(argv[++i], word == "--seed" ? seed : mutations)) {
        std::fprintf(stderr, "%s needs a number\n", argv[i]);
        return 2;
      }
    } else if (fs::is_directory(word)) {
      std::ranges::move(read_corpus(word), std::back_inserter(corpus));
    } else {
      const std::string input = read(word);
      run(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    }
  }
  if (corpus.empty()) {
    return mutations == 0 && argc > 2 ? 0 : 2; // a test that tries nothing is none
  }
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("mmap");
    return 2;
  }
  auto& shared = *new (memory) Shared;
  const pid_t child = ::fork();
  if (child == 0) {
    for (const std::string& input : corpus) {
      try_input(run, shared, input);
    }
    Mutator mutator(corpus, seed);
    for (std::uint64_t i = 0; i < mutations; ++i) {
      try_input(run, shared, mutator.next());
    }
    return 0; // with the look for leaks
  }
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child < 0 || status != 0) {
    return keep_finding(shared, target, status);
  }
  std::printf("%llu inputs\n", static_cast<unsigned long long>(shared.count));
  return 0;
}
