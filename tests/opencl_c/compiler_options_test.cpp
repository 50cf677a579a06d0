// The options text of clBuildProgram.
#include "opencl_c/preprocessor.hpp"

using namespace tidegate;
using namespace tidegate::opencl_c;

namespace {

CompilerOptions parsed(std::string_view text) {
  const auto options = parse_compiler_options(text);
  REQUIRE(options);
  return *options;
}

std::string refused_options(std::string_view text) {
  const auto options = parse_compiler_options(text);
  REQUIRE_FALSE(options);
  CHECK(options.error().code == ErrorCode::kernel_options);
  return describe(options.error());
}

using Definitions = std::vector<MacroDefinition>;
using Texts = std::vector<std::string>;

} // namespace

TEST_CASE("options of each kind") {
  const auto options = parsed("-D A -DB=2 -D C=x=y -DD= -I inc -Isrc -U A -UB -cl-std=CL1.2 -w");
  CHECK(options.definitions == Definitions{{"A", "1"}, {"B", "2"}, {"C", "x=y"}, {"D", ""}});
  CHECK(options.include_folders == Texts{"inc", "src"});
  CHECK(options.undefinitions == Texts{"A", "B"});
  CHECK(options.language_standard == "CL1.2");
  CHECK(options.others == Texts{"-w"});
}

TEST_CASE("other options are sorted, each once, and the last standard counts") {
  const auto options =
      parsed("-cl-std=CL1.1 -w -cl-mad-enable -Werror -cl-mad-enable -cl-std=CL3.0 -w -cl-fast-relaxed-math");
  CHECK(options.others == Texts{"-Werror", "-cl-fast-relaxed-math", "-cl-mad-enable", "-w"});
  CHECK(options.language_standard == "CL3.0");
}

TEST_CASE("quotes and backslashes keep blanks") {
  const auto options = parsed(R"(-I "my dir" -I"a b/c" -Imy\ dir -DS=\"x\ y\" "-DT=1 2" -DU="a\"b")");
  CHECK(options.include_folders == Texts{"my dir", "a b/c", "my dir"});
  CHECK(options.definitions == Definitions{{"S", "\"x y\""}, {"T", "1 2"}, {"U", "a\"b"}});
}

TEST_CASE("no options are fine, and a definition may take parameters") {
  CHECK(parsed(" \t\n ").others.empty());
  CHECK(parsed("-D'f(x)'=1").definitions == Definitions{{"'f(x)'", "1"}}); // no quotes
  CHECK(parsed("-Df(x)=x").definitions == Definitions{{"f(x)", "x"}});
}

TEST_CASE("what is wrong with options") {
  const std::string none = " is not a compiler option [kernel_options]\n"
                           "  fix: options begin with -; put quotes around a value with blanks";
  const std::string value_fix = "\n  fix: write it as in -D NAME=VALUE, -I FOLDER, -U NAME or -cl-std=CL1.2";
  for (const std::string option : {"-D", "-I", "-U", "-cl-std="}) {
    CHECK(refused_options("-w " + option) ==
          "tidegate: error: the compiler option " + option + " needs a value [kernel_options]" + value_fix);
  }
  CHECK(refused_options("-I \"\"") ==
        "tidegate: error: the compiler option -I needs a value [kernel_options]" + value_fix);
  CHECK(refused_options("-w fast") == "tidegate: error: \"fast\"" + none);
  CHECK(refused_options("-") == "tidegate: error: \"-\"" + none);
  CHECK(refused_options("\"\"") == "tidegate: error: \"\"" + none);
  CHECK(refused_options("-I \"my dir") ==
        "tidegate: error: a quote is not closed in the compiler options: \"my dir\" [kernel_options]\n"
        "  fix: add the closing quote, or write \\\" for a quote");
  CHECK(refused_options("-w \\") ==
        "tidegate: error: the compiler options end in a backslash [kernel_options]\n"
        "  fix: write \\\\ for a backslash");
}
