// Files that are refused: each format's name, text, and the place and message of its error; app/transcripts have fixes.
#include "graph_support.hpp"

using namespace tidegate;
using namespace tidegate::test;

namespace {

// Rows of NAME | TEXT | ERROR, with \n and \t. "M REST" stands for the banner "%%MatrixMarket matrix coordinate REST".
// Names that begin with u or f load weights as integers or floats.
constexpr std::string_view malformed_rows = R"(
a.mtx | %%MatrixMarket mangled coordinate pattern symmetric\n1 1 0\n | 1:16: unknown object "mangled"
a.mtx | %%MatrixMarket matrix mangled pattern symmetric\n1 1 0\n | 1:23: unknown format "mangled"
a.mtx | M mangled symmetric\n1 1 0\n | 1:34: unknown field "mangled"
a.mtx | M real mangled\n1 1 0\n | 1:39: unknown symmetry "mangled"
a.mtx | M real hermitian\n1 1 0\n | 1:39: the symmetry "hermitian" is not supported
a.mtx | %%MatrixMarket matrix coordinate\n1 1 0\n | 1:33: the banner ends before its field
a.mtx | M real general again\n1 1 0\n | 1:47: unexpected "again" after the banner
a.mtx | %%MatrixMarket matrix array real general\n1 1 0\n | 1:23: the format "array" is not supported
a.mtx | M pattern skew-symmetric\n1 1 0\n | 1: a pattern matrix has no values, so it cannot be skew-symmetric
a.mtx | 3 3\n.646\n | 1: expected the banner %%MatrixMarket, got "3 3"
a.mtx | M pattern general\n% only this\n | 2: the file ends before the size line
a.mtx | M pattern general\n3\n1 1\n | 2:2: the size line has 1 of 3 numbers
a.mtx | M pattern general\n3 3 18446744073709551616\n | 2:5: expected a whole number of 64 bits, got "18446744073709551616"
a.mtx | M pattern general\n3 3 1 1\n | 2:7: unexpected "1" after the size line
a.mtx | M pattern general\n3 4 0\n | 2: the matrix has 3 rows and 4 columns; an adjacency matrix is square
a.mtx | M pattern general\n4294967296 4294967296 0\n | 2:1: the graph has 4294967296 vertices, more than 2147483648
a.mtx | M pattern general\n3 3 3\n1 1\n2 2\n | 4: line 2 states 3 entries, and the file has 2
a.mtx | M pattern general\n3 3 1\n1 1\n2 2\n | 2: line 2 states 1 entry, and the file has 2
a.mtx | M integer general\n3 3 2\n1 1 1\nx 1 1\n | 4:1: expected the row, a whole number, got "x"
a.mtx | M integer general\n3 3 2\n1 1 1\n1\n | 4:2: expected the column, got the end of the line
a.mtx | M integer general\n3 3 2\n1 1 1\n1.5 2 1\n | 4:2: expected a blank and the column, got ".5"
a.mtx | M integer general\n3 3 2\n1 1 1\n1 2\n | 4:4: expected the value, got the end of the line
a.mtx | M integer general\n3 3 2\n1 1 1\n1 2 \n | 4:5: expected an integer, got the end of the line
a.mtx | M integer general\n3 3 2\n1 1 1\n1 2 1.5\n | 4:5: expected an integer, got "1.5"
a.mtx | M integer general\n3 3 2\n1 1 1\n1 2 3 4\n | 4:7: expected the end of the line, got "4"
a.mtx | M real general\n3 3 2\n1 1 1\n1 2 1.5D3\n | 4:5: expected a number, got "1.5D3"
a.mtx | M real general\n3 3 2\n1 1 1\n1 2 +-1\n | 4:5: expected a number, got "+-1"
a.mtx | M real general\n3 3 2\n1 1 1\n1 2 inf\n | 4:5: the value inf is not a finite number of 64 bits
a.mtx | M integer general\n3 3 2\n1 1 1\n4 1 1\n | 4:1: the row is 4, and vertices are 1 to 3
a.mtx | M integer general\n3 3 2\n1 1 1\n1 0 1\n | 4:3: the column is 0, and vertices are 1 to 3
a.mtx | M integer general\n3 3 2\n1 1 1\n1 18446744073709551617 1\n | 4:3: the column is 18446744073709551617, and vertices are 1 to 3
a.mtx | M integer general\n3 3 1\n1 2 9223372036854775808\n | 3:5: the value 9223372036854775808 is not an integer: -9223372036854775808 to 9223372036854775807
a.mtx | M integer general\n3 3 1\n1 2 -9223372036854775808\n | it is loaded
a.mtx | M integer skew-symmetric\n3 3 1\n2 2 1\n | 3:4: a skew-symmetric matrix has no entries on its diagonal
u.mtx | M integer general\n3 3 2\n2 1 0\n3 1 -12\n | 4:5: the edge from 3 to 1 has the weight -12; weights must not be negative
f.mtx | M real symmetric\n3 3 2\n2 1 0\n3 1 -0.5\n | 4:5: the edge from 3 to 1 has the weight -0.5; weights must not be negative
u.mtx | M integer skew-symmetric\n3 3 2\n2 1 0\n3 1 12\n | 4:5: the edge from 1 to 3, opposite in a skew-symmetric matrix, has the weight -12; weights must not be negative
u.mtx | M real general\n3 3 2\n2 1 0\n3 1 1.5\n | 4:5: the weight 1.5 is not a whole number
u.mtx | M integer general\n3 3 2\n2 1 0\n3 1 4294967296\n | 4:5: the weight 4294967296 is above 4294967295
f.mtx | M real general\n3 3 2\n2 1 0\n3 1 1e39\n | 4:5: the weight 1e39 does not fit 32 bits
a.mtx | M integer general\n3 3 2\n2 1 0\n3 1 -12\n | it is loaded
a.mtx | M integer general\n%%GraphBLAS type int32_t\n2 2 1\n1 2 -2147483648\n | it is loaded
a.mtx | M integer general\n%%GraphBLAS type int32_t\n2 2 1\n1 2 -2147483649\n | 4:5: the value -2147483649 is not an int32_t: -2147483648 to 2147483647
a.mtx | M integer general\n%%GraphBLAS type uint8_t\n2 2 1\n1 2 256\n | 4:5: the value 256 is not a uint8_t: 0 to 255
a.mtx | M integer general\n%%GraphBLAS type uint64_t\n2 2 1\n1 2 -1\n | 4:5: the value -1 is not a uint64_t below 2^63: 0 to 9223372036854775807
a.mtx | M integer general\n%%GraphBLAS type double\n2 2 1\n1 2 1\n | it is loaded
a.mtx | M integer general\n%%GraphBLAS type gunk\n2 2 1\n1 2 1\n | 2:18: unknown value type "gunk"
a.gr | c only\n | 1:1: the file ends before the problem line
a.gr | c x\n1 2 3\n | 2:1: expected the problem line, got "1 2 3"
a.gr | p max 3 1\n | 1:3: the problem type "max" is not supported; use sp (shortest paths)
a.gr | p sp 3\n | 1:7: the problem line has no vertices or no arcs
a.gr | p sp -3 1\n | 1:6: expected a whole number of 64 bits, got "-3"
a.gr | p sp 3 1\nb 1 2 3\n | 2:1: expected "a" and an edge, or a comment, got "b"
a.gr | p sp 0 1\na 1 4 2\n | 2:3: the tail is 1, and there are no vertices
a.graph | % nothing\n | 1:1: the file ends before the numbers of vertices and edges
a.graph | 7\n | 1:2: the first line has no vertices or no edges
a.graph | 1 0 12\n\n | 1:5: the format is "12"
a.graph | 1 0 0001\n\n | 1:5: the format is "0001"
a.graph | 3 2\n2\n1 3\n | 3: line 1 states 3 vertices, and the file has 2 rows
a.graph | 2 1\n2\n1\n\n1\n | 5:1: a row after that of the last vertex, 2
a.graph | 2 2\n2\n1\n | 1: line 1 states 2 edges, and the rows list 2 neighbours instead of twice as many
a.graph | 2 1\n2\n\n | 1: line 1 states 1 edge, and the rows list 1 neighbour instead of twice as many
a.graph | 2 1\n3\n1\n | 2:1: the neighbour is 3, and vertices are 1 to 2
a.graph | 2 1\n2\n1 2\n | 3:3: the row of vertex 2 lists the vertex itself
a.graph | 2 1\n2,1\n1\n | 2:1: expected the neighbour, a whole number, got "2,1"
a.graph | 2 1 1\n2 5\n1 x\n | 3:3: expected an integer, got "x"
a.graph | 2 1 10 2\n1 2 2\n1 -2 1\n | 3:3: expected a weight or the size of the vertex, a whole number, got "-2"
u.graph | 2 1 1\n2 5\n1 -5\n | 3:3: the edge from 2 to 1 has the weight -5; weights must not be negative
a.graph | 3 1\n2\n\n1\n | the row of vertex 1 lists 2, and the row of 2 does not list 1 back
a.graph | 3 1\n\n1 1\n\n | the row of vertex 2 lists 1, and the row of 1 does not list 2 back
u.graph | 2 1 1\n2 5\n1 6\n | an edge has different weights in the rows of its vertices
a.graph | 2 1 1\n2 5\n1 6\n | it is loaded
a.csv | from,to\n0,1\n1,\n | 3:3: expected the target, a whole number, got the end of the line
a.csv | 0,1\n1\n | 2:2: expected the target, got the end of the line
a.csv | 0,1\n1;2\n | 2:2: expected a comma and the target, got ";2"
a.csv | 0\t1\n1 2\n | 2:3: expected a tab and the target, got "2"
a.csv | 0\t1\n1\t\t2\n | 2:3: expected the target, a whole number, got the end of the line
a.csv | 0,1,5\n1,0\n | 2:4: expected the value, got the end of the line
a.csv | 0,1\n1,0,5\n | 2:4: expected the end of the line, got ",5"
a.csv | 0,1,5,6\n | 1:5: expected an integer, got "5,6"
a.csv | "0","1"\n1,2\n | 1:1: expected a number or a name, got "0"
a.csv | 0,1\n-1,2\n | 2:1: expected the source, a whole number, got "-1,2"
a.csv | 0,1\nä,2\n | 2:1: expected the source, a whole number, got "ä,2"
a.csv | 0,123456789012345678901234567890\n | 1:3: the target is 123456789012345678901234567890, and vertices are 0 to 2147483647
a.csv | u,v\n"0","1"\n | 2:1: expected the source, a whole number, got ""0","1""
a.csv | "","from","to"\n"1",1,2\n | 1:1: column 1 has no name
a.csv | id,Source,Target\n0,1,2\n | 1:4: Source is column 2, and should be column 1
a.csv | target,source\n0,1\n | 1:1: target is column 1, and should be column 2
a.csv | Source,Target,Type,Id\n0,1,Directed,0\n | 1: the first line names 4 columns
a.csv | source\n0,1\n | 1:1: expected the source, a whole number, got "source"
)";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

} // namespace

TEST_CASE("malformed files are refused with the place and the reason") {
  std::istringstream lines{std::string(malformed_rows.substr(1))};
  for (std::string row; std::getline(lines, row);) {
    CAPTURE(row);
    const std::size_t first = row.find(" | "), second = row.find(" | ", first + 1);
    REQUIRE(second != std::string::npos);
    const std::string name = row.substr(0, first), error = row.substr(second + 3);
    std::string text = row.substr(first + 3, second - first - 3);
    if (text.starts_with("M ")) {
      text.replace(0, 1, "%%MatrixMarket matrix coordinate");
    }
    text = replaced(replaced(text, "\\n", "\n"), "\\t", "\t");
    const WeightUse use = name[0] == 'u'   ? WeightUse::u32
                          : name[0] == 'f' ? WeightUse::f32
                                           : WeightUse::ignored;
    CHECK(fault(name, text, {.weights = use}) == error);
  }
}
