#include "render/gl/gl_scene.h"

#include <bit>
#include <map>
#include <numeric>
#include <span>
#include <string>

#include "base/error.h"

namespace mvsim {
namespace {

constexpr size_t kLeaf = 4;  // triangles

class TreeBuilder {
 public:
  explicit TreeBuilder(const std::vector<std::array<Vec3, 3>>& triangles)
      : triangles_(triangles), order_(triangles.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
  }

  ShadowTree take() {
    if (triangles_.empty()) return {};
    tree_.nodes.emplace_back();
    fill(0, 0, order_.size());
    for (const uint32_t i : order_) tree_.triangles.push_back(packed(triangles_[i]));
    return std::move(tree_);
  }

 private:
  static std::array<float, 4> floats(Vec3 v) {
    return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z), 0};
  }
  static ShadowTriangle packed(const std::array<Vec3, 3>& t) {
    return {floats(t[0]), floats(t[1] - t[0]), floats(t[2] - t[0])};
  }
  static double middle(const std::array<Vec3, 3>& t, int axis) {
    const Vec3 sum = t[0] + t[1] + t[2];
    return axis == 0 ? sum.x : axis == 1 ? sum.y : sum.z;
  }

  // Rounds outwards, since single precision may move a corner out of its box.
  void set_box(ShadowNode& node, const Box3& box) const {
    const double margin = 1e-6 * (1 + norm(box.low) + norm(box.high));
    const Vec3 more{margin, margin, margin};
    const std::array<float, 4> low = floats(box.low - more), high = floats(box.high + more);
    std::copy_n(low.begin(), 3, node.low.begin());
    std::copy_n(high.begin(), 3, node.high.begin());
  }

  void fill(size_t node, size_t begin, size_t end) {
    Box3 box, middles;
    for (size_t i = begin; i < end; ++i) {
      const std::array<Vec3, 3>& t = triangles_[order_[i]];
      for (const Vec3& p : t) box.include(p);
      middles.include({middle(t, 0), middle(t, 1), middle(t, 2)});
    }
    set_box(tree_.nodes[node], box);
    if (end - begin <= kLeaf) {
      tree_.nodes[node].first = static_cast<uint32_t>(begin);
      tree_.nodes[node].count = static_cast<uint32_t>(end - begin);
      return;
    }
    const Vec3 size = middles.high - middles.low;
    const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    const size_t half = begin + (end - begin) / 2;
    const auto at = [&](size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(begin), at(half), at(end), [&](uint32_t a, uint32_t b) {
      const double x = middle(triangles_[a], axis), y = middle(triangles_[b], axis);
      return x != y ? x < y : a < b;
    });
    const size_t first = tree_.nodes.size();
    tree_.nodes[node].first = static_cast<uint32_t>(first);
    tree_.nodes.resize(first + 2);
    fill(first, begin, half);
    fill(first + 1, half, end);
  }

  const std::vector<std::array<Vec3, 3>>& triangles_;
  std::vector<uint32_t> order_;
  ShadowTree tree_;
};

void set(double (&to)[3], Vec3 v) {
  to[0] = v.x, to[1] = v.y, to[2] = v.z;
}

GlCorner corner_of(const RayCorner& corner, Vec3 point) {
  GlCorner out{};
  set(out.position, point);
  std::ranges::copy(corner.normal, out.normal);
  std::ranges::copy(corner.base, out.base);
  std::ranges::copy(corner.uv, out.uv);
  out.alpha = corner.alpha;
  return out;
}

GlTriangle triangle_of(const RayTriangle& triangle, const RayPartLook& look, uint32_t first_corner) {
  GlTriangle out{};
  set(out.normal, triangle.normal);
  out.offset = triangle.offset;
  for (size_t k = 0; k < 2; ++k) {
    set(out.to_weight[k], triangle.to_weight[k]);
    out.weight_offset[k] = triangle.weight_offset[k];
  }
  for (size_t k = 0; k < 3; ++k) out.corners[k] = first_corner + triangle.corners[k];
  out.part = triangle.part;
  out.texels_per_metre = triangle.texels_per_metre;
  out.cull = static_cast<uint32_t>(look.cull);
  return out;
}

}  // namespace

ShadowTree make_shadow_tree(const std::vector<std::array<Vec3, 3>>& triangles) {
  return TreeBuilder(triangles).take();
}

// The contents of the buffers before they are uploaded.
struct GlScene::Upload {
  std::vector<GlCorner> corners;
  std::vector<GlTriangle> triangles;
  std::vector<uint32_t> tables;  // texture and label of each part; then the tables of textures
  std::vector<std::array<float, 4>> trees;
  std::vector<uint32_t> texels;
  bool has_clear_parts = false;

  Group add(const RayBody& body) {
    Group group{.first_triangle = static_cast<uint32_t>(triangles.size()),
                .triangle_count = static_cast<uint32_t>(body.triangles.size())};
    const auto first_corner = static_cast<uint32_t>(corners.size());
    for (size_t i = 0; i < body.corners.size(); ++i) {
      corners.push_back(corner_of(body.corners[i], body.points[i]));
      has_clear_parts = has_clear_parts || body.corners[i].alpha < 1;
    }
    std::vector<std::array<Vec3, 3>> casting;
    for (const RayTriangle& triangle : body.triangles) {
      const RayPartLook& look = body.looks[triangle.part];
      triangles.push_back(triangle_of(triangle, look, first_corner));
      const std::array<uint32_t, 3>& c = triangle.corners;
      if (look.casts_shadow) casting.push_back({body.points[c[0]], body.points[c[1]], body.points[c[2]]});
    }
    if (!casting.empty()) group.first_node = add(make_shadow_tree(casting));
    return group;
  }

