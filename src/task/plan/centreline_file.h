// Files of centrelines and racing lines, as track databases write them. Thread-safe.
//
// Text, a point a line: columns between semicolons, commas, or blanks and tabs; '#' begins a comment. A
// header, in a comment or not, names the columns: x and y are taken, all others (widths, curvature, speed)
// are not used. Without one, x and y are the first two of 2 to 4 columns, or the second and third where the
// first is the length along them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assets/open_file.h"
#include "base/geometry.h"

namespace mvsim {

// The corners of the closed line; a last one that repeats the first is left out. Throws WorldFileError with
// line and column; at `where` if memory does not suffice.
std::vector<Vec2> read_centreline(const OpenFile& file, const SourceLocation& where, LoadGuard& guard);

}  // namespace mvsim
