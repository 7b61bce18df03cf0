#include "base/load_guard.h"

#include <cstdio>

namespace mvsim {

LoadGuard::LoadGuard(uint64_t memory_limit, Poll poll)
    : memory_limit_(memory_limit), poll_(std::move(poll)) {}

void LoadGuard::take(double bytes, const SourceLocation& where, std::string_view what) {
  if (try_take(bytes)) return;
  char numbers[160];
  std::snprintf(numbers, sizeof numbers,
                " takes %.3g GB of memory, %.3g GB with all before; expected at most memory_limit, %.3g GB",
                bytes / 1e9, (used_ + bytes) / 1e9, static_cast<double>(memory_limit_) / 1e9);
  throw WorldFileError(where, std::string(what) + numbers);
}

bool LoadGuard::try_take(double bytes) {
  const bool fits = used_ + bytes <= static_cast<double>(memory_limit_);
  if (fits) used_ += bytes;
  return fits;
}

}  // namespace mvsim
