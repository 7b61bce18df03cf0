#include "assets/point_rows.h"

#include <charconv>
#include <cmath>

namespace mvsim {
namespace {

constexpr size_t kMaxPointBytes = size_t{256} << 20;
constexpr double kFarthest = 1e9;

}  // namespace

std::vector<double> read_point_rows(const OpenFile& file, size_t columns, size_t max_rows,
                                    const SourceLocation& where, LoadGuard& guard) {
  const TemporaryMemory memory(guard, static_cast<double>(file.size()), where, "the file of points");
  const std::string text = file.read(kMaxPointBytes);
  std::vector<double> out;
  size_t line = 1, in_row = 0;
  const auto fail = [&](const std::string& why) {
    return Error(shortened(file.path(), 500) + ":" + std::to_string(line) + ": " + why +
                 ", expected rows of " + std::to_string(columns) + " numbers");
  };
  const char *at = text.data(), *const end = at + text.size();
  if (text.starts_with("\xef\xbb\xbf")) at += 3;
  const auto end_row = [&] {
    if (in_row != 0 && in_row != columns) throw fail("found " + std::to_string(in_row) + " numbers");
    in_row = 0;
  };
  while (at < end) {
    if (*at == '#') {
      while (at < end && *at != '\n') ++at;
    } else if (*at == '\n') {
      end_row();
      ++line;
      ++at;
      if (line % 256 == 0) guard.poll();
    } else if (*at == ' ' || *at == '\t' || *at == '\r' || *at == ',' || *at == ';') {
      ++at;
    } else {
      double value = 0;
      if (*at == '+') ++at;
      const auto [next, status] = std::from_chars(at, end, value);
      if (status != std::errc() || !(std::fabs(value) <= kFarthest))
        throw fail("found no number that can be used");
      if (in_row++ == 0) {
        if (out.size() == max_rows * columns)
          throw Error(shortened(file.path(), 500) + ": has more than " + std::to_string(max_rows) +
                      " points");
        guard.take(static_cast<double>(columns * sizeof(double)), where, "the points");
      }
      out.push_back(value);
      at = next;
    }
  }
  end_row();
  if (out.empty()) throw fail("found none");
  return out;
}

}  // namespace mvsim
