#include "render/level/flat_scene.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "render/shading.h"
#include "scene/grid_triangles.h"
#include "scene/triangles.h"

namespace mvsim {
namespace {

constexpr double kUpright = 1e-12;      // of an axis
constexpr double kUnknownLift = 0.001;  // m above the free floor, as in the triangles

bool is_upright(const Frame3& f) {
  return std::fabs(f.x.z) <= kUpright && std::fabs(f.y.z) <= kUpright && std::fabs(f.z.x) <= kUpright &&
         std::fabs(f.z.y) <= kUpright && std::fabs(f.z.z - 1) <= kUpright &&
         std::fabs(f.x.x * f.y.y - f.x.y * f.y.x - 1) <= kUpright;
}

bool is_convex(const Polygon& p) {
  for (size_t i = 0; i < p.size(); ++i) {
    const Vec2 a = p[i], b = p[(i + 1) % p.size()], c = p[(i + 2) % p.size()];
    if (cross(b - a, c - b) < -1e-9 * norm(b - a) * norm(c - b)) return false;
  }
  return true;
}

Polygon rectangle(double x0, double y0, double x1, double y1) {
  return {{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}};
}

std::array<float, 3> squared(Color color) {
  const auto square = [](uint8_t channel) {
    const float share = static_cast<float>(channel) / 255;
    return share * share;
  };
  return {square(color.r), square(color.g), square(color.b)};
}

// Approximates the square root of a value that rises from `foot` to `head`, by a parabola through its ends
// and its middle. The error is below 1 / 10,000 for the colours of head and foot.
FlatLook::HeightTerms height_terms(const std::array<float, 3>& foot, const std::array<float, 3>& head) {
  FlatLook::HeightTerms terms;
  for (size_t k = 0; k < 3; ++k) {
    const float low = 255 * std::sqrt(foot[k]), middle = 255 * std::sqrt(0.5F * (foot[k] + head[k])),
                high = 255 * std::sqrt(head[k]);
    terms[k] = {low, 4 * middle - 3 * low - high, 2 * low - 4 * middle + 2 * high};
  }
  return terms;
}

// Whether the sun is high enough for flat shading, and not at the zenith.
bool shines_down(const Sun& sun) {
  const Vec3 v = normalized(sun.to_sun);
  return v.z > 0.02 && norm(Vec2{v.x, v.y}) > 1e-3;
}

class FlatBuilder {
 public:
  FlatBuilder(const Scene& scene, std::span<const uint8_t> level_frames)
      : scene_(scene), level_frames_(level_frames), rest_(scene), out_(std::make_shared<FlatScene>()) {
    rest_.instances.clear();
    out_->sun = scene.sun;
    out_->has_shadows = scene.has_shadows;
    out_->has_colors = shines_down(scene.sun);
  }

  std::shared_ptr<FlatScene> take() {
    for (const Instance& instance : scene_.instances)
      if (!add(instance)) rest_.instances.push_back(instance);
    out_->standing = PrismMap(standing_);
    if (out_->has_shadows && out_->has_colors) out_->casters = StandingCasters(out_->standing, out_->sun);
    for (auto& [frame, prisms] : moving_) out_->moving.push_back({frame, std::move(prisms)});
    if (!rest_.instances.empty()) out_->rest = make_ray_scene(rest_);
    return std::move(out_);
  }

 private:
  // Returns whether the whole instance is flat.
  bool add(const Instance& instance) {
    if (instance.sensor != Instance::kNoSensor || !is_upright(instance.T_frame_shape)) return false;
    if (instance.frame != kWorldFrame && !level_frames_[instance.frame]) return false;
    instance_ = &instance;
    look_ = static_cast<uint32_t>(out_->looks.size());
    const Shape& shape = scene_.shapes[instance.shape];
    const bool known = std::visit([this](const auto& s) { return this->add_shape(s); }, shape);
    if (!known) return false;
    const Color color = material().color;
    const std::array<float, 3> head = squared(color), foot = squared(foot_color(color));
    FlatLook look{
        .label = instance.label, .side = height_terms(foot, head), .level = height_terms(head, head)};
    if (color.a != 255) out_->has_colors = false;
    paint(shape, look);
    out_->looks.push_back(std::move(look));
    return true;
  }

  void paint(const Shape& shape, FlatLook& look) {
    const int texture = material().texture;
    if (texture == Material::kNoTexture) return;
    if (const auto* const prism = std::get_if<Prism>(&shape)) {
      look.tile = prism->tile;
      look.outline = prism->outline;
      if (area2(look.outline) < 0) std::reverse(look.outline.begin(), look.outline.end());
    } else if (const auto* const rect = std::get_if<LevelRect>(&shape)) {
      look.tile = rect->tile;
      look.outline =
          rectangle(0, 0, rect->extent.x_max - rect->extent.x_min, rect->extent.y_max - rect->extent.y_min);
    }
    const auto index = static_cast<size_t>(texture);
    const ColorImage& image = *scene_.textures[index];
    for (size_t at = 3; at < image.rgba.size(); at += 4)
      if (image.rgba[at] != 255) out_->has_colors = false;
    if (!(look.tile.x > 0)) {
      out_->has_colors = false;  // the colour depends on the texture's corner, so rays draw it
      return;
    }
    look.texture = texture;
    out_->textures.resize(scene_.textures.size());
    if (!out_->textures[index]) out_->textures[index] = std::make_shared<const MipImage>(image);
  }

