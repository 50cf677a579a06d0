// The places in the logs of drivers' compilers.
#include "device/isolation.hpp"

namespace tidegate::device {
namespace {

std::string first(std::string_view log) {
  const Error error = build_error("", std::string(log));
  return error.line ? fmt::format("{}|{}|{}|{}", *error.source, *error.line, *error.column, error.message)
                    : "none";
}

TEST_CASE("clang, NVIDIA and Mesa: the place, then the word") {
  CHECK(first("a.cl:1:2: warning: unused\n./b c.cl:2:27: error: use of 'foo': no\n  x\n  ^\na.cl:9:9: error: "
              "more\n") == "./b c.cl|2|27|use of 'foo': no");
  CHECK(first("<kernel>:91:5: error: expected ';'") == "<kernel>|91|5|expected ';'");
  CHECK(first("a.cl:1:10: fatal error: 'x.h' file not found") == "a.cl|1|10|'x.h' file not found");
}

TEST_CASE("PoCL: the word, then the place, perhaps with that in a macro") {
  CHECK(
      first("error: ./bad.cl:2:27: use of undeclared identifier 'foo'; did you mean 'for'?\nDevice failed") ==
      "./bad.cl|2|27|use of undeclared identifier 'foo'; did you mean 'for'?");
  CHECK(first("error: a b.cl:2:50 <Spelling=./inc.h:1:19>: use of 'x'") == "a b.cl|2|50|use of 'x'");
  CHECK(first("error: /a: b/c.cl:2:5: no") == "/a: b/c.cl|2|5|no");
}

TEST_CASE("where no error has a place, a function that is missing is one") {
  const std::string missing = "<kernel>:9:3: warning: unused variable 'x'\n<kernel>:2:10: warning: implicit "
                              "declaration of function 'unknown' is invalid in OpenCL\n";
  CHECK(first(missing + "ptxas fatal   : Unresolved extern function 'unknown'\n") ==
        "<kernel>|2|10|implicit declaration of function 'unknown' is invalid in OpenCL");
  CHECK(first(missing + "<kernel>:7:1: error: expected '}'\n") == "<kernel>|7|1|expected '}'");
}

TEST_CASE("what has no place is none") {
  CHECK(first("") == "none");
  CHECK(first("Error(s) while linking: \nCannot find symbol h in kernel library\n") == "none");
  CHECK(first("error: linking: 1: failed\nerror: \n: error: x\n1:2: error: x\n::: error: x") == "none");
}

TEST_CASE("the lines of the whole text become those of the files in it") {
  const std::string_view text = "#define X 1\n#line 1 \"a.cl\"\none\ntwo\n#line 7 \"b.cl\"\nseven\n";
  const auto place = [text](std::uint64_t line) {
    const Error error = build_error(text, fmt::format("<kernel>:{}:1: error: no", line));
    return fmt::format("{}:{}", *error.source, *error.line);
  };
  CHECK(place(1) == "<kernel>:1");
  CHECK(place(3) == "a.cl:1");
  CHECK(place(4) == "a.cl:2");
  CHECK(place(6) == "b.cl:7");
}

TEST_CASE("a build that failed names its cause: the kernel, or what was generated") {
  const std::string text = "#line 1 \"a.cl\"\none\n#line 4 \"tidegate/generated.cl\"\nfour\n";
  const auto told = [&text](const std::string& log) {
    const Error error = build_error(text, log);
    CHECK(error.log == log);
    return fmt::format("{}: {}:{}: {}; {}", name(error.code), error.source.value_or(""),
                       error.line.value_or(0), error.message, error.fix);
  };
  CHECK(told("<kernel>:2:1: error: no such thing") ==
        "build_failure: a.cl:1: no such thing; correct the kernel");
  CHECK(told("error: b.cl:2:1: out of range") == "build_failure: b.cl:2: out of range; correct the kernel");
  const std::string ours =
      ": no such thing; this is a bug in tidegate: please report the program with this log; "
      "--strategy launch needs fewer generated kernels";
  CHECK(told("<kernel>:4:1: error: no such thing") == "build_failure: tidegate/generated.cl:4" + ours);
  CHECK(told("error: tidegate/generated.cl:9:1: no such thing") ==
        "build_failure: tidegate/generated.cl:9" + ours);
  // What a kernel's own line says is no cause, and a log without words leaves the message to OpenCL's code.
  CHECK(told("a.cl:1:1: error: expected ';'\n  printf(\"out of memory\")\n") ==
        "build_failure: a.cl:1: expected ';'; correct the kernel");
  CHECK(told("ptxas error   : Entry function uses too much shared data") == "build_failure: :0: ; ");
}

} // namespace
} // namespace tidegate::device
