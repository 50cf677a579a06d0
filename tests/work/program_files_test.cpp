// Files of a program: they stay in its folder unless allowed otherwise, and no input is overwritten.
#include "../temporary_folder.hpp"
#include "engine/job.hpp"
#include "work/contents.hpp"
#include "work/resolve.hpp"

using namespace tidegate;
using namespace tidegate::engine;
namespace fs = std::filesystem;

namespace {

// One op over one buffer, in the folder "home" next to a folder "outside".
class Program {
public:
  Program() {
    folder_.write("home/k.cl", "#include \"inner.h\"\nkernel void k(global float* x) {}\n");
    folder_.write("home/inner.h", "#define N 1\n");
    folder_.write("home/x.npy", "");
    folder_.write("outside/secret", "#define N 1\n");
    folder_.write("outside/k.cl", "kernel void k(global float* x) {}\n");
    fs::create_symlink("../outside/secret", file("link"));
    fs::create_directory_symlink("../outside", file("folder"));
    fs::create_symlink("../outside/new", file("dangling"));
    ArgumentSpec argument;
    argument.buffer = "x";
    program.buffers.emplace_back("x",
                                 BufferSpec{.type = ElementType::f32, .count = 4, .init = {}, .output = {}});
    program.ops.emplace_back("k", OpSpec{.source = "k.cl", .kernel = {}, .options = ""});
    program.waves.push_back({.op = "k", .global_size = {4}, .local_size = {}, .args = {argument}});
  }

  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file("home/" + name); }
  void write(const std::string& name, const std::string& text) const { folder_.write("home/" + name, text); }

  BufferSpec& buffer() { return program.buffers.front().second; }
  OpSpec& op() { return program.ops.front().second; }
  [[nodiscard]] std::string counted() const {
    const auto job = resolved();
    return job ? std::to_string(job->buffers[0].count) : text(job);
  }
  void read(const std::string& path) { buffer().init = BufferInit{.file = path}; }

  [[nodiscard]] Result<Job> resolved(PathScope scope = PathScope::folder) const {
    return resolve({program, file(""), {}, scope});
  }

  // The error's text with HOME for the program's folder and TOP for its parent; "" without an error.
  template <class T>
  [[nodiscard]] std::string text(const Result<T>& result) const {
    std::string text = result ? "" : describe(result.error());
    for (const auto& [path, name] :
         {std::pair(folder_.file("home"), "HOME"), std::pair(folder_.path().string(), "TOP")}) {
      for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path)) {
        text.replace(at, path.size(), name);
      }
    }
    return text;
  }
  [[nodiscard]] std::string scope_error() const { return text(resolved()); }

  // The refusal for the files of the program and of the command line.
  [[nodiscard]] std::string overwriting(const FileUses& files = {}) const {
    const auto program_of = resolved();
    REQUIRE(program_of);
    return text(keep_inputs(*program_of, files));
  }

  WaveProgram program;

private:
  test::TemporaryFolder folder_;
};

constexpr const char* fix = "  fix: keep what the program needs in its folder, or give --allow-outside";

} // namespace

TEST_CASE("paths stay in the program's folder") {
  Program program;
  const auto refused = [&](const std::string& path, const std::string& to, const std::string& place) {
    CHECK(program.scope_error() ==
          "tidegate: error: " + path + (to.empty() ? " is" : " leads to " + to + ",") +
              " outside the program's folder, HOME [outside_folder]\n  at: " + place + "\n" + fix);
  };
  program.read("../outside/secret");
  refused("HOME/../outside/secret", "", "/buffers/x/init/file");
  program.read("link");
  refused("HOME/link", "TOP/outside/secret", "/buffers/x/init/file");
  program.read("/etc/shadow");
  refused("/etc/shadow", "", "/buffers/x/init/file");
  program.buffer().init.reset();
  for (const char* const output :
       {"../outside/new", "dangling", "folder/new", "folder/secret", "none/../../new", ".."}) {
    program.buffer().output = output;
    const auto result = program.resolved();
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::outside_folder);
    CHECK(result.error().pointer == "/buffers/x/output");
  }
  program.buffer().output.reset();
  program.op().source = "folder/k.cl";
  refused("HOME/folder/k.cl", "TOP/outside/k.cl", "/ops/k/source");
}

