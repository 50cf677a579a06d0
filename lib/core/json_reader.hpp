// Reads JSON token by token, with nlohmann_json's SAX parser, and knows where each token is in the text.
#pragma once
#include <tidegate/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tidegate::documents {

// A value that is no array or object. Only numbers with a sign are int64, only those with a point, an exponent or more
// than 64 bits are double.
using Scalar = std::variant<std::nullptr_t, bool, std::uint64_t, std::int64_t, double, std::string_view>;

// Receives the tokens of a document in their order. After false it receives no more.
class JsonHandler {
public:
  JsonHandler() = default;
  virtual ~JsonHandler() = default;
  JsonHandler(const JsonHandler&) = delete;
  JsonHandler& operator=(const JsonHandler&) = delete;

  virtual bool scalar(const Scalar& value) = 0;
  virtual bool key(std::string_view key) = 0;
  virtual bool open(bool is_list) = 0;
  virtual bool close(bool is_list) = 0;

  std::size_t begin = 0; // the token that is being handled, in bytes
  std::size_t end = 0;
  bool stopped = false; // a function has returned false
};

// Returns the reason that `json` is not a single JSON value: empty_input, syntax_error, too_deep, or out_of_range for a
// number beyond the range of a double. Nothing if it is one; the text is read to its end for that.
std::optional<Error> read_json(std::string_view json, JsonHandler& handler);

// Follows the pointer (RFC 6901) of each value.
class PathHandler : public JsonHandler {
public:
  bool scalar(const Scalar& value) final {
    begin_value();
    return found(value);
  }
  bool key(std::string_view key) final;
  bool open(bool is_list) final;
  bool close(bool is_list) final;

protected:
  struct Container {
    bool is_list = false;
    std::size_t begin = 0;       // of its bracket
    std::size_t next = 0;        // index of a list's next item; the number of keys so far
    std::size_t path_length = 0; // of the container's pointer
    std::string last_key;
  };

  virtual bool found(const Scalar& /*value*/) { return true; }
  virtual bool opened() { return true; }                               // the innermost of `containers` is new
  virtual bool closed(const Container& /*container*/) { return true; } // `path` is its pointer again

  std::string path;
  std::vector<Container> containers;

private:
  void begin_value();
};

// Returns the reason that `json` is not a single JSON value, as read_json() does.
std::optional<Error> syntax_error(std::string_view json);

} // namespace tidegate::documents