  const Material& material() const { return scene_.materials[instance_->material]; }

  bool add_shape(const Prism& prism) {
    if (prism.outline.size() < 3) return true;  // it has no visible face
    if (prism.outline.size() > kMaxPrismSides || material().cull != CullFaces::kBack) return false;
    Polygon outline = prism.outline;
    if (area2(outline) < 0) std::reverse(outline.begin(), outline.end());
    if (!is_convex(outline) || !(prism.z_min <= prism.z_max)) return false;
    put(outline, prism.z_min, prism.z_max, kAllFaces, false);
    return true;
  }
  bool add_shape(const LevelRect& rect) {
    const Rect& e = rect.extent;
    if (instance_->frame != kWorldFrame || e.x_min > e.x_max || e.y_min > e.y_max) return false;
    const CullFaces cull = material().cull;
    const int faces = (cull == CullFaces::kFront ? 0 : kTop) | (cull == CullFaces::kBack ? 0 : kBottom);
    put(rectangle(e.x_min, e.y_min, e.x_max, e.y_max), 0, 0, faces, true);
    return true;
  }
  bool add_shape(const GridCells& grid) {
    if (instance_->frame != kWorldFrame || material().cull != CullFaces::kBack) return false;
    if (grid.merged > 1) return false;
    const GridField& field = *grid.field;
    const double r = field.resolution();
    if (grid.part == GridCells::kFreeFloor) {
      put(rectangle(0, 0, field.width() * r, field.height() * r), 0, 0, kTop, true);
      return true;
    }
    const bool walls = grid.part == GridCells::kWalls;
    for (const CellRectangle& c : cover_cells(DrawnCells(field, 1), walls ? Cell::kOccupied : Cell::kUnknown))
      put(rectangle(c.x0 * r, c.y0 * r, c.x1 * r, c.y1 * r), walls ? 0 : kUnknownLift,
          walls ? grid.wall_height : kUnknownLift, walls ? kSides | kTop : kTop, false);
    if (walls) out_->solids.push_back({grid.field, instance_->T_frame_shape, grid.wall_height});
    return true;
  }
  template <typename T>
  bool add_shape(const T&) {
    return false;
  }

  void put(const Polygon& outline, double z_min, double z_max, int faces, bool is_wide) {
    const Frame3& f = instance_->T_frame_shape;
    UprightPrism prism{.outline = {},
                       .z_min = f.origin.z + z_min,
                       .z_max = f.origin.z + z_max,
                       .faces = static_cast<uint8_t>(faces | (material().casts_shadow ? kCastsShadow : 0)),
                       .look = look_};
    for (const Vec2 v : outline) {
      const Vec3 p = f.transform({v.x, v.y, 0});
      prism.outline.push_back({p.x, p.y});
    }
    if (instance_->frame != kWorldFrame)
      moving_[instance_->frame].push_back(std::move(prism));
    else
      (is_wide ? out_->wide : standing_).push_back(std::move(prism));
  }

  const Scene& scene_;
  std::span<const uint8_t> level_frames_;
  Scene rest_;
  std::shared_ptr<FlatScene> out_;
  const Instance* instance_ = nullptr;
  uint32_t look_ = 0;
  std::vector<UprightPrism> standing_;
  std::map<uint32_t, std::vector<UprightPrism>> moving_;
};

void paint_sky(const Sky& sky, FlatImage& image) {
  const LevelRays& rays = image.rays;
  const auto stride = static_cast<size_t>(rays.stride), height = static_cast<size_t>(rays.height);
  for (std::vector<uint8_t>& channel : image.sky.channel) channel.resize(stride * height);
  for (size_t row = 0; row < height; ++row)
    for (size_t c = 0; c < static_cast<size_t>(rays.width); ++c) {
      const Rgb color = plain_sky_color(sky, {rays.dx[c], rays.dy[c], static_cast<double>(rays.slopes[row])});
      for (size_t k = 0; k < 3; ++k) {
        const uint8_t byte = channel_byte(color[k]);
        image.sky.channel[k][row * stride + c] = byte;
        image.sky.pixels.push_back(byte);
      }
    }
}

}  // namespace

std::shared_ptr<FlatScene> make_flat_scene(const Scene& scene, std::span<const uint8_t> level_frames) {
  return FlatBuilder(scene, level_frames).take();
}

std::unique_ptr<const FlatImage> flat_image_of(const View& view, const Sky& sky) {
  std::vector<Vec2> directions;
  std::vector<double> slopes, scales;
  if (view.is_pinhole()) {
    for (int c = 0; c < view.width; ++c) directions.push_back({1, (view.cx - c) / view.fx});
    for (int r = 0; r < view.height; ++r) slopes.push_back((view.cy - r) / view.fy);
    scales.assign(slopes.size(), 1);
  } else {
    for (const SinCos& turn : view.columns) directions.push_back({turn.cos, turn.sin});
    for (const SinCos& ring : view.rings) {
      slopes.push_back(ring.sin / ring.cos);
      scales.push_back(1 / ring.cos);
    }
  }
  LevelRays rays(std::move(directions), slopes, scales);
  FlatImage image{std::move(rays), view.pixel_angle(), {}};
  if (view.content == ViewContent::kColor) paint_sky(sky, image);
  return std::make_unique<const FlatImage>(std::move(image));
}

}  // namespace mvsim