TEST_CASE("a file holds raw bytes only under a name that does not promise another format") {
  Program program;
  for (const auto& [names, promise] : {std::pair(std::vector{"x.raw", "x.bin", "x.dat", "x.f32", "x"}, false),
                                       {{"x.npz", "x.png", "x.csv", "x.NPY", "x.npy.gz", "x.json"}, true}}) {
    for (const std::string name : names) {
      CAPTURE(name);
      program.write(name, std::string(16, '0'));
      for (const bool raw : {false, true}) {
        program.buffer() = {
            .type = ElementType::f32, .count = 4, .init = BufferInit{.file = name}, .raw = raw};
        CHECK(program.resolved().has_value() == (raw || !promise));
        program.buffer() = {.type = ElementType::f32, .count = 4, .output = name, .raw = raw};
        CHECK(program.resolved().has_value() == (raw || !promise));
      }
    }
  }
}

TEST_CASE("detours within the folder are none of anybody's business") {
  Program program;
  program.write("sub/k.cl", "#include \"../inner.h\"\nkernel void k(global float* x) {}\n");
  program.op().source = "sub/../sub/k.cl";
  program.read("./sub/../x.npy");
  program.buffer().output = "sub/new.npy";
  CHECK(program.scope_error() == "");
  program.read(program.file("x.npy")); // absolute
  CHECK(program.scope_error() == "");
}

TEST_CASE("an include is a read") {
  Program program;
  for (const char* const include : {"../outside/secret", "link", "folder/secret"}) {
    program.write("k.cl", "\n#include \"" + std::string(include) + "\"\nkernel void k(global float* x) {}\n");
    const auto refused = program.resolved();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::outside_folder);
    CHECK(refused.error().source == program.file("k.cl"));
    CHECK(refused.error().line == 2);
    CHECK_FALSE(refused.error().pointer);
    CHECK(program.resolved(PathScope::anywhere));
  }
  program.write("k.cl", "#include <secret>\nkernel void k(global float* x) {}\n");
  program.op().options = "-I ../outside";
  CHECK(program.scope_error() ==
        std::string(
            "tidegate: HOME/k.cl:1:2: error: HOME/../outside/secret is outside the program's folder, HOME "
            "[outside_folder]\n  1 | #include <secret>\n    |  ^\n") +
            fix);
  CHECK(program.resolved(PathScope::anywhere));
  // The search continues past folders that lack the file.
  program.write("include/secret", "");
  program.op().options = "-I ../home/nowhere -I ../none -I include";
  CHECK(program.scope_error() == "");
}

TEST_CASE("an output names no source, include, input or other output") {
  Program program;
  program.buffer().raw = true; // whatever the ending says
  CHECK(program.overwriting() == "");
  fs::create_hard_link(program.file("inner.h"), program.file("hard"));
  program.write("p.json", "");
  const FileUses given{.inputs = {{program.file("p.json"), "the program", {}}},
                       .outputs = {{program.file("new.npy"), "-o", {}}}};
  const auto refused = [&](const char* output, const std::string& what, const char* input = "") {
    program.buffer().init = *input == 0 ? std::nullopt : std::optional(BufferInit{.file = input});
    program.buffer().output = output;
    CHECK(program.overwriting(given) == "tidegate: error: the output of buffer \"x\" would overwrite " +
                                            what +
                                            " [invalid_program]\n  at: /buffers/x/output\n"
                                            "  fix: name another file");
  };
  refused("./k.cl", "the source of op \"k\", HOME/k.cl");
  refused("hard", "an included file, HOME/inner.h");
  refused("x.npy", "the input of buffer \"x\", HOME/x.npy", "x.npy");
  refused("p.json", "the program, HOME/p.json");
  refused("new.npy", "-o, HOME/new.npy");
  program.program.buffers.emplace_back(
      "y", BufferSpec{.type = ElementType::f32, .count = 4, .init = {}, .output = "../home/new.npy"});
  CHECK(
      program.overwriting() ==
      "tidegate: error: the output of buffer \"y\" would overwrite the output of buffer \"x\", HOME/new.npy "
      "[invalid_program]\n  at: /buffers/y/output\n  fix: name another file");
}

TEST_CASE("a buffer without a count has that of its shape or of its file") {
  Program program;
  program.buffer().count = 0;
  program.buffer().shape = std::vector<std::uint64_t>{2, 3};
  CHECK(program.counted() == "6");
  program.buffer().count = 5;
  CHECK(program.counted().find("the buffer \"x\" has the shape (2, 3), of 6 elements, and the count 5") !=
        std::string::npos);
  program.buffer() = {.type = ElementType::f32, .count = 0, .init = {}, .output = {}};
  program.write("x.bin", std::string(28, 'x'));
  program.read("x.bin");
  CHECK(program.counted() == "7");
  program.write("x.bin", std::string(27, 'x'));
  CHECK(program.counted().find("the file holds 27 bytes, and elements of f32 have 4") != std::string::npos);
  program.read("../outside/secret");
  CHECK(program.counted().find("outside") != std::string::npos);
}
