#include "render/level/flat_scene.h"

#include <algorithm>
#include <cmath>

#include "render/level/flat_colors.h"
#include "render/level/level_eye.h"
#include "render/rays/ray_view.h"

namespace mvsim {
namespace {

// Returns the rotation and scale from directions of the eye's plane to those of the shape's plane, as a
// complex number.
Vec2 turn_to_shape(std::span<const Vec2> seen, std::span<const Vec2> shape) {
  for (size_t i = 0; i < seen.size(); ++i) {
    const size_t next = i + 1 == seen.size() ? 0 : i + 1;
    const Vec2 from = seen[next] - seen[i], to = shape[next] - shape[i];
    const double square = dot(from, from);
    if (square > 0) return {dot(from, to) / square, cross(from, to) / square};
  }
  return {1, 0};
}

// Returns the fraction of a texture coordinate, since textures repeat.
float fraction(double at) {
  return static_cast<float>(at - std::floor(at));
}

std::array<float, 3> floats(const Vec3& v) {
  return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)};
}

bool is_upright(const ScenePose& pose) {
  constexpr double kUpright = 1e-12;
  const Frame3& f = pose.T_world_frame;
  return std::fabs(f.x.z) <= kUpright && std::fabs(f.y.z) <= kUpright && std::fabs(f.z.x) <= kUpright &&
         std::fabs(f.z.y) <= kUpright && f.z.z > 0;
}

bool is_color(ViewContent content) {
  return content == ViewContent::kColor || content == ViewContent::kIntensity;
}

// Whether the eye, or the begin of its view, is within walls of maps. From inside, rays pass through walls.
bool is_within_solids(const FlatScene& scene, const FlatPicture& picture, Vec3 eye) {
  const LevelRays& rays = picture.image->rays;
  const auto length = [&](int column) {
    const auto c = static_cast<size_t>(column);
    return norm(Vec2{rays.dx[c], rays.dy[c]});
  };
  const double near = picture.view->near * std::max({1.0, length(0), length(rays.width - 1)});
  return std::any_of(scene.solids.begin(), scene.solids.end(), [&](const SolidCells& s) {
    const Vec3 shift = eye - s.T_world_grid.origin;
    const double x = dot(shift, s.T_world_grid.x), y = dot(shift, s.T_world_grid.y);
    return shift.z < s.height &&
           (s.field->cell_at(x, y) == Cell::kOccupied || s.field->distance_to_occupied(x, y, near) < near);
  });
}

// The drawing of one picture, from which others along the same rays are written too.
class FlatView {
 public:
  FlatView(const FlatScene& scene, std::span<const ScenePose> poses, const ViewPoint& from,
           const FlatPicture& first)
      : scene_(scene),
        image_(*first.image),
        rays_(image_.rays),
        poses_(poses),
        view_(*first.view),
        from_(from),
        eye_(view_, rays_, from.T_world_view),
        has_colors_(is_color(view_.content)),
        picture_(rays_, static_cast<float>(view_.near), static_cast<float>(view_.far),
                 view_.content != ViewContent::kDepth) {
    if (has_colors_) {
      constexpr size_t kUsual = 64;
      things_.seen.reserve(kUsual);
      things_.corners.reserve(4 * kUsual);
    }
    see_bodies();
    see_standing();
    see_wide();
  }

  // Whether the drawing has all that the view shows.
  bool shows(const View& view) {
    if (view.near < view_.near || view.far > view_.far) return false;
    if (is_color(view.content)) return false;
    if (view.content == ViewContent::kLabels && picture_.name.empty()) return false;
    if (view.near == view_.near) return true;
    if (nearest_ < 0) nearest_ = nearest_of(rays_, picture_);
    return nearest_ >= static_cast<float>(view.near);  // else it shows what is behind them
  }

