#include "base/error.h"

#include <algorithm>

#include "base/text.h"

namespace mvsim {

std::string SourceLocation::text() const {
  std::string out = path ? *path : std::string("<unknown>");
  if (line > 0) out.append(":").append(std::to_string(line)).append(":").append(std::to_string(column));
  return out;
}

// Returns the message on one line. A message that quotes far too much keeps its start and its end, which say
// where the fault is and what was expected.
static std::string one_line(std::string_view message) {
  constexpr size_t kMaxBytes = 2000, kStart = 1200, kEnd = 600;
  if (message.size() <= kMaxBytes) return printable(message);
  return shortened(message, kStart) + " " + printable(message.substr(message.size() - kEnd));
}

Error::Error(std::string_view message) : std::runtime_error(one_line(message)) {}

WorldFileError::WorldFileError(SourceLocation where, const std::string& message)
    : Error(where.text() + ": " + message), where_(std::move(where)), message_(message) {}

static int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr size_t kLongestName = 80;  // a name worth correcting is short; keeps the cost bounded
  if (name.size() > kLongestName) return {};
  std::string best;
  int best_distance = std::max<int>(2, static_cast<int>(name.size()) / 2);
  for (const std::string& c : candidates) {
    if (c.size() > kLongestName) continue;
    const int d = edit_distance(name, c);
    if (d < best_distance || (d == best_distance && best.empty())) {
      best = c;
      best_distance = d;
    }
  }
  return best;
}

std::string shortened(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return printable(text);
  size_t length = max_bytes;
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) --length;
  return printable(text.substr(0, length)) + "...";
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string best = nearest_name(name, candidates);
  return best.empty() ? std::string() : ", did you mean '" + best + "'?";
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

std::string expected_one_of(std::string_view name, const std::vector<std::string>& known) {
  return "expected one of " + listed(known) + did_you_mean(name, known);
}

}  // namespace mvsim
