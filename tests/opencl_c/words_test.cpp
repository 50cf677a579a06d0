// Words of OpenCL C: types in one spelling, qualifiers, and functions that need the work-item or its whole
// group.
#include "opencl_c/words.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

using namespace tidegate;
using namespace tidegate::opencl_c;

namespace {

std::string type_of(const std::vector<std::string_view>& words) {
  return canonical_type(words);
}

} // namespace

TEST_CASE("integers have many spellings and one name") {
  CHECK(type_of({"int"}) == "int");
  CHECK(type_of({"signed"}) == "int");
  CHECK(type_of({"signed", "int"}) == "int");
  CHECK(type_of({"int", "signed"}) == "int");
  CHECK(type_of({"unsigned"}) == "uint");
  CHECK(type_of({"unsigned", "int"}) == "uint");
  CHECK(type_of({"int", "unsigned"}) == "uint");
  CHECK(type_of({"char"}) == "char");
  CHECK(type_of({"signed", "char"}) == "char");
  CHECK(type_of({"unsigned", "char"}) == "uchar");
  CHECK(type_of({"char", "unsigned"}) == "uchar");
  CHECK(type_of({"short", "int"}) == "short");
  CHECK(type_of({"int", "short"}) == "short");
  CHECK(type_of({"unsigned", "short", "int"}) == "ushort");
  CHECK(type_of({"short", "unsigned", "int"}) == "ushort");
  CHECK(type_of({"long"}) == "long");
  CHECK(type_of({"long", "int"}) == "long");
  CHECK(type_of({"int", "long"}) == "long");
  CHECK(type_of({"unsigned", "long"}) == "ulong");
  CHECK(type_of({"long", "unsigned", "int"}) == "ulong");
  CHECK(type_of({"int", "long", "unsigned"}) == "ulong");
}

TEST_CASE("other types keep their name") {
  CHECK(type_of({"float4"}) == "float4");
  CHECK(type_of({"size_t"}) == "size_t");
  CHECK(type_of({"void"}) == "void");
  CHECK(type_of({"record"}) == "record");
  CHECK(type_of({}).empty());
}

