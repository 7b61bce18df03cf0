// Texts and names of files: places in a text, checks of UTF-8, parts of paths.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace mvsim {

// A text file and the offsets of its lines. Immutable, thread-safe.

class SourceText {
 public:
  SourceText(std::string path, std::string text);

  const std::string& text() const { return text_; }
  const std::string& path() const { return *path_; }
  SourceLocation where(size_t offset) const;

 private:
  std::shared_ptr<const std::string> path_;
  std::string text_;
  std::vector<size_t> line_starts_;
};

// Checks of UTF-8 text, and a readable form of invalid bytes.

// Length of the valid sequence at the start of `text` (not empty), 0 when there is none.
size_t utf8_length(std::string_view text);

// Offset of the first byte that is not UTF-8 text (control characters are not), or npos.
size_t find_not_text(std::string_view text);

// One line of valid UTF-8: control characters as \n, \t, \r and \x1b, bytes that are no UTF-8 as \xff.
std::string printable(std::string_view text);

// The text without the blanks, tabs and ends of lines around it.
std::string_view trimmed(std::string_view text);

// A number for messages, of at most so many digits: "0.1", "1e+06".
std::string short_number(double value, int digits = 6);
// "0.123 m", of at most three digits.
std::string metres(double value);

// The words of a text, between any of these characters.
std::vector<std::string> split_words(std::string_view text, std::string_view separators = ", \t\r\n");

// Operations on names of files. Only assets/file_roots.h opens files.

std::string folder_of(const std::string& path);
std::string join_path(const std::string& folder, const std::string& path);  // `path` itself when absolute

}  // namespace mvsim
