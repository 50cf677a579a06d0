// Which device a selector means.
#include <tidegate/device/device_list.hpp>

using namespace tidegate;
using namespace tidegate::device;

namespace {

DeviceList three_devices() {
  DeviceList list;
  list.devices = {{.index = 0, .name = "pthread-Xeon", .type = DeviceType::cpu},
                  {.index = 1,
                   .name = "Big GPU 100",
                   .type = DeviceType::gpu,
                   .uuid = "1f00aabb-0011-2233-4455-66778899aabb"},
                  {.index = 2,
                   .name = "Big GPU 1000",
                   .type = DeviceType::gpu,
                   .uuid = "1f00aabb-0011-2233-4455-66778899aabc"}};
  return list;
}

std::string chosen(std::string_view selector) {
  const DeviceList list = three_devices();
  const auto device = select_device(list, selector);
  return device ? (*device)->name : std::string(name(device.error().code));
}

} // namespace

TEST_CASE("by index, type, UUID and name") {
  CHECK(chosen("0") == "pthread-Xeon");
  CHECK(chosen("2") == "Big GPU 1000");
  CHECK(chosen("cpu") == "pthread-Xeon");
  CHECK(chosen("GPU") == "Big GPU 100");
  CHECK(chosen("1f00aabb-0011-2233-4455-66778899aabc") == "Big GPU 1000");
  CHECK(chosen("GPU-1F00AABB00112233445566778899AABB") == "Big GPU 100");
  CHECK(chosen("xeon") == "pthread-Xeon");
  CHECK(chosen("1000") == "Big GPU 1000"); // no such index, but a part of a name
  CHECK(chosen("2000") == "no_device");
}

TEST_CASE("a whole name wins over a part, a part of several is ambiguous") {
  CHECK(chosen("big gpu 100") == "Big GPU 100");
  CHECK(chosen("big gpu 1000") == "Big GPU 1000");
  CHECK(chosen("big") == "ambiguous_device");
  DeviceList twins = three_devices();
  twins.devices[2].name = "Big GPU 100";
  CHECK(select_device(twins, "big gpu 100").error().code == ErrorCode::ambiguous_device);
  CHECK(select_device(twins, "2").value()->index == 2);
  const auto both = select_devices(twins, "big gpu 100");
  CHECK((both->size() == 2 && (*both)[0]->index == 1 && (*both)[1]->index == 2));
  CHECK(select_devices(twins, "2")->size() == 1);
  CHECK(select_devices(twins, "").value().front()->index == 1);
}

TEST_CASE("without a selector it is the first GPU, or else the first device") {
  CHECK(chosen("") == "Big GPU 100");
  DeviceList list = three_devices();
  list.devices.resize(1);
  CHECK(select_device(list, "").value()->name == "pthread-Xeon");
}

TEST_CASE("what is not there is an error that lists what is") {
  for (const char* selector :
       {"3", "4294967296", "accelerator", "1f00aabb-0011-2233-4455-66778899aabd", "-1", " "}) {
    CHECK(chosen(selector) != "Big GPU 100");
  }
  const DeviceList list = three_devices();
  const Error error = select_device(list, "tpu").error();
  CHECK(error.code == ErrorCode::no_device);
  CHECK(error.message == "no device is \"tpu\"");
  CHECK(error.fix == "choose one of 0: pthread-Xeon (cpu), 1: Big GPU 100 (gpu), 2: Big GPU 1000 (gpu)");
}

TEST_CASE("no device at all says what is known about why") {
  DeviceList list;
  list.broken_drivers.push_back({"/etc/OpenCL/vendors/x.icd", "libx.so: cannot open"});
  list.notes.emplace_back("platform Y has no devices");
  const Error error = select_device(list, "0").error();
  CHECK(error.code == ErrorCode::no_device);
  CHECK(error.message ==
        "there is no OpenCL device; /etc/OpenCL/vendors/x.icd: libx.so: cannot open; platform Y has "
        "no devices");
}