TEST_CASE("arithmetic types are a scalar and a width") {
  for (const std::string_view scalar :
       {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double", "half"}) {
    const auto alone = arithmetic_type(scalar);
    REQUIRE(alone);
    CHECK(alone->scalar == scalar);
    CHECK(alone->width == 1);
    for (std::uint32_t width = 0; width < 100; ++width) {
      const auto vector = arithmetic_type(std::string(scalar) + std::to_string(width));
      const bool is_type = width == 2 || width == 3 || width == 4 || width == 8 || width == 16;
      CHECK(vector.has_value() == is_type);
      if (vector && is_type) {
        CHECK(vector->scalar == scalar);
        CHECK(vector->width == width);
      }
    }
  }
  for (const std::string_view other :
       {"", "4", "bool", "bool4", "size_t", "void", "Float4", "float4x", "float 4", "float-4",
        "float44444444444444", "image2d_t", "unsigned int"}) {
    INFO(other);
    CHECK_FALSE(arithmetic_type(other));
  }
}

TEST_CASE("address spaces and attributes in both spellings") {
  CHECK(address_space("global") == AddressSpace::global);
  CHECK(address_space("__global") == AddressSpace::global);
  CHECK(address_space("constant") == AddressSpace::constant);
  CHECK(address_space("__constant") == AddressSpace::constant);
  CHECK(address_space("local") == AddressSpace::local);
  CHECK(address_space("__local") == AddressSpace::local);
  for (const std::string_view other :
       {"private", "__private", "generic", "const", "_global", "globals", "__", ""}) {
    CHECK(address_space(other) == AddressSpace::none);
  }
  CHECK(is_attribute("__attribute__"));
  CHECK(is_attribute("__attribute"));
  CHECK_FALSE(is_attribute("attribute"));
}

TEST_CASE("qualifiers are no type words, and the other way round") {
  for (const std::string_view word :
       {"const", "volatile", "restrict", "__restrict", "inline", "static", "extern", "kernel", "__kernel",
        "private", "__private", "generic", "__generic", "global", "__global", "local", "__local", "constant",
        "__constant"}) {
    INFO(word);
    CHECK(is_qualifier(word));
    CHECK_FALSE(is_type_word(word));
  }
  for (const std::string_view word :
       {"void", "bool", "unsigned", "signed", "int", "ulong", "half16", "double3", "size_t", "ptrdiff_t",
        "intptr_t", "uintptr_t", "struct", "union", "enum", "event_t"}) {
    INFO(word);
    CHECK(is_type_word(word));
    CHECK_FALSE(is_qualifier(word));
  }
  CHECK_FALSE(is_type_word("x"));
  CHECK_FALSE(is_qualifier("x"));
}

TEST_CASE("functions that ask where the work-item is") {
  for (const std::string_view name :
       {"get_work_dim", "get_global_size", "get_global_id", "get_local_size", "get_local_id",
        "get_num_groups", "get_group_id", "get_global_offset", "get_global_linear_id", "get_local_linear_id",
        "get_enqueued_local_size"}) {
    INFO(name);
    CHECK(is_builtin(name, Builtin::Kind::id));
    CHECK_FALSE(is_collective(name));
    CHECK_FALSE(is_unsupported(name));
  }
  CHECK_FALSE(is_builtin("tg_get_global_id", Builtin::Kind::id));
  CHECK_FALSE(is_builtin("get_image_width", Builtin::Kind::id));
  CHECK_FALSE(is_builtin("get_sub_group_id", Builtin::Kind::id));
}

TEST_CASE("names that no kernel can have") {
  for (const std::string_view name :
       {"mix", "native_sin", "half_sqrt", "atomic_add", "atom_xchg", "vload4", "vstore_half2",
        "vloada_half16", "convert_int4", "convert_uchar_sat_rte", "as_float", "shuffle2", "read_imageui",
        "get_image_width", "async_work_group_copy", "isgreater", "get_global_id"}) {
    INFO(name);
    CHECK(is_reserved_name(name));
  }
  for (const std::string_view name : {"native_step", "half_pass", "atomic_sum", "vload_all", "convert_all",
                                      "as_is", "get_max", "read_data", "shuffled"}) {
    INFO(name);
    CHECK_FALSE(is_reserved_name(name));
  }
}

TEST_CASE("functions that a whole group must reach") {
  for (const std::string_view name : {"barrier",
                                      "work_group_barrier",
                                      "async_work_group_copy",
                                      "async_work_group_strided_copy",
                                      "wait_group_events",
                                      "work_group_reduce_add",
                                      "work_group_scan_inclusive_max",
                                      "work_group_broadcast",
                                      "work_group_all",
                                      "work_group_any",
                                      "sub_group_barrier",
                                      "sub_group_reduce_min",
                                      "sub_group_shuffle_xor",
                                      "intel_sub_group_shuffle",
                                      "get_sub_group_id",
                                      "get_sub_group_size",
                                      "get_sub_group_local_id",
                                      "get_num_sub_groups",
                                      "get_max_sub_group_size",
                                      "get_sub_group_eq_mask",
                                      "get_enqueued_num_sub_groups"}) {
    INFO(name);
    CHECK(is_collective(name));
  }
  for (const std::string_view name : {"mem_fence", "read_mem_fence", "atomic_add", "prefetch", "my_barrier",
                                      "work_groups", "sub_groups", "barriers"}) {
    INFO(name);
    CHECK_FALSE(is_collective(name));
  }
}

TEST_CASE("what cannot be carried") {
  for (const std::string_view word :
       {"image2d_msaa_t", "image2d_array_msaa_depth_t", "queue_t", "clk_event_t", "ndrange_t", "reserve_id_t",
        "pipe", "__pipe", "enqueue_kernel", "get_default_queue", "read_pipe", "write_pipe",
        "create_user_event"}) {
    INFO(word);
    CHECK(is_unsupported(word));
  }
  for (const std::string_view word : {"image", "images", "image_size", "my_image2d_t", "image2d_t",
                                      "sampler_t", "event_t", "pipes", "queue"}) {
    INFO(word);
    CHECK_FALSE(is_unsupported(word));
  }
}

TEST_CASE("images and what a kernel does to them") {
  for (const std::string_view word : {"image1d_t", "image1d_buffer_t", "image1d_array_t", "image2d_t",
                                      "image2d_array_t", "image2d_depth_t", "image3d_t"}) {
    INFO(word);
    CHECK(is_image_type(word));
    CHECK(is_type_word(word));
  }
  for (const std::string_view word : {"image", "image2d", "my_image2d_t", "image4d_t", "sampler_t"}) {
    INFO(word);
    CHECK_FALSE(is_image_type(word));
  }
  CHECK(image_access("read_only") == ImageAccess::read_only);
  CHECK(image_access("__write_only") == ImageAccess::write_only);
  CHECK(image_access("read_write") == ImageAccess::read_write);
  CHECK_FALSE(image_access("read"));
  CHECK(is_qualifier("__read_only"));
}

TEST_CASE("functions of sub-groups") {
  CHECK(is_builtin("sub_group_reduce_add", Builtin::Kind::sub_group));
  CHECK(is_builtin("get_sub_group_size", Builtin::Kind::sub_group));
  CHECK(is_builtin("intel_sub_group_shuffle", Builtin::Kind::sub_group));
  CHECK_FALSE(is_builtin("work_group_reduce_add", Builtin::Kind::sub_group));
  CHECK_FALSE(is_builtin("barrier", Builtin::Kind::sub_group));
}
