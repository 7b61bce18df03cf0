#include <algorithm>
#include <cmath>

#include "worldfile/include.h"
#include "worldfile/parse.h"

namespace mvsim {
namespace {

constexpr size_t kMaxNumbers = 1 << 22;  // of a matrix in the text
constexpr size_t kMaxKernelSide = 31;

void read_image(LoadState& state, const NamedText& image, ElevationMapSpec& out) {
  const OpenFile file = open_named_file(state, image, state.folder);
  out.image_path = file.path();
  out.image = decoded(out.where, "<elevation_image>",
                      [&] { return state.session.cache.image(file, out.where, state.session.guard); });
  if (out.image->width < 2 || out.image->height < 2)
    throw WorldFileError(image.where,
                         "<elevation_image>: found an image of " + std::to_string(out.image->width) + " x " +
                             std::to_string(out.image->height) + " pixels, expected 2 or more a side");
  if (out.min_z == out.max_z)
    throw WorldFileError(image.where,
                         "<elevation_image>: elevation_image_min_z and elevation_image_max_z are the "
                         "same, expected two heights");
}

void read_matrix(const NamedText& matrix, ElevationMapSpec& out) {
  const std::string expected = "heights as [a b c; d e f], 2 to 16384 rows and columns";
  out.data = parse_matrix(matrix, kMaxNumbers, expected);
  const int min = std::min(out.data.rows, out.data.columns), max = std::max(out.data.rows, out.data.columns);
  if (min < 2 || max > 16384)
    throw WorldFileError(matrix.where, "<elevation_data_matrix>: found " + std::to_string(out.data.rows) +
                                           " rows of " + std::to_string(out.data.columns) +
                                           " numbers, expected " + expected);
  for (double& height : out.data.values) {
    height *= out.data_scale;
    check_range({.name = "elevation_data_matrix", .min = -kFarthest, .max = kFarthest}, height, matrix.where);
  }
}

void read_heights(LoadState& state, const Fields& fields, const Element& e, ElevationMapSpec& out) {
  if (const std::optional<NamedText> image = fields.scalar("elevation_image"))
    return read_image(state, *image, out);
  if (const std::optional<NamedText> matrix = fields.scalar("elevation_data_matrix"))
    return read_matrix(*matrix, out);
  if (const std::optional<NamedText> dem = fields.scalar("dem_xyzrgb_file"))
    return read_dem(state, fields, *dem, out);
  throw WorldFileError(e.where(),
                       "<element class=\"elevation_map\"> has no <elevation_image>, no "
                       "<elevation_data_matrix> and no <dem_xyzrgb_file>");
}

void read_kernel(const Fields& fields, ElevationMapSpec& out) {
  const std::optional<NamedText> text = fields.scalar("apply_kernel");
  if (!text) return;
  const std::string expected = "a square of an odd number of rows, at most " +
                               std::to_string(kMaxKernelSide) + ", whose numbers sum up to 1";
  out.kernel = parse_matrix(*text, kMaxKernelSide * kMaxKernelSide, expected);
  double sum = 0;
  for (const double weight : out.kernel.values) sum += weight;
  const Matrix& k = out.kernel;
  if (k.rows != k.columns || k.rows % 2 == 0 || !(std::fabs(sum - 1) <= 5e-3))
    throw WorldFileError(text->where, "<apply_kernel>: found " + std::to_string(k.rows) + " rows of " +
                                          std::to_string(k.columns) + " numbers that sum up to " +
                                          std::to_string(sum) + ", expected " + expected);
}

void read_texture(LoadState& state, const Fields& fields, ElevationMapSpec& out) {
  out.texture.image = read_texture(state, fields, "texture_image");
  const auto read_size = [&](const char* name, double& size) {
    const std::optional<NamedText> text = fields.scalar(name);
    if (!text) return;
    size = parse_number(*text);
    check_range({.name = name, .min = 0, .max = kMaxNumber}, size, text->where);
  };
  read_size("texture_extension_x", out.texture.size_x);
  read_size("texture_extension_y", out.texture.size_y);
  if (const std::optional<NamedText> rotate = fields.scalar("texture_image_rotate")) {
    const int degrees = parse_int(*rotate);
    if (degrees % 90 != 0 || degrees < -180 || degrees > 180)
      throw WorldFileError(rotate->where, "<texture_image_rotate>: found " + std::to_string(degrees) +
                                              ", expected 0, 90, -90, 180 or -180");
    out.texture_turns = (degrees / 90 + 4) % 4;
  }
}

}  // namespace

void parse_elevation_map(LoadState& state, const Fields& fields, const Element& e) {
  ElevationMapSpec out;
  out.where = e.where();
  out.order = state.order++;
  read_tags(state, fields, kElevationMapTags, out);
  read_heights(state, fields, e, out);
  read_kernel(fields, out);
  read_texture(state, fields, out);
  fields.warn_unknown("element class=\"elevation_map\"", tag_names(kElevationMapTags));
  add_element_visuals(state, fields, out.order);
  state.world.elevation_maps.push_back(std::move(out));
}

}  // namespace mvsim