  // Adds a tree: two vectors of four numbers a node, then three a triangle. References count from the start
  // of all trees.
  uint32_t add(const ShadowTree& tree) {
    const auto begin = static_cast<uint32_t>(trees.size());
    const auto first_triangle = begin + static_cast<uint32_t>(2 * tree.nodes.size());
    const auto as_float = [](uint32_t bits) { return std::bit_cast<float>(bits); };
    for (const ShadowNode& n : tree.nodes) {
      const uint32_t first = n.count > 0 ? first_triangle + 3 * n.first : begin + 2 * n.first;
      trees.push_back({n.low[0], n.low[1], n.low[2], as_float(first)});
      trees.push_back({n.high[0], n.high[1], n.high[2], as_float(n.count)});
    }
    for (const ShadowTriangle& t : tree.triangles)
      for (const auto& row : {t.corner, t.to_second, t.to_third}) trees.push_back(row);
    return begin;
  }

  uint32_t add(const std::vector<RayPart>& parts) {
    const auto first = static_cast<uint32_t>(tables.size());
    for (const RayPart& part : parts) {
      tables.push_back(static_cast<uint32_t>(part.texture));
      tables.push_back(part.label);
    }
    return first;
  }

  // Adds the tables of textures. Each texture has the place and the number of its levels, each level its
  // first texel and its size.
  uint32_t add(const std::vector<MipImage>& textures) {
    const auto first = static_cast<uint32_t>(tables.size());
    tables.resize(tables.size() + 2 * textures.size());
    for (size_t i = 0; i < textures.size(); ++i) {
      tables[first + 2 * i] = static_cast<uint32_t>(tables.size());
      tables[first + 2 * i + 1] = static_cast<uint32_t>(textures[i].levels().size());
      for (const MipImage::Level& level : textures[i].levels()) {
        tables.push_back(static_cast<uint32_t>(texels.size()));
        tables.push_back(static_cast<uint32_t>(level.width));
        tables.push_back(static_cast<uint32_t>(level.height));
        for (size_t k = 0; k + 3 < level.rgba.size(); k += 4) {
          const uint8_t* const c = level.rgba.data() + k;
          texels.push_back(static_cast<uint32_t>(c[0]) | static_cast<uint32_t>(c[1]) << 8 |
                           static_cast<uint32_t>(c[2]) << 16 | static_cast<uint32_t>(c[3]) << 24);
          has_clear_parts = has_clear_parts || c[3] < 255;
        }
      }
    }
    return first;
  }
};

void GlScene::upload(const GladGLContext& gl, const RayScene& scene) {
  Upload upload;
  std::map<const RayBody*, Group> bodies;
  for (const RayGroup& group : scene.groups) {
    const auto [known, is_new] = bodies.try_emplace(group.body.get());
    if (is_new) known->second = upload.add(*group.body);
    groups_.push_back(known->second);
    groups_.back().first_part = upload.add(group.parts);
  }
  first_texture_ = upload.add(scene.textures);
  has_clear_parts_ = upload.has_clear_parts;
  GLint most = 0;
  gl.GetIntegerv(GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &most);
  gl.GetError();  // clears earlier errors
  gl.CreateBuffers(static_cast<GLsizei>(buffers_.size()), buffers_.data());
  const auto fill = [&]<typename T>(GlBinding place, const std::vector<T>& values) {
    const std::span<const T> all(values);
    if (all.size_bytes() > static_cast<size_t>(most))
      throw RenderMemoryError("the driver takes at most " + std::to_string(most >> 20) +
                              " MiB of what cameras see in one buffer, found " +
                              std::to_string(all.size_bytes() >> 20) +
                              " MiB: use camera_backend='rays', or smaller maps, meshes or textures");
    const T nothing{};  // a buffer of no bytes cannot be bound
    gl.NamedBufferStorage(buffers_[place], static_cast<GLsizeiptr>(std::max(all.size_bytes(), sizeof(T))),
                          all.empty() ? &nothing : all.data(), 0);
  };
  try {
    fill(kCornerBuffer, upload.corners);
    fill(kTriangleBuffer, upload.triangles);
    fill(kTableBuffer, upload.tables);
    fill(kTreeBuffer, upload.trees);
    fill(kTexelBuffer, upload.texels);
    if (gl.GetError() == GL_OUT_OF_MEMORY)
      throw RenderMemoryError("the driver has no memory for the " + std::to_string(upload.triangles.size()) +
                              " triangles that cameras see: use camera_backend='rays'");
  } catch (...) {
    free(gl);
    throw;
  }
}

void GlScene::bind(const GladGLContext& gl) const {
  for (GLuint place = 0; place < buffers_.size(); ++place)
    gl.BindBufferBase(GL_SHADER_STORAGE_BUFFER, place, buffers_[place]);
}

void GlScene::free(const GladGLContext& gl) {
  gl.DeleteBuffers(static_cast<GLsizei>(buffers_.size()), buffers_.data());
  *this = {};
}

}  // namespace mvsim
