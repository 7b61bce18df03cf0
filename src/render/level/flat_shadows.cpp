#include "render/level/flat_colors.h"

#include <algorithm>
#include <array>

#include "render/rays/sun_shadow.h"

namespace mvsim {
namespace {

constexpr double kShadowGap = 1e-3;  // m; lower prisms cast no shadow

class Shades {
 public:
  Shades(const FlatScene& scene, const LevelRays& rays, const LevelEye& eye, const FlatThings& things,
         LevelPicture& picture)
      : scene_(scene), rays_(rays), eye_(eye), things_(things), picture_(picture) {
    const Vec3 to_sun = normalized(scene.sun.to_sun);
    const double level = norm(Vec2{to_sun.x, to_sun.y});
    way_ = (1 / level) * Vec2{to_sun.x, to_sun.y};
    sun_ = {eye.turn_to_eye(way_), to_sun.z / level};
    highest_ = scene.standing.z_max();
    for (const FlatThing& t : things.casters) highest_ = std::max(highest_, t.region.z_max);
  }

  void shade(const FlatThing& thing) {
    if (thing.region.z_max < eye_.z() && (thing.faces & kTop) != 0) shade_top(thing);
    if ((thing.faces & kSides) == 0) return;
    for (size_t side = 0; side < thing.count; ++side) shade_side(thing, side);
  }

 private:
  // Calls shade(outline, region) for each possible caster except `thing` whose region passes may(region).
  // `standing`: the static candidates, if they are known.
  template <typename May, typename Shade>
  void for_each_caster(const FlatThing& thing, const StandingCasters::List& standing, May may, Shade shade) {
    for (const FlatThing& t : things_.casters)
      if (t.other != thing.other && may(t.region)) shade(things_.outline(t), t.region);
    const PrismMap& map = scene_.standing;
    const auto take = [&](const PrismMap::Entry& e) {
      if ((e.faces & kCastsShadow) == 0 || &e == thing.standing || !may(e.region)) return;
      outline_.clear();
      for (const Vec2 v : map.outline(e)) outline_.push_back(eye_.to_eye(v));
      shade(std::span<const Vec2>(outline_), e.region);
    };
    if (!standing) return map.visit(eye_.origin(), may, take);
    for (const uint32_t index : *standing) take(map.entries()[index]);
  }

  void shade_top(const FlatThing& thing) {
    const double z = thing.region.z_max;
    if (highest_ <= z + kShadowGap) return;
    StandingCasters::List standing;
    if (thing.standing) standing = scene_.casters.of_top(scene_.standing, *thing.standing);
    for_each_caster(
        thing, standing,
        [&](const PrismRegion& r) {
          if (r.z_max <= z + kShadowGap) return false;
          const double half = 0.5 * (r.z_max - z) / sun_.rise;  // its shadow is within a circle
          const Vec2 center = r.center - half * way_, to = center - thing.region.center;
          const double reach = r.radius + half + thing.region.radius;
          if (dot(to, to) > reach * reach) return false;
          const LevelEye::Sight sight = eye_.sight_of(eye_.to_eye(center), r.radius + half);
          return sight.parts > 0 && !is_hidden(picture_, sight, z - eye_.z());
        },
        [&](std::span<const Vec2> outline, const PrismRegion& r) {
          sweep(outline, -1.0 * sun_.to_sun, std::max(0.0, (r.z_min - z) / sun_.rise),
                (r.z_max - z) / sun_.rise, swept_);
          for (int part = 0; part < thing.parts; ++part)
            shade_level(rays_, swept_, z - eye_.z(), thing.name, eye_.narrowed(swept_, thing.columns[part]),
                        picture_);
        });
  }

  void shade_side(const FlatThing& thing, size_t side) {
    const std::span<const Vec2> outline = things_.outline(thing);
    const Vec2 a = outline[side], b = outline[side + 1 == outline.size() ? 0 : side + 1];
    const Vec2 along = b - a, normal{along.y, -along.x};
    if (!(dot(normal, sun_.to_sun) > 0) || !(dot(normal, a) < 0)) return;  // faces away from sun or eye
    const Vec2 ends[] = {a, b};
    ColumnRange columns[2];
    int parts = 0;
    for (int part = 0; part < thing.parts; ++part) {
      const ColumnRange seen = eye_.narrowed(ends, thing.columns[part]);
      if (seen.begin < seen.end) columns[parts++] = seen;
    }
    if (parts == 0) return;
    StandingCasters::List standing;
    if (thing.standing) standing = scene_.casters.of_side(*thing.standing, side);
    if (standing && standing->empty() && things_.casters.empty()) return;
    const double reach = (highest_ - thing.region.z_min) / sun_.rise, half = 0.5 * norm(along);
    const Vec2 middle = 0.5 * (a + b);
    const SeenFace face{(1 / dot(normal, a)) * normal, thing.name + 2 + static_cast<int32_t>(side)};
    const auto may = [&](const PrismRegion& r) {
      if (r.z_max <= thing.region.z_min) return false;
      const Vec2 to = eye_.to_eye(r.center) - middle;
      const double ahead = std::clamp(dot(to, sun_.to_sun), 0.0, reach);
      const Vec2 aside = to - ahead * sun_.to_sun;
      return dot(aside, aside) <= (half + r.radius) * (half + r.radius);
    };
    for_each_caster(thing, standing, may, [&](std::span<const Vec2> outline, const PrismRegion& r) {
      const SeenPrism caster{.outline = outline, .low = r.z_min - eye_.z(), .high = r.z_max - eye_.z()};
      for (int part = 0; part < parts; ++part) shade_face(rays_, face, caster, sun_, columns[part], picture_);
    });
  }

