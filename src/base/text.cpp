#include "base/text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace mvsim {

SourceText::SourceText(std::string path, std::string text)
    : path_(std::make_shared<const std::string>(std::move(path))), text_(std::move(text)), line_starts_{0} {
  for (size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1))
    line_starts_.push_back(at + 1);
}

SourceLocation SourceText::where(size_t offset) const {
  const auto next =
      std::upper_bound(line_starts_.begin(), line_starts_.end(), std::min(offset, text_.size()));
  const size_t line = static_cast<size_t>(next - line_starts_.begin());
  return {path_, static_cast<int>(line), static_cast<int>(offset - line_starts_[line - 1] + 1)};
}

namespace {

// Whether all of eight bytes are printable ASCII; may deny it of some that are.
bool are_plain(const char* bytes) {
  constexpr uint64_t kOnes = 0x0101010101010101, kHighBits = 0x80 * kOnes;
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return ((word | (word - 0x20 * kOnes)) & kHighBits) == 0;  // a byte below 0x20 borrows
}

}  // namespace

size_t utf8_length(std::string_view s) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || s.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool outside = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  return overlong || outside ? 0 : length;
}

size_t find_not_text(std::string_view s) {
  for (size_t i = 0; i < s.size();) {
    if (i + 8 <= s.size() && are_plain(s.data() + i)) {
      i += 8;
      continue;
    }
    const auto c = static_cast<unsigned char>(s[i]);
    if (c >= 0x20 && c < 0x80) {
      ++i;
      continue;
    }
    const size_t length = utf8_length(s.substr(i));
    if (length == 0 || (c < 0x20 && c != '\t' && c != '\r' && c != '\n')) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::string printable(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t length = c < 0x20 || c == 0x7f ? 0 : utf8_length(text.substr(i));
    if (length > 0) {
      out += text.substr(i, length);
      i += length;
      continue;
    }
    constexpr char kHex[] = "0123456789abcdef";
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else
      out += std::string("\\x") + kHex[c >> 4] + kHex[c & 15];
    ++i;
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string short_number(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

std::string metres(double value) {
  return short_number(value, 3) + " m";
}

std::vector<std::string> split_words(std::string_view text, std::string_view separators) {
  std::vector<std::string> out;
  for (size_t begin = 0; (begin = text.find_first_not_of(separators, begin)) != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(separators, begin), text.size());
    out.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return out;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  const size_t last = path.find_last_not_of('/', slash);
  return last == std::string::npos ? "/" : path.substr(0, last + 1);
}

std::string join_path(const std::string& folder, const std::string& path) {
  if (folder.empty() || path.starts_with('/')) return path;
  return folder.ends_with('/') ? folder + path : folder + "/" + path;
}

}  // namespace mvsim
