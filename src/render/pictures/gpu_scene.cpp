#include "render/pictures/gpu_scene.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "render/pictures/shaders.h"
#include "scene/triangles.h"

namespace mvsim {
namespace {

constexpr int kMaxHeightNodes = 400;  // per side, for drawing a height field

// Returns an origin near the scene, so that a world far from (0, 0) keeps its precision.
Vec3 origin_of(const Scene& scene) {
  const auto first = [&](auto wanted) -> const Instance* {
    for (const Instance& i : scene.instances)
      if (i.frame == kWorldFrame && wanted(scene.shapes[i.shape])) return &i;
    return nullptr;
  };
  const Instance* near = first([](const Shape& s) { return std::holds_alternative<GridCells>(s); });
  if (!near)
    near = first([](const Shape& s) {
      return std::holds_alternative<Prism>(s) || std::holds_alternative<SharedMesh>(s);
    });
  constexpr double kFar = 500;  // m; scenes nearer to (0, 0) keep it as their origin
  const Rect& r = scene.bounds;
  const Vec3 middle{(r.x_min + r.x_max) / 2, (r.y_min + r.y_max) / 2, 0};
  // an outline in map coordinates has its frame at (0, 0)
  const double reach = kFar + std::max(r.x_max - r.x_min, r.y_max - r.y_min) / 2;
  const auto is_far = [&](const Vec3& p) {
    return std::max(std::fabs(p.x - middle.x), std::fabs(p.y - middle.y)) > reach;
  };
  if (near && !is_far(near->T_frame_shape.origin))
    return {near->T_frame_shape.origin.x, near->T_frame_shape.origin.y, 0};
  return std::max(std::fabs(middle.x), std::fabs(middle.y)) > kFar ? middle : Vec3{};
}

// Rounds a point relative to `origin` to single precision, as OpenGL receives it.
Vec3 rounded(Vec3 p, Vec3 origin) {
  return origin + Vec3{static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)};
}

std::vector<Vec3> distinct(std::vector<Vec3> points) {
  const auto key = [](Vec3 p) { return std::tuple{p.x, p.y, p.z}; };
  std::sort(points.begin(), points.end(), [&](Vec3 a, Vec3 b) { return key(a) < key(b); });
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

std::vector<Vec3> box_corners(const std::vector<Vec3>& points) {
  Box3 box;
  for (const Vec3& p : points) box.include(p);
  std::vector<Vec3> out;
  for (unsigned i = 0; i < 8; ++i)
    out.push_back(
        {i & 1 ? box.high.x : box.low.x, i & 2 ? box.high.y : box.low.y, i & 4 ? box.high.z : box.low.z});
  return out;
}

// Returns the pose of a mesh on a frame with this pose. The scale is multiplied into the axes.
ScenePose placed(const ScenePose& pose, const Frame3& T_frame_mesh) {
  const Frame3& f = pose.T_world_frame;
  const Frame3 scaled{f.origin, pose.scale * f.x, pose.scale * f.y, f.z};
  return {compose(scaled, T_frame_mesh), 1};
}

std::array<double, 12> numbers_of(const Frame3& f) {
  return {f.origin.x, f.origin.y, f.origin.z, f.x.x, f.x.y, f.x.z, f.y.x, f.y.y, f.y.z, f.z.x, f.z.y, f.z.z};
}

}  // namespace

// Meshes before their upload: first all fixed ones, by kind, then the moving ones in the order of the scene.
struct GpuScene::Upload {
  struct Piece {
    Kind kind;
    std::vector<uint32_t> indices;  // into the list of all vertices
    Moving moving;
  };
  Upload(const Scene& of, Vec3 near) : scene(of), origin(near) {}

  const Scene& scene;
  Vec3 origin;
  std::vector<GpuVertex> vertices;
  std::map<decltype(Kind{}.rank()), size_t> fixed;  // indices in `pieces`
  std::map<std::tuple<uint32_t, uint32_t, std::array<double, 12>>, size_t> moving;
  std::vector<Piece> pieces;
  Box3 fixed_bounds;

