// Warnings of one load, each kind reported once: with the place of the first and the number of them. Not
// thread-safe.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"

namespace mvsim {

class WarningList {
 public:
  // Returns true if the kind is new, so that its text is needed.
  bool is_new(const std::string& kind);
  void add(const std::string& kind, const SourceLocation& where, const std::string& text);
  std::vector<std::string> texts() const;

 private:
  struct Entry {
    std::string text;
    int count = 0;
  };
  std::map<std::string, size_t> index_;
  std::vector<Entry> entries_;
  size_t left_out_ = 0;
};

}  // namespace mvsim