  void write(const std::function<const RayScene&()>& all, const View& view, std::byte* pixels) {
    const std::vector<PlacedBody> rest = scene_.rest ? place_rest(view) : std::vector<PlacedBody>();
    if (is_color(view.content))
      color_flat(scene_, image_, eye_, things_, rest, view, from_.T_world_view, picture_, pixels);
    else if (view.content == ViewContent::kDepth)
      write_distances(rays_, picture_, static_cast<float>(view.far), reinterpret_cast<float*>(pixels));
    else
      write_labels(view, reinterpret_cast<uint16_t*>(pixels));
    merge_rest(rest, all, view, pixels);
  }

 private:
  bool hides(uint32_t frame) const {
    return std::find(from_.hidden_frames.begin(), from_.hidden_frames.end(), frame) !=
           from_.hidden_frames.end();
  }

  // Draws a prism with an outline in the world. `thing` has no outline and columns yet. `stands`: see
  // SeenPrism.
  void see(std::span<const Vec2> outline, FlatThing thing, bool stands) {
    const PrismRegion& region = thing.region;
    const LevelEye::Sight sight = eye_.sight_of(eye_.to_eye(region.center), region.radius);
    if (sight.parts == 0 || is_hidden(picture_, sight, region.z_max - eye_.z())) return;
    take(outline, thing);
    const std::span<const Vec2> seen_outline = things_.outline(thing);
    const SeenPrism seen{.outline = seen_outline,
                         .low = region.z_min - eye_.z(),
                         .high = region.z_max - eye_.z(),
                         .faces = thing.faces,
                         .stands = stands,
                         .name = has_colors_ ? thing.name : scene_.looks[thing.look].label,
                         .name_step = has_colors_ ? 1 : 0};
    bool any = false;
    for (int part = 0; part < sight.parts; ++part) {
      const ColumnRange columns = eye_.narrowed(seen_outline, sight.columns[part]);
      if (!see_prism(rays_, seen, columns, picture_)) continue;
      thing.columns[thing.parts++] = columns;
      any = true;
    }
    if (has_colors_ && any) {
      things_.seen.push_back(thing);
      things_.names += static_cast<int32_t>(outline.size()) + 2;
    } else {
      things_.corners.resize(thing.first);
    }
  }

  void take(std::span<const Vec2> outline, FlatThing& thing) {
    thing.first = things_.corners.size();
    thing.count = outline.size();
    thing.name = things_.names;
    for (const Vec2 v : outline) things_.corners.push_back(eye_.to_eye(v));
  }

  void take_caster(std::span<const Vec2> outline, FlatThing thing) {
    if (!has_colors_ || (thing.faces & kCastsShadow) == 0) return;
    take(outline, thing);
    things_.casters.push_back(thing);
  }

  void see_bodies() {
    UprightPrism placed;
    for (const FlatBody& body : scene_.moving) {
      const ScenePose& pose = poses_[body.frame];
      if (!is_sound(pose)) continue;
      const Frame3& f = pose.T_world_frame;
      const bool hidden = hides(body.frame);
      for (const UprightPrism& prism : body.prisms) {
        placed.z_min = f.origin.z + prism.z_min, placed.z_max = f.origin.z + prism.z_max;
        placed.outline.clear();
        for (const Vec2 v : prism.outline) {
          const Vec3 p = f.transform({pose.scale * v.x, pose.scale * v.y, 0});
          placed.outline.push_back({p.x, p.y});
        }
        const FlatThing thing{
            .look = prism.look, .faces = prism.faces, .region = region_of(placed), .other = &prism};
        if (!hidden) see(placed.outline, thing, false);
        take_caster(placed.outline, thing);
      }
    }
  }

  void see_standing() {
    const PrismMap& map = scene_.standing;
    const double lowest = map.z_min();
    map.visit(
        eye_.origin(), [&](const PrismRegion& region) { return may_be_seen(region); },
        [&](const PrismMap::Entry& e) {
          const bool stands =
              e.region.z_min <= lowest && e.region.z_min <= eye_.z() && (e.faces & kSides) != 0;
          see(map.outline(e), {.look = e.look, .faces = e.faces, .region = e.region, .standing = &e}, stands);
        });
  }

