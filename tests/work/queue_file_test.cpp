// Files of work items: accepted forms, and errors with their lines.
#include "../temporary_folder.hpp"
#include "work/queue.hpp"

using namespace tidegate;
using namespace tidegate::engine;

namespace {

// The items in a file with this name and text, of a queue with these lists.
Result<std::vector<QueueItem>> items_in(const std::string& text, const std::string& name = "items.ndjson",
                                        const QueueSpec& lists = {.ops = {"add"}, .buffers = {"a", "b"}}) {
  const tidegate::test::TemporaryFolder folder;
  folder.write(name, text);
  QueueSpec queue = lists;
  queue.file = name;
  return read_items(queue, folder.path(), PathScope::folder, "/queue");
}

std::string refusal(const std::string& text) {
  const auto items = items_in(text);
  return items ? "none"
               : fmt::format("{} {}:{}: {}", name(items.error().code), *items.error().line,
                             items.error().column.value_or(0), items.error().message);
}

} // namespace

TEST_CASE("a byte order mark begins no item") {
  const std::string line = R"({"op_handle": 0, "input_handle": 1, "output_handle": 2, "param": 3})";
  CHECK(items_in("\xef\xbb\xbf" + line)->at(0).param == 3);
  CHECK(refusal("\xef\xbb\xbf{") == refusal("{"));
}

TEST_CASE("lines and bytes hold the same items") {
  std::mt19937 random(7);
  std::vector<QueueItem> items(200);
  std::string lines;
  std::string bytes;
  for (QueueItem& item : items) {
    item = {static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random() % 10),
            static_cast<std::uint32_t>(random() % 2), static_cast<std::uint32_t>(random())};
    const bool turned = random() % 2 == 0;
    lines +=
        turned ? fmt::format(
                     "{{\"param\" :{}, \"output_handle\":\t{},\"input_handle\":{},\"op_handle\":{} }}\r\n\n",
                     item.param, item.output_handle, item.input_handle, item.op_handle)
               : fmt::format(R"({{"op_handle": {}, "input_handle": {}, "output_handle": {}, "param": {}}})"
                             "\n",
                             item.op_handle, item.input_handle, item.output_handle, item.param);
    for (const std::uint32_t word : {item.op_handle, item.input_handle, item.output_handle, item.param}) {
      for (std::uint32_t shift = 0; shift < 32; shift += 8) {
        bytes += static_cast<char>(word >> shift & 0xffU);
      }
    }
  }
  CHECK(items_in(lines) == items);
  CHECK(items_in(lines, "items.jsonl") == items);
  CHECK(items_in(bytes, "items.bin") == items);
}

TEST_CASE("wrong lines") {
  const std::string good = R"({"op_handle":0,"input_handle":0,"output_handle":1,"param":0})";
  CHECK(refusal(good) == "none");
  CHECK(refusal(good + "\n" + good + " x") == "bad_queue 2:62: not JSON: invalid literal at \"x\"");
  CHECK(refusal("\n7") == "bad_queue 2:1: expected an object, got a number");
  CHECK(refusal("{}") == R"(bad_queue 1:2: missing key "param")");
  CHECK(refusal(R"({"opcode":1})") == "bad_queue 1:2: unknown key \"opcode\"");
  CHECK(refusal(R"({"op_handle" 1})") == "bad_queue 1:14: not JSON: expected ':' at \"1}\"");
  CHECK(refusal(R"({"op_handle":1,"op_handle":1})") == "bad_queue 1:16: duplicate key \"op_handle\"");
  for (const std::string number : {"-1", "1.5", "1e3", "4294967296", "true", "\"1\""}) {
    const std::string line = "{\"op_handle\":" + number + R"(,"input_handle":0,"output_handle":1,"param":0})";
    CHECK(refusal(line).starts_with("bad_queue 1:14: "));
  }
}

TEST_CASE("items name ops and buffers") {
  const auto items = items_in(R"({"op":"y","input":"b","output":"a","param":5}
{"op":"x","input_handle":7,"output":"b","param":0}
)",
                              "items.ndjson", {.ops = {"x", "z", "u", "y"}, .buffers = {"c", "b", "a"}});
  REQUIRE(items);
  CHECK(*items == std::vector<QueueItem>{{3, 1, 2, 5}, {0, 7, 1, 0}});
  CHECK(refusal(R"({"op":"add","input":"a","output":"b","param":0})") == "none");
  CHECK(refusal("\n"
                R"({"op":"sub","input":"a","output":"b","param":0})") ==
        R"(unknown_name 2:0: there is no op of the queue "sub")");
  CHECK(refusal(R"({"op":"add","input":"a","output":"c","param":0})") ==
        R"(unknown_name 1:0: there is no buffer of the queue "c")");
  CHECK(refusal(R"({"op":"add","input":"a","param":0})") ==
        "bad_queue 1:1: missing key: one of output or output_handle");
  CHECK(refusal(R"({"op":"add","op_handle":0,"input":"a","output":"b","param":0})") ==
        "bad_queue 1:1: more than one of op or op_handle");
}