  Kind kind_of(const Instance& instance) const {
    const Material& m = scene.materials[instance.material];
    const bool blended = m.color.a < 255;
    return {.blended = blended,
            .moving = instance.frame != kWorldFrame || is_shared(instance),
            .casts = m.casts_shadow && !blended,
            .cull = m.cull,
            .texture = m.texture};
  }
  bool is_shared(const Instance& instance) const {
    return std::holds_alternative<SharedMesh>(scene.shapes[instance.shape]);
  }
  void add(const Instance& instance) {
    const Kind kind = kind_of(instance);
    // the vertices of a mesh are in its own frame
    const Frame3 T_piece_shape = is_shared(instance) ? Frame3() : instance.T_frame_shape;
    Place place{instance.frame, {}};
    if (is_shared(instance)) place.T_frame_mesh = instance.T_frame_shape;
    const std::tuple key{instance.shape, instance.material, numbers_of(T_piece_shape)};
    if (const auto known = moving.find(key); kind.moving && known != moving.end()) {
      pieces[known->second].moving.places.push_back(place);
      return;
    }
    const Mesh mesh = triangles_of(scene.shapes[instance.shape], scene.materials[instance.material].color,
                                   T_piece_shape, {.max_nodes = kMaxHeightNodes});
    const auto first = static_cast<uint32_t>(vertices.size());
    append_vertices(mesh, kind.moving ? Vec3{} : origin, vertices);
    Piece& piece = piece_of(kind, key);
    for (const uint32_t index : mesh.indices) piece.indices.push_back(first + index);
    if (kind.moving) {
      piece.moving.places.push_back(place);
      if (kind.casts)
        piece.moving.corners = is_shared(instance) ? box_corners(mesh.positions) : distinct(mesh.positions);
    } else if (kind.casts) {
      for (size_t i = first; i < vertices.size(); ++i) {
        const double* p = vertices[i].position;
        fixed_bounds.include(rounded({p[0], p[1], p[2]}, origin));
      }
    }
  }
  Piece& piece_of(const Kind& kind, const decltype(moving)::key_type& key) {
    const size_t place = kind.moving ? moving.emplace(key, pieces.size()).first->second
                                     : fixed.emplace(kind.rank(), pieces.size()).first->second;
    if (place == pieces.size()) pieces.push_back({kind, {}, {}});
    return pieces[place];
  }
};

void GpuScene::upload(const GladGLContext& gl, const Scene& scene) {
  origin_ = origin_of(scene);
  Upload upload(scene, origin_);
  for (const Instance& instance : scene.instances) upload.add(instance);

  std::stable_sort(
      upload.pieces.begin(), upload.pieces.end(),
      [](const Upload::Piece& p, const Upload::Piece& q) { return p.kind.rank() < q.kind.rank(); });
  std::vector<uint32_t> indices;
  std::vector<DrawCommand> commands;
  GLuint next_instance = 1;  // the first one is for all fixed meshes
  for (Upload::Piece& piece : upload.pieces) {
    const auto count = static_cast<GLuint>(piece.moving.places.size());
    commands.push_back({.index_count = static_cast<GLuint>(piece.indices.size()),
                        .instance_count = piece.kind.moving ? count : 1,
                        .first_index = static_cast<GLuint>(indices.size()),
                        .base_instance = piece.kind.moving ? next_instance : 0});
    indices.insert(indices.end(), piece.indices.begin(), piece.indices.end());
    if (runs_.empty() || runs_.back().kind != piece.kind)
      runs_.push_back({piece.kind, commands.size() - 1, 0});
    ++runs_.back().count;
    if (!piece.kind.moving) continue;
    next_instance += count;
    moving_.push_back(std::move(piece.moving));
  }
  fixed_bounds_ = upload.fixed_bounds;
  geometry_.upload(gl, upload.vertices, indices, commands, GL_STATIC_DRAW);
  upload_textures(gl, scene);
}

void GpuScene::upload_textures(const GladGLContext& gl, const Scene& scene) {
  const ColorImage white{1, 1, {255, 255, 255, 255}};
  const auto make = [&](const ColorImage& texture) {
    GLuint name = 0;
    int levels = 1;
    while (std::max(texture.width, texture.height) >> levels) ++levels;
    gl.CreateTextures(GL_TEXTURE_2D, 1, &name);
    gl.TextureStorage2D(name, levels, GL_RGBA8, texture.width, texture.height);
    gl.TextureSubImage2D(name, 0, 0, 0, texture.width, texture.height, GL_RGBA, GL_UNSIGNED_BYTE,
                         texture.rgba.data());
    gl.GenerateTextureMipmap(name);
    gl.TextureParameteri(name, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    gl.TextureParameteri(name, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    textures_.push_back(name);
  };
  for (const auto& texture : scene.textures) make(*texture);
  make(white);
}

void GpuScene::place(const GladGLContext& gl, std::span<const ScenePose> poses) {
  caster_bounds_ = fixed_bounds_;
  instances_.assign(1, {});
  for (const Moving& mesh : moving_)
    for (const Place& place : mesh.places) {
      const ScenePose pose =
          place.T_frame_mesh ? placed(poses[place.frame], *place.T_frame_mesh) : poses[place.frame];
      instances_.push_back(gpu_instance(pose, origin_));
      for (const Vec3 p : mesh.corners) {
        const Vec3 at = pose.T_world_frame.transform({pose.scale * p.x, pose.scale * p.y, p.z});
        if (is_finite(at)) caster_bounds_.include(rounded(at - origin_, origin_));
      }
    }
  geometry_.place(gl, instances_);
}

static void set_cull(const GladGLContext& gl, CullFaces cull) {
  if (cull == CullFaces::kNone)
    gl.Disable(GL_CULL_FACE);
  else
    gl.Enable(GL_CULL_FACE);
  gl.CullFace(cull == CullFaces::kFront ? GL_FRONT : GL_BACK);
}

template <typename Wanted>
void GpuScene::draw_runs(const GladGLContext& gl, Wanted wanted, bool textured) const {
  for (const Run& run : runs_) {
    if (!wanted(run.kind)) continue;
    if (textured)
      gl.BindTextureUnit(shaders::kPaintUnit, run.kind.texture == Material::kNoTexture
                                                  ? textures_.back()
                                                  : textures_[static_cast<size_t>(run.kind.texture)]);
    const bool has_paint = textured && run.kind.texture != Material::kNoTexture && !run.kind.blended;
    if (has_paint) gl.Enable(GL_SAMPLE_ALPHA_TO_COVERAGE);  // for leaves in textures
    set_cull(gl, run.kind.cull);
    geometry_.draw(gl, run.first_command, run.count);
    set_cull(gl, CullFaces::kBack);
    if (has_paint) gl.Disable(GL_SAMPLE_ALPHA_TO_COVERAGE);
  }
}

void GpuScene::draw_casters(const GladGLContext& gl) const {
  draw_runs(
      gl, [](const Kind& k) { return k.casts; }, false);
}

void GpuScene::draw_opaque(const GladGLContext& gl) const {
  draw_runs(
      gl, [](const Kind& k) { return !k.blended; }, true);
}

void GpuScene::draw_blended(const GladGLContext& gl, Part part) const {
  draw_runs(
      gl, [&](const Kind& k) { return k.blended && k.moving == (part == Part::kMoving); }, true);
}

void GpuScene::free(const GladGLContext& gl) {
  geometry_.free(gl);
  gl.DeleteTextures(static_cast<GLsizei>(textures_.size()), textures_.data());
  *this = {};
}

}  // namespace mvsim
