// Checks of UTF-8 text, and a readable form of invalid bytes.
#pragma once

#include <string>
#include <string_view>

namespace mvsim {

// Length of the valid sequence at the start of `text` (not empty), 0 when there is none.
size_t utf8_length(std::string_view text);

// Offset of the first byte that is not UTF-8 text (control characters are not), or npos.
size_t find_not_text(std::string_view text);

// One line of valid UTF-8: control characters as \n, \t, \r and \x1b, bytes that are no UTF-8 as \xff.
std::string printable(std::string_view text);

}  // namespace mvsim
