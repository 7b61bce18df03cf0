#include "assets/color_image.h"

#include "assets/png_image.h"

namespace mvsim {

ColorImage read_color_image(std::string_view bytes, const std::string& path, const SourceLocation& where,
                            LoadGuard& guard) {
  if (is_png(bytes)) return read_color_png(bytes, path, where, guard);
  if (bytes.starts_with("\xff\xd8\xff")) return read_jpeg(bytes, path, where, guard);
  throw Error(path + ": unknown image format, expected PNG or JPEG");
}

}  // namespace mvsim
