// NumPy files. The complete files below were written by numpy.save and numpy.lib.format.write_array of NumPy
// 1.24; spaces(n) is the padding between header and data.

#include "../npy_file.hpp"

using namespace tidegate;
using tidegate::test::npy_file;
using namespace std::string_literals;

namespace {

using Shape = std::vector<std::uint64_t>;

std::string spaces(std::size_t count) {
  return std::string(count, ' ');
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

void check_array(const std::string& file, ElementType type, const Shape& shape, const std::string& data) {
  INFO(file);
  const auto array = parse_npy(file);
  REQUIRE_MESSAGE(array, array.error().message);
  CHECK(array->type == type);
  CHECK(array->shape == shape);
  CHECK(text_of(array->bytes) == data);
}

// Returns a file of version 1.0 with this header.
std::string with_header(const std::string& header, const std::string& data = "") {
  const std::string length{static_cast<char>(header.size() & 0xffU), static_cast<char>(header.size() >> 8U)};
  return "\x93NUMPY\1\0"s + length + header + data;
}

std::string with_shape(const std::string& shape, const std::string& data = "") {
  return with_header("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}", data);
}

std::string with_descr(const std::string& descr, const std::string& data = "") {
  return with_header("{'descr': " + descr + ", 'fortran_order': False, 'shape': (1,)}", data);
}

std::string refused_array(const std::string& file) {
  const auto array = parse_npy(file);
  REQUIRE_FALSE(array);
  CHECK(array.error().code == ErrorCode::bad_array);
  return array.error().message;
}

std::string damage(const std::string& header) {
  const std::string message = refused_array(with_header(header));
  const std::string start = "the header of the array is damaged: ";
  return message.starts_with(start) ? message.substr(start.size()) : message;
}

// Returns the file that numpy.save writes, in version 1.0 for short shapes.
std::string saved(std::string_view descr, std::string_view shape, const std::string& data) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, shape);
  header.resize(117, ' ');
  return "\x93NUMPY\x01\x00v\x00"s + header + "\n" + data;
}

const std::string three_floats_data = "\x00\x00\x80?\x00\x00\x00\xc0\x00\x00\x00?"s; // 1, -2, 0.5
const std::string three_floats = saved("<f4", "(3,)", three_floats_data);

} // namespace

TEST_CASE("files of numpy.save are read, and written the same") {
  struct Case {
    ElementType type;
    Shape shape;
    std::string file, data;
  };
  const std::string seven = "\x07\x00\x00\x00\x00\x00\x00\x00"s;
  for (const Case& each : {Case{ElementType::f32, {3}, three_floats, three_floats_data},
                           Case{ElementType::i64, {}, saved("<i8", "()", seven), seven},
                           Case{ElementType::f32, {0, 3}, saved("<f4", "(0, 3)", ""), ""},
                           Case{ElementType::i8, {1}, saved("|i1", "(1,)", "\xfd"), "\xfd"},
                           Case{ElementType::f16, {1}, saved("<f2", "(1,)", "\x00>"s), "\x00>"s}}) {
    check_array(each.file, each.type, each.shape, each.data);
    CHECK(npy_file(each.type, each.shape, bytes_of(each.data)) == each.file);
  }
}

TEST_CASE("arrays of NumPy in versions 2.0 and 3.0, and bool as u8") {
  check_array("\x93NUMPY\x02\x00t\x00\x00\x00{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }"s +
                  spaces(56) + "\n\x00\x00\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00"s,
              ElementType::u16, {2, 3}, "\x00\x00\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00"s);
  check_array("\x93NUMPY\x03\x00t\x00\x00\x00{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }"s +
                  spaces(58) + "\n\xff\xff\x02\x00"s,
              ElementType::i16, {2}, "\xff\xff\x02\x00"s);
  check_array(saved("|b1", "(2,)", "\x01\x00"s), ElementType::u8, {2}, "\x01\x00"s);
}

TEST_CASE("big-endian arrays are refused, single bytes have no order") {
  CHECK(refused_array(with_descr("'>u4'", "1234")) ==
        "an array of big-endian numbers (\">u4\") cannot be read");
  check_array(with_descr("'>i1'", "1"), ElementType::i8, {1}, "1");
}

TEST_CASE("every element type is read in every notation of its byte order") {
  const std::vector<std::string> codes{"i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"};
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const auto type = static_cast<ElementType>(i);
    const std::string data = std::string("12345678").substr(0, element_bytes(type));
    for (const std::string order : {"<", "=", "|", ""}) {
      check_array(with_descr("'" + order + codes[i] + "'", data), type, {1}, data);
    }
  }
}

TEST_CASE("a header may be written in any of Python's ways") {
  const std::string data = "12345678";
  check_array(with_header("{\"shape\":(2,),\"descr\":\"<f4\",\"fortran_order\":False}", data),
              ElementType::f32, {2}, data);
  check_array(with_header(" { 'descr' : '<f4' ,\n'fortran_order':\tTrue,'shape':( 1L , 2L, ) , } \n", data),
              ElementType::f32, {1, 2}, data);
}

TEST_CASE("column-major order is refused if it differs from row-major") {
  CHECK(refused_array("\x93NUMPY\x01\x00v\x00{'descr': '|i1', 'fortran_order': True, 'shape': (2, 2), }"s +
                      spaces(59) + "\n\x00\x02\x01\x03"s) ==
        "the array of shape (2, 2) is stored by columns");
  for (const auto& [shape, dimensions] : {std::pair{"(1, 4)", Shape{1, 4}}, {"(4, 1)", {4, 1}}}) {
    check_array(with_header("{'descr': '|i1', 'fortran_order': True, 'shape': "s + shape + "}", "1234"),
                ElementType::i8, dimensions, "1234");
  }
  check_array(with_header("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 0, 2)}"), ElementType::i8,
              {2, 0, 2}, "");
}

