#include <tidegate/opencl_c/predefined_macros.hpp>

namespace tidegate::opencl_c {

const std::set<std::string, std::less<>>& standard_macros() {
  static const std::set<std::string, std::less<>> names = [] {
    std::set<std::string, std::less<>> all{"NULL",
                                           "INFINITY",
                                           "NAN",
                                           "HUGE_VAL",
                                           "HUGE_VALF",
                                           "MAXFLOAT",
                                           "CHAR_BIT",
                                           "CHAR_MAX",
                                           "CHAR_MIN",
                                           "SCHAR_MAX",
                                           "SCHAR_MIN",
                                           "UCHAR_MAX",
                                           "SHRT_MAX",
                                           "SHRT_MIN",
                                           "USHRT_MAX",
                                           "INT_MAX",
                                           "INT_MIN",
                                           "UINT_MAX",
                                           "LONG_MAX",
                                           "LONG_MIN",
                                           "ULONG_MAX",
                                           "FP_ILOGB0",
                                           "FP_ILOGBNAN",
                                           "FP_FAST_FMA",
                                           "FP_FAST_FMAF",
                                           "FP_FAST_FMA_HALF",
                                           "FLT_EVAL_METHOD",
                                           "FLT_RADIX",
                                           "printf",
                                           "kernel_exec",
                                           "CL_VERSION_1_0",
                                           "CL_VERSION_1_1",
                                           "CL_VERSION_1_2",
                                           "CL_VERSION_2_0",
                                           "CL_VERSION_3_0",
                                           "__OPENCL_VERSION__",
                                           "__OPENCL_C_VERSION__",
                                           "__OPENCL_CPP_VERSION__",
                                           "__OPENCL_C__",
                                           "__ENDIAN_LITTLE__",
                                           "__IMAGE_SUPPORT__",
                                           "__FAST_RELAXED_MATH__",
                                           "__kernel_exec",
                                           "__clang__",
                                           "__clang_major__",
                                           "__GNUC__",
                                           "__NVCC__",
                                           "__NV_CL_C_VERSION",
                                           "__CUDA_ARCH__",
                                           "__SPIR__",
                                           "__SPIRV__",
                                           "__POCL__",
                                           "__CPU__",
                                           "__GPU__",
                                           "__AMD__",
                                           "__INTEL__",
                                           "__x86_64__",
                                           "__LP64__",
                                           "__has_builtin",
                                           "__has_extension",
                                           "__has_feature",
                                           "__has_attribute",
                                           "__has_include",
                                           "__cplusplus",
                                           "__STDC__",
                                           "__STDC_VERSION__",
                                           "__APPLE__",
                                           "__linux__",
                                           "__OPTIMIZE__",
                                           "__NO_SIGNED_ZEROS__",
                                           "__SIZEOF_POINTER__",
                                           "ATOMIC_VAR_INIT",
                                           "ATOMIC_FLAG_INIT",
                                           "CLK_LOCAL_MEM_FENCE",
                                           "CLK_GLOBAL_MEM_FENCE",
                                           "CLK_IMAGE_MEM_FENCE",
                                           "CLK_NORMALIZED_COORDS_TRUE",
                                           "CLK_NORMALIZED_COORDS_FALSE",
                                           "CLK_ADDRESS_NONE",
                                           "CLK_ADDRESS_CLAMP",
                                           "CLK_ADDRESS_CLAMP_TO_EDGE",
                                           "CLK_ADDRESS_REPEAT",
                                           "CLK_ADDRESS_MIRRORED_REPEAT",
                                           "CLK_FILTER_NEAREST",
                                           "CLK_FILTER_LINEAR"};
    for (const char* type : {"FLT", "DBL", "HALF"}) {
      for (const char* limit : {"DIG", "MANT_DIG", "MAX_10_EXP", "MAX_EXP", "MIN_10_EXP", "MIN_EXP", "RADIX",
                                "MAX", "MIN", "EPSILON"}) {
        all.insert(std::string(type) + "_" + limit);
      }
    }
    for (const char* constant : {"E", "LOG2E", "LOG10E", "LN2", "LN10", "PI", "PI_2", "PI_4", "1_PI", "2_PI",
                                 "2_SQRTPI", "SQRT2", "SQRT1_2"}) {
      for (const char* type : {"", "_F", "_H"}) {
        all.insert("M_" + std::string(constant) + type);
      }
    }
    for (const char* feature :
         {"3d_image_writes", "atomic_order_acq_rel", "atomic_order_seq_cst", "atomic_scope_device",
          "atomic_scope_all_devices", "device_enqueue", "fp64", "generic_address_space", "images", "int64",
          "pipes", "program_scope_global_variables", "read_write_images", "subgroups",
          "work_group_collective_functions"}) {
      all.insert("__opencl_c_" + std::string(feature));
    }
    for (const char* extension :
         {"fp64", "fp16", "byte_addressable_store", "global_int32_base_atomics",
          "global_int32_extended_atomics", "local_int32_base_atomics", "local_int32_extended_atomics",
          "int64_base_atomics", "int64_extended_atomics", "3d_image_writes", "subgroups"}) {
      all.insert("cl_khr_" + std::string(extension));
    }
    all.insert({"cl_amd_fp64", "cl_nv_pragma_unroll"});
    return all;
  }();
  return names;
}

bool may_be_predefined(std::string_view name) {
  return name.starts_with('_') || name.starts_with("cl_") || name.starts_with("CL") ||
         standard_macros().contains(name);
}

bool is_condition_operator(std::string_view name) {
  return name.starts_with("__has_") || name == "__is_identifier" || name == "__building_module";
}

} // namespace tidegate::opencl_c
