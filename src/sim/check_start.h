// Checks of the start: bodies inside of others, and heaps that no solver can take apart in time.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/load_guard.h"
#include "sim/clearance.h"

namespace mvsim {

// The first body of its kind that starts inside of something, and how many more do.
struct StartWarning {
  SourceLocation where;
  std::string text;  // without the place

  std::string line() const;  // "path:line:column: text"
};

// One warning for each kind: vehicle or movable block, inside of a vehicle, a block, a wall or a map. Bodies
// that only touch, and joined ones, do not count.
// Throws WorldFileError where more pairs of bodies start within each other than a step can take.
// `poll` (if any) is called for every body and may throw.
std::vector<StartWarning> check_start(const SimScene& sim, const Poll& poll = {});

// Throws the same for a heap alone. Fewer than kFewestOfHeap bodies, each with one other, make none.
inline constexpr size_t kFewestOfHeap = 200;
void refuse_heap(const SimScene& sim);

// The same, where a warning is an error: throws WorldFileError at the first.
void require_free_start(const SimScene& sim, const Poll& poll = {});

}  // namespace mvsim
