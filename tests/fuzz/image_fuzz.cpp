// PNG, JPEG and PGM, as grey levels and as colours.
#include "assets/read_image.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mvsim;
  const std::string_view bytes = fuzz::text_of(data, size);
  try {
    LoadGuard guard(fuzz::kMemory);
    const GrayLevels image = read_gray_levels(bytes, "image", {}, guard);
    fuzz::require(image.data.size() == static_cast<size_t>(image.width) * static_cast<size_t>(image.height));
    for (const uint16_t level : image.data) fuzz::require(level <= image.white);
  } catch (const Error&) {
  }
  try {
    LoadGuard guard(fuzz::kMemory);
    const ColorImage image = read_color_image(bytes, "image", {}, guard);
    fuzz::require(image.rgba.size() ==
                  4 * static_cast<size_t>(image.width) * static_cast<size_t>(image.height));
  } catch (const Error&) {
  }
  return 0;
}