  const FlatScene& scene_;
  const LevelRays& rays_;
  const LevelEye& eye_;
  const FlatThings& things_;
  LevelPicture& picture_;
  Vec2 way_;  // direction to the sun, world
  LevelSun sun_;
  double highest_ = 0;
  Polygon outline_, swept_;
};

// Shades pixels whose line to the sun passes a body.
class BodyShade {
 public:
  BodyShade(const LevelRays& rays, const View& view, const Frame3& T_world_view, const Sun& sun,
            const PlacedBody& body, LevelPicture& picture)
      : rays_(rays),
        view_(view),
        eye_frame_(T_world_view),
        shadow_(sun, {&body, 1}, T_world_view.origin),
        center_(shadow_.seen_by_sun(body.world_center - T_world_view.origin)),
        radius_(body.radius),
        picture_(picture) {}

  void shade(ColumnRange columns, LevelRays::Rows rows) {
    for (int row = rows.begin; row < rows.end; ++row)
      for (int column = columns.begin; column < columns.end; ++column) take(row, column);
    look();
  }

 private:
  void take(int row, int column) {
    const size_t at =
        static_cast<size_t>(row) * static_cast<size_t>(rays_.stride) + static_cast<size_t>(column);
    const int32_t name = picture_.name[at];
    if (name == 0 || (name & kShaded) != 0) return;
    const Vec3 point = shadow_.seen_by_sun(eye_frame_.rotate(point_of(row, column, picture_.distance[at])));
    const Vec3 to = center_ - point;
    if (to.z < -radius_ || norm(Vec2{to.x, to.y}) > radius_) return;
    const size_t i = points_.count++;
    points_.u[i] = point.x, points_.v[i] = point.y, points_.h[i] = point.z + kShadowGap;
    pixels_[i] = at;
    if (points_.count == SunPoints::kMost) look();
  }

  // Returns a point in the view's frame.
  Vec3 point_of(int row, int column, double distance) const {
    const auto r = static_cast<size_t>(row), c = static_cast<size_t>(column);
    const double t = distance / rays_.scales[r], rise = rays_.slopes[r];
    return t * (view_.is_pinhole() ? Vec3{-rays_.dy[c], -rise, 1} : Vec3{rays_.dx[c], rays_.dy[c], rise});
  }

  void look() {
    if (points_.count == 0) return;
    enclose(points_);
    shadow_.find_blocked({&points_, 1});
    for (size_t i = 0; i < points_.count; ++i)
      if (points_.blocked[i] != 0) picture_.name[pixels_[i]] |= kShaded;
    points_.count = 0;
  }

  const LevelRays& rays_;
  const View& view_;
  const Frame3& eye_frame_;
  SunShadow shadow_;
  const Vec3 center_;  // in the sun's frame
  const double radius_;
  LevelPicture& picture_;
  SunPoints points_;
  std::array<size_t, SunPoints::kMost> pixels_{};
};

}  // namespace

void shade_flat(const FlatScene& scene, const LevelRays& rays, const LevelEye& eye, const FlatThings& things,
                LevelPicture& picture) {
  Shades shades(scene, rays, eye, things, picture);
  for (const FlatThing& thing : things.seen) shades.shade(thing);
}

void shade_by_rest(const FlatScene& scene, const LevelRays& rays, const LevelEye& eye,
                   std::span<const PlacedBody> rest, const View& view, const Frame3& T_world_view,
                   double lowest, LevelPicture& picture) {
  const Vec3 to_sun = normalized(scene.sun.to_sun);
  for (const PlacedBody& body : rest) {
    if (!body.group->body->casts_shadow()) continue;
    // its shadow down to the lowest surface is within a sphere
    const Vec3 center = body.world_center;
    const double half = 0.5 * std::max(0.0, center.z + body.radius - lowest) / to_sun.z;
    const Vec3 middle = center - half * to_sun;
    const LevelEye::Sight sight =
        eye.sight_of(eye.to_eye({middle.x, middle.y}), body.radius + half * norm(Vec2{to_sun.x, to_sun.y}));
    if (sight.parts == 0) continue;
    const double high = center.z + body.radius - eye.z(), low = lowest - eye.z();
    const double least = 1e-3, near = std::max(sight.near, least), far = std::max(sight.far, least);
    const LevelRays::Rows rows = rays.rows_between(static_cast<float>(low < 0 ? low / near : low / far),
                                                   static_cast<float>(high > 0 ? high / near : high / far));
    BodyShade shade(rays, view, T_world_view, scene.sun, body, picture);
    for (int part = 0; part < sight.parts; ++part) shade.shade(sight.columns[part], rows);
  }
}

}  // namespace mvsim
