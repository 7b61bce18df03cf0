// Reads files of centrelines and racing lines in the formats of track databases. Thread-safe.
//
// Text with a point a line. Semicolons, commas, or blanks and tabs separate columns; '#' begins a comment. A
// header, in a comment or not, names the columns. x and y are read; the others (widths, curvature, speed) are
// not used. Without a header x and y are the first two of 2 to 4 columns, or the second and third if the
// first is the length along them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assets/open_file.h"
#include "base/geometry.h"

namespace mvsim {

// Returns the corners of the closed line, without a last corner that repeats the first. Throws WorldFileError
// with line and column, or at `where` if memory does not suffice.
std::vector<Vec2> read_centreline(const OpenFile& file, const SourceLocation& where, LoadGuard& guard);

}  // namespace mvsim
