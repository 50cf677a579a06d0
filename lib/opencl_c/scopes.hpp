// The names that are visible at one place of a file (C99 6.2.1).
#pragma once

#include <tidegate/opencl_c/translation_unit.hpp>

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace tidegate::opencl_c {

// Scopes inside of each other, the outermost of them the file's. Names are numbers to them.
class Scopes {
public:
  void open() { opened_.emplace_back(); }

  void close() {
    for (const std::string& key : opened_.back()) {
      visible_[key].pop_back();
    }
    opened_.pop_back();
  }

  [[nodiscard]] bool is_file_scope() const { return opened_.empty(); }

  void declare(const std::string& key, std::size_t name) {
    visible_[key].push_back({.name = name, .depth = opened_.size()});
    if (!opened_.empty()) {
      opened_.back().push_back(key);
    }
  }

  // What the key means here, or no_name.
  [[nodiscard]] std::size_t find(const std::string& key) const {
    const Entry* const entry = innermost(key);
    return entry == nullptr ? no_name : entry->name;
  }

  // What the innermost scope itself declares it to be, or no_name.
  [[nodiscard]] std::size_t find_innermost(const std::string& key) const {
    const Entry* const entry = innermost(key);
    return entry == nullptr || entry->depth != opened_.size() ? no_name : entry->name;
  }

private:
  struct Entry {
    std::size_t name = no_name;
    std::size_t depth = 0;
  };

  [[nodiscard]] const Entry* innermost(const std::string& key) const {
    const auto found = visible_.find(key);
    return found == visible_.end() || found->second.empty() ? nullptr : &found->second.back();
  }

  std::unordered_map<std::string, std::vector<Entry>> visible_; // the innermost last
  std::vector<std::vector<std::string>> opened_;                // what each scope declares
};

} // namespace tidegate::opencl_c