  void see_wide() {
    for (const UprightPrism& prism : scene_.wide) {
      const FlatThing thing{
          .look = prism.look, .faces = prism.faces, .region = region_of(prism), .other = &prism};
      see(prism.outline, thing, false);
      take_caster(prism.outline, thing);
    }
  }

  // Whether a region is in sight, and not hidden by nearer prisms.
  bool may_be_seen(const PrismRegion& region) const {
    const LevelEye::Sight sight = eye_.sight_of(eye_.to_eye(region.center), region.radius);
    return sight.parts > 0 && !is_hidden(picture_, sight, region.z_max - eye_.z());
  }

  // Writes labels. The names of the first picture are labels, unless it has colours.
  void write_labels(const View& view, uint16_t* out) const {
    if (!has_colors_ && view.far == view_.far) return write_names(rays_, picture_, out);
    std::vector<uint16_t> labels;
    if (has_colors_) {
      labels.resize(static_cast<size_t>(things_.names));
      for (const FlatThing& t : things_.seen)
        std::fill_n(labels.begin() + t.name, t.count + 2, scene_.looks[t.look].label);
    }
    const auto far = static_cast<float>(view.far);
    for_each_pixel([&](size_t to, size_t at) {
      const int32_t name = picture_.name[at] & ~kShaded;
      const uint16_t label = has_colors_ ? labels[static_cast<size_t>(name)] : static_cast<uint16_t>(name);
      out[to] = picture_.distance[at] <= far ? label : uint16_t{0};
    });
  }

  template <typename Write>
  void for_each_pixel(Write write) const {
    for (int row = 0; row < rays_.height; ++row)
      for (int column = 0; column < rays_.width; ++column)
        write(static_cast<size_t>(row) * static_cast<size_t>(rays_.width) + static_cast<size_t>(column),
              static_cast<size_t>(row) * static_cast<size_t>(rays_.stride) + static_cast<size_t>(column));
  }

  // Returns the bodies that rays draw; is_seen is false for those hidden in the plane.
  std::vector<PlacedBody> place_rest(const View& view) const {
    std::vector<PlacedBody> rest = place_bodies(*scene_.rest, poses_, view, from_);
    for (PlacedBody& body : rest) {
      const Vec3 center = body.world_center;
      const LevelEye::Sight sight = eye_.sight_of(eye_.to_eye({center.x, center.y}), body.radius);
      if (sight.parts == 0 || is_hidden(picture_, sight, center.z + body.radius - eye_.z()))
        body.is_seen = false;
    }
    return rest;
  }

  // Draws the rest by rays where it is nearer. In colours rays draw such a pixel completely.
  void merge_rest(std::span<const PlacedBody> rest, const std::function<const RayScene&()>& all,
                  const View& view, std::byte* pixels) const {
    const size_t count = static_cast<size_t>(rays_.width) * static_cast<size_t>(rays_.height);
    std::vector<uint8_t> wanted;
    for (const PlacedBody& body : rest) {
      if (!body.is_seen) continue;
      wanted.resize(count);
      for (int row = body.rect.top; row < body.rect.bottom; ++row) {
        const auto line = wanted.begin() + static_cast<std::ptrdiff_t>(row) * rays_.width;
        std::fill(line + body.rect.left, line + body.rect.right, uint8_t{1});
      }
    }
    if (wanted.empty()) return;
    const auto is_nearer = [&](float found, size_t at) { return found > 0 && found < picture_.distance[at]; };
    if (view.content == ViewContent::kDepth) {  // draws over the picture, then restores nearer pixels
      draw_rays(*scene_.rest, poses_, view, from_, pixels, wanted);
      const auto far = static_cast<float>(view.far);
      auto* const out = reinterpret_cast<float*>(pixels);
      for_each_pixel([&](size_t to, size_t at) {
        if (wanted[to] == 0 || is_nearer(out[to], at)) return;
        out[to] = picture_.distance[at] <= far ? picture_.distance[at] : 0;
      });
      return;
    }
    View depth = view;
    depth.content = ViewContent::kDepth;
    std::vector<float> found(count);
    draw_rays(*scene_.rest, poses_, depth, from_, reinterpret_cast<std::byte*>(found.data()), wanted);
    bool any = false;
    for_each_pixel([&](size_t to, size_t at) {
      wanted[to] = wanted[to] != 0 && is_nearer(found[to], at) ? 1 : 0;
      any = any || wanted[to] != 0;
    });
    if (any) draw_rays(is_color(view.content) ? all() : *scene_.rest, poses_, view, from_, pixels, wanted);
  }

