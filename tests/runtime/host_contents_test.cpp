// Contents in host memory, pinned as for a GPU and not, copied to a device and back.
#include "device/session.hpp"
#include "runtime/memory.hpp"
#include <tidegate/device/device_list.hpp>

namespace tidegate::runtime {
namespace {

// This machine's CPU, treated as a device across a bus or as a host device.
std::unique_ptr<device::Session> session_on_cpu(bool on_host) {
  const auto list = device::list_devices();
  REQUIRE(list);
  const auto found = device::select_device(*list, "cpu");
  REQUIRE(found);
  auto session = device::open_session(**found);
  REQUIRE(session);
  (*session)->on_host = on_host;
  return *std::move(session);
}

BufferContents random_contents(std::mt19937& random) {
  BufferContents contents(1 + random() % 6);
  for (auto& bytes : contents) {
    bytes.resize(random() % 3 == 0 ? 0 : random() % 5000);
    for (std::byte& byte : bytes) {
      byte = static_cast<std::byte>(random() & 255U);
    }
  }
  return contents;
}

constexpr std::uint64_t plenty = 1 << 20U;

} // namespace

TEST_CASE("contents stay what they are, and go to the device and back") {
  std::mt19937 random(1);
  for (const bool on_host : {false, true}) {
    const auto opened = session_on_cpu(on_host);
    const device::Session& session = *opened;
    for (int round = 0; round < 20; ++round) {
      BufferContents contents = random_contents(random);
      contents[0].resize(7);
      std::vector<std::uint64_t> sizes;
      for (const auto& bytes : contents) {
        sizes.push_back(bytes.size());
      }
      const HostContents plain(contents);
      const HostContents first(session, contents, plenty);
      HostContents back(session, sizes, plenty);
      CHECK(!plain.pinned());
      CHECK(first.pinned() == !on_host);
      CHECK(back.pinned() == !on_host);
      CHECK(first == plain);
      CHECK(first.size() == contents.size());
      for (std::size_t i = 0; i < contents.size(); ++i) {
        REQUIRE(same_bytes(first[i], contents[i]));
        REQUIRE(back[i].size() == contents[i].size());
        const device::Buffer memory = allocate(session, sizes[i]);
        upload(session, memory, 0, first[i], Transferred::later);
        download(session, memory, 0, back[i], Transferred::later);
      }
      REQUIRE(session.finish() == device::success);
      CHECK(back == first);
      back[0].back() ^= std::byte{1};
      CHECK(!(back == first));
    }
  }
}

} // namespace tidegate::runtime
