#include "render/gl/gl_view_list.h"

#include <algorithm>

namespace mvsim {
namespace {

template <typename T>
void set(T* to, Vec3 v) {
  to[0] = static_cast<T>(v.x), to[1] = static_cast<T>(v.y), to[2] = static_cast<T>(v.z);
}

template <typename T>
void set(T (&to)[9], const Axes3& axes) {
  set(to, axes.x), set(to + 3, axes.y), set(to + 6, axes.z);
}

// Returns the rows of the inverse.
Axes3 inverse_rows(const Axes3& m) {
  const double volume = dot(m.x, cross(m.y, m.z));
  return {(1 / volume) * cross(m.y, m.z), (1 / volume) * cross(m.z, m.x), (1 / volume) * cross(m.x, m.y)};
}

GlInstance instance_of(const PlacedBody& body, const GlScene::Group& group, Vec3 eye, uint32_t layer) {
  GlInstance out{};
  set(out.eye, body.eye);
  set(out.body_from_view, body.body_from_view);
  set(out.view_from_body, inverse_rows(body.body_from_view));
  set(out.world_from_normal, body.world_from_normal);
  set(out.body_from_world, body.body_from_world);
  set(out.center, body.world_center - eye);
  out.radius = static_cast<float>(body.radius);
  out.layer = layer;
  out.first_part = group.first_part;
  out.first_node = group.first_node;
  return out;
}

GlView view_of(const GlShot& shot) {
  const View& view = *shot.view;
  const Frame3& eye = shot.from.T_world_view;
  GlView out{};
  out.per_fx = 1 / view.fx, out.per_fy = 1 / view.fy, out.cx = view.cx, out.cy = view.cy;
  out.near = view.near, out.far = view.far;
  set(out.world_from_view, Axes3{eye.x, eye.y, eye.z});
  out.pixel_angle = static_cast<float>(view.pixel_angle());
  out.wants_color = shot.wants(ViewContent::kColor) ? 1 : 0;
  return out;
}

}  // namespace

bool GlShot::wants(ViewContent content) const {
  return std::ranges::any_of(pictures, [=](const GlPicture& picture) { return picture.content == content; });
}

GlViewList make_view_list(const RayScene& scene, std::span<const GlScene::Group> groups,
                          std::span<const GlShot> shots) {
  GlViewList list;
  std::vector<std::vector<uint32_t>> seen(groups.size());
  for (const GlShot& shot : shots) {
    const auto layer = static_cast<uint32_t>(list.views.size());
    GlView view = view_of(shot);
    view.first_instance = static_cast<uint32_t>(list.instances.size());
    View cast_view = *shot.view;  // place_bodies() adds shadow casters by content
    cast_view.content = view.wants_color != 0 ? ViewContent::kColor : ViewContent::kDepth;
    for (const PlacedBody& body : place_bodies(scene, shot.poses, cast_view, shot.from)) {
      const auto group = static_cast<size_t>(body.group - scene.groups.data());
      if (body.is_seen) seen[group].push_back(static_cast<uint32_t>(list.instances.size()));
      list.instances.push_back(instance_of(body, groups[group], shot.from.T_world_view.origin, layer));
    }
    view.instance_count = static_cast<uint32_t>(list.instances.size()) - view.first_instance;
    list.views.push_back(view);
  }
  for (size_t group = 0; group < groups.size(); ++group) {
    if (seen[group].empty() || groups[group].triangle_count == 0) continue;
    list.commands.push_back({.count = 3 * groups[group].triangle_count,
                             .instance_count = static_cast<uint32_t>(seen[group].size()),
                             .first = 3 * groups[group].first_triangle,
                             .base_instance = static_cast<uint32_t>(list.order.size())});
    list.order.insert(list.order.end(), seen[group].begin(), seen[group].end());
  }
  return list;
}

}  // namespace mvsim