  const FlatScene& scene_;
  const FlatImage& image_;
  const LevelRays& rays_;
  std::span<const ScenePose> poses_;
  const View& view_;
  const ViewPoint& from_;
  LevelEye eye_;
  const bool has_colors_;
  LevelPicture picture_;
  float nearest_ = -1;  // negative: not known yet
  FlatThings things_;
};

// Returns the order of pictures in a group. The first holds the most, so colours come first.
int rank(const FlatPicture* picture) {
  const ViewContent content = picture->view->content;
  return is_color(content) ? 0 : content == ViewContent::kLabels ? 1 : 2;
}

}  // namespace

FacePaint paint_of(const FlatLook& look, const MipImage& image, std::span<const Vec2> outline, int side,
                   double low, double pixel_angle) {
  const Tile& tile = look.tile;
  const Vec2 turn = turn_to_shape(outline, look.outline);
  FacePaint paint{.image = &image,
                  .texels_per_distance =
                      static_cast<float>(image.size() * std::max(1 / tile.x, 1 / tile.y) * pixel_angle)};
  if (side < 0) {
    const Vec2 a = outline[0], corner = look.outline[0];
    const Vec2 along_u{turn.x / tile.x, -turn.y / tile.x}, along_v{-turn.y / tile.y, -turn.x / tile.y};
    paint.along_u = floats({along_u.x, along_u.y, 0});
    paint.along_v = floats({along_v.x, along_v.y, 0});
    paint.u = fraction(corner.x / tile.x - dot(along_u, a));
    paint.v = fraction(-corner.y / tile.y - dot(along_v, a));
    return paint;
  }
  double before = 0;  // m along the outline
  for (int i = 0; i < side; ++i)
    before += norm(look.outline[static_cast<size_t>(i) + 1] - look.outline[static_cast<size_t>(i)]);
  const auto i = static_cast<size_t>(side);
  const Vec2 a = outline[i], along = outline[i + 1 == outline.size() ? 0 : i + 1] - a;
  const Vec2 along_u = (norm(turn) / (norm(along) * tile.x)) * along;
  paint.along_u = floats({along_u.x, along_u.y, 0});
  paint.along_v = floats({0, 0, -1 / tile.y});
  paint.u = fraction(before / tile.x - dot(along_u, a));
  paint.v = fraction(low / tile.y);
  return paint;
}

void draw_flat(const FlatScene& scene, const std::function<const RayScene&()>& all,
               std::span<const ScenePose> poses, const ViewPoint& from, std::span<FlatPicture> pictures) {
  const Frame3& f = from.T_world_view;
  if (!is_sound(f) || !LevelEye::is_level(*pictures.front().view, f)) return;
  for (const FlatBody& body : scene.moving)
    if (is_sound(poses[body.frame]) && !is_upright(poses[body.frame])) return;
  std::vector<FlatPicture*> left;
  for (FlatPicture& picture : pictures)
    if ((scene.has_colors || !is_color(picture.view->content)) && !is_within_solids(scene, picture, f.origin))
      left.push_back(&picture);
  std::ranges::stable_sort(left, {}, rank);
  while (!left.empty()) {
    FlatView drawing(scene, poses, from, *left.front());
    for (FlatPicture*& picture : left) {
      if (picture != left.front() && !drawing.shows(*picture->view)) continue;
      drawing.write(all, *picture->view, picture->pixels);
      picture->is_drawn = true;
    }
    std::erase_if(left, [](const FlatPicture* picture) { return picture->is_drawn; });
  }
}

}  // namespace mvsim
