// Text files of numbers, a row a line, as point clouds come. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "assets/open_file.h"

namespace mvsim {

// All numbers of a file whose rows have `columns` each, row by row; blanks, tabs, commas and semicolons
// separate, '#' begins a comment. At least one row, at most `max_rows`. Throws Error with the line;
// WorldFileError at `where` if memory does not suffice.
std::vector<double> read_point_rows(const OpenFile& file, size_t columns, size_t max_rows,
                                    const SourceLocation& where, LoadGuard& guard);

}  // namespace mvsim