TEST_CASE("the data of a written file is aligned, whatever the shape") {
  Shape shape;
  for (int dimensions = 0; dimensions <= 32; ++dimensions) {
    const std::string header = npy_header(ElementType::u8, shape);
    CHECK(header.size() % 64 == 0);
    check_array(header + "x", ElementType::u8, shape, "x");
    shape.push_back(1);
  }
  CHECK(npy_header(ElementType::f64, Shape{UINT64_MAX}).size() == 128);
}

TEST_CASE("a file cut off anywhere is refused") {
  for (std::size_t size = 0; size < three_floats.size(); ++size) {
    CHECK_FALSE(parse_npy(std::string_view(three_floats).substr(0, size)));
  }
  CHECK(refused_array("") == "not a NumPy array: the file does not begin with \\x93NUMPY");
  CHECK(refused_array("\x93NUMPY") == "the file ends before its header");
  CHECK(refused_array("\x93NUMPY\1\0v"s) == "the file ends before its header");
  CHECK(refused_array("\x93NUMPY\2\0v\0\0"s) == "the file ends before its header");
  CHECK(refused_array("\x93NUMPY\2\0\xff\xff\xff\xff{"s) ==
        "the file ends within its header, after 1 of 4294967295 bytes");
  CHECK(refused_array(three_floats.substr(0, 139)) ==
        "the file holds 11 bytes of data, and f32 of shape (3,) are 12");
  CHECK(refused_array(three_floats + "x") == "the file holds 13 bytes of data, and f32 of shape (3,) are 12");
}

TEST_CASE("other files and versions are refused") {
  CHECK(refused_array("PK\3\4") == "not a NumPy array: the file does not begin with \\x93NUMPY");
  for (const auto& [bytes, version] : {std::pair("\4\0"s, "4.0"), {"\1\1"s, "1.1"}, {"\0\0"s, "0.0"}}) {
    CHECK(refused_array("\x93NUMPY" + bytes) ==
          fmt::format("version {} of NumPy's format is not known", version));
  }
}

TEST_CASE("arrays of other types are refused by name") {
  for (const std::string descr :
       {"<c8", "|O", "<U12", "|S3", "<M8[ns]", "<m8[s]", "|V3", "<f16", "<i3", "", "<"}) {
    CHECK(refused_array(with_descr("'" + descr + "'")) ==
          "an array of type \"" + descr + "\" cannot be read");
  }
  CHECK(refused_array(with_descr("[('x', '<f4'), ('y', '<i4')]")) == "an array of structures cannot be read");
  CHECK(refused_array(with_descr("('<f4', (2,))")) == "an array of structures cannot be read");
}

TEST_CASE("the shape is checked before it is used") {
  const std::string huge = "(4294967296, 4294967296)";
  CHECK(refused_array(with_shape(huge)) ==
        "an array of shape " + huge + " does not fit 64 bits of address space");
  CHECK(refused_array(with_shape("(4611686018427387904,)")) ==
        "an array of shape (4611686018427387904,) does not fit 64 bits of address space");
  CHECK(refused_array(with_shape("(4611686018427387903,)")) ==
        "the file holds 0 bytes of data, and f32 of shape (4611686018427387903,) are 18446744073709551612");
  check_array(with_shape("(4294967296, 4294967296, 0)"), ElementType::f32, {4294967296, 4294967296, 0}, "");
  const auto shape_damage = [](const std::string& shape) {
    return damage("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}");
  };
  const std::string range = " is outside the range 0 to 18446744073709551615 at /shape/";
  CHECK(shape_damage("(18446744073709551616,)") == "18446744073709551616" + range + "0");
  CHECK(shape_damage("(2, -3)") == "-3" + range + "1");
  CHECK(shape_damage("(3.0,)") == "3.0 is not written as an integer at /shape/0");
  CHECK(shape_damage("3") == "expected an array, got a number at /shape");
  for (const std::string shape : {"((((((((1,),", "(0x10,)", "(3 3)"}) {
    CHECK(shape_damage(shape) == "the header of the array is damaged");
  }
}

TEST_CASE("the error of a damaged header states what was expected and found") {
  for (const std::string header :
       {"", "{", "{'descr", "{'descr' '<f4'}", "{'descr': <f4}", "{'descr': '<f4' 'shape': ()}",
        "{'fortran_order': Falsehood}", "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x",
        "{'descr': '\x1b[31m', 'fortran_order': False, 'shape': ()}"}) {
    CHECK(damage(header) == "the header of the array is damaged");
  }
  CHECK(damage("{'descr': '<f4', 'fortran_order': 0, 'shape': ()}") ==
        "expected true or false, got a number at /fortran_order");
  CHECK(damage("{'descr': '<f4', 'shape': ()}") == "missing key \"fortran_order\"");
  CHECK(damage("{'descr': '<f4', 'descr': '<f4'}") == "duplicate key \"descr\" at /descr");
  CHECK(damage("{'shapes': ()}") == "unknown key \"shapes\" at /shapes");
  CHECK(damage(std::string(60000, '[')).starts_with("nesting deeper than 64 levels"));
}
