// Images whose grey levels matter more finely than 8 bits tell, such as heights.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mvsim {

// Grey levels of 0 to 65535, row 0 is the top: a PGM of 16 bits keeps them all, those of 8 bits and of PNG
// are scaled up.
struct DeepImage {
  int width = 0, height = 0;
  std::vector<uint16_t> data;
};

// Throws Error with the reason.
DeepImage read_deep_gray_image(const std::string& path);

}  // namespace mvsim
