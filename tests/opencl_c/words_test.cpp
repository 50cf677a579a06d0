// Words of the language: types, qualifiers and built-in functions.
#include "opencl_c/words.hpp"

using namespace tidegate;
using namespace tidegate::opencl_c;

namespace {

using Words = std::vector<std::string_view>;

// Checks a question about words: those with the answer yes, and those with no.
void check(const std::function<bool(std::string_view)>& question, const Words& yes, const Words& no) {
  for (const std::string_view word : yes) {
    CAPTURE(word);
    CHECK(question(word));
  }
  for (const std::string_view word : no) {
    CAPTURE(word);
    CHECK_FALSE(question(word));
  }
}

} // namespace

TEST_CASE("integers have many spellings and one name, other types keep theirs") {
  const std::vector<std::pair<Words, std::string>> cases{{{}, ""},
                                                         {{"signed"}, "int"},
                                                         {{"signed", "int"}, "int"},
                                                         {{"unsigned"}, "uint"},
                                                         {{"unsigned", "int"}, "uint"},
                                                         {{"signed", "char"}, "char"},
                                                         {{"unsigned", "char"}, "uchar"},
                                                         {{"short", "int"}, "short"},
                                                         {{"unsigned", "long", "int"}, "ulong"},
                                                         {{"float4"}, "float4"}};
  for (const auto& [given, expected] : cases) {
    Words words = given; // in any order
    std::ranges::sort(words);
    do {
      CHECK(canonical_type(words) == expected);
    } while (std::ranges::next_permutation(words).found);
  }
}

TEST_CASE("arithmetic types are a scalar and a width") {
  for (const std::string_view scalar :
       {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double", "half"}) {
    CHECK(arithmetic_type(scalar)->width == 1);
    for (std::uint32_t width = 0; width < 100; ++width) {
      const auto vector = arithmetic_type(std::string(scalar) + std::to_string(width));
      const bool is_type = width == 2 || width == 3 || width == 4 || width == 8 || width == 16;
      CHECK(vector.has_value() == is_type);
      CHECK((!is_type || (vector->scalar == scalar && vector->width == width)));
    }
  }
  check([](std::string_view word) { return arithmetic_type(word).has_value(); }, {},
        {"", "4", "bool", "bool4", "size_t", "void", "Float4", "float4x", "float 4", "float-4",
         "float44444444444444", "image2d_t", "unsigned int"});
}

TEST_CASE("names of families, and those that only look like them") {
  check(is_unsupported, {"image2d_msaa_t", "image2d_array_msaa_depth_t", "pipe"},
        {"image", "images", "image_size", "my_image2d_t", "image2d_t", "pipes", "queue"});
  check(is_collective,
        {"barrier", "work_group_reduce_add", "sub_group_shuffle_xor", "intel_sub_group_shuffle",
         "get_sub_group_id", "get_num_sub_groups", "get_max_sub_group_size"},
        {"my_barrier", "barriers", "work_groups", "sub_groups", "get_local_id", "prefetch", "atomic_add"});
  check(orders_nothing, {"get_local_id", "sqrt", "convert_int4", "vload2", "min"},
        {"barrier", "mem_fence", "printf", "atomic_add", "read_imagef", "of_a_vendor"});
  check([](std::string_view name) { return builtin(name) && builtin(name)->of_launch; },
        {"get_group_id", "get_num_groups", "get_global_size", "get_global_offset", "get_global_linear_id"},
        {"get_global_id", "get_local_size", "get_work_dim"});
  check(is_standard_macro, {"M_PI_F", "FLT_EPSILON", "INT_MAX", "CLK_LOCAL_MEM_FENCE", "NULL", "NAN"},
        {"PI", "MAX", "INT", "nan", "FLT", "local", "i"});
}
