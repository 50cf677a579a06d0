// Findings parsed from Oclgrind's log.
#include "engine/bounds.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

using namespace tidegate::engine;

TEST_CASE("one finding for each kernel, line and kind") {
  const auto findings = parse_simulator_log(R"(
Invalid write of size 4 at global memory address 0x1000000000100
	Kernel: k
	Entity: Global(62,0,0) Local(6,0,0) Group(7,0,0)
	  store i32 %conv, i32 addrspace(1)* %arrayidx, align 4, !dbg !25, !tbaa !26
	At line 3 (column 12) of a folder/o.cl:
	  int i = get_global_id(0);

Invalid write of size 4 at global memory address 0x1000000000104
	Kernel: k
	Entity: Global(63,0,0) Local(7,0,0) Group(7,0,0)
	At line 3 (column 12) of a folder/o.cl:
	  int i = get_global_id(0);

Invalid read of size 4 at global memory address 0x1000000000104
	Kernel: k
	Entity: Global(63,0,0) Local(7,0,0) Group(7,0,0)
	At line 3 (column 12) of a folder/o.cl:

Work-group divergence detected (barrier):
	Kernel: other
)");
  REQUIRE(findings.size() == 3);
  CHECK(findings[0].message == "Invalid write of size 4 at global memory address 0x1000000000100");
  CHECK(findings[0].kernel == "k");
  CHECK(findings[0].work_item == "Global(62,0,0) Local(6,0,0) Group(7,0,0)");
  CHECK(findings[0].file == "a folder/o.cl");
  CHECK(findings[0].line == 3);
  CHECK(findings[1].message.starts_with("Invalid read"));
  CHECK(findings[2].kernel == "other");
  CHECK(findings[2].line == 0);
  CHECK(parse_simulator_log("").empty());
  CHECK(parse_simulator_log("\tKernel: k\n\n").empty());
}

TEST_CASE("the simulator adds to the user's build options") {
  ::setenv("OCLGRIND_BUILD_OPTIONS", "-DSIZE=8", 1);
  const std::vector<std::string> command{"sh", "-c", "echo \"$OCLGRIND_BUILD_OPTIONS\" >&2; exit 1"};
  const auto run = run_in_simulator("none.so", "/", command, "");
  ::unsetenv("OCLGRIND_BUILD_OPTIONS");
  REQUIRE(!run);
  CHECK(run.error().log == "-DSIZE=8 -cl-opt-disable\n");
}
