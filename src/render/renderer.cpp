#include "render/renderer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "render/egl_context.h"
#include "render/gl_objects.h"
#include "render/shaders.h"
#include "render/view_matrix.h"

namespace mvsim {
namespace {

constexpr int kMostSide = 8192;
constexpr long long kMostPixels = 32LL << 20;
constexpr GLuint64 kLongestWait = 10'000'000'000;  // ns; drivers have been seen to hang for ever
constexpr size_t kMostKeptScenes = 4;              // static scenes kept in the driver's memory
constexpr Vec3 kToLight{-0.42, 0.38, 0.8243};      // from the upper left of a view from above
constexpr double kShadowReach = 4;                 // shadows reach this many times the camera's distance

struct KeptScene {
  std::shared_ptr<const StaticScene> scene;
  GpuMesh mesh;
};

Mesh static_mesh(const StaticScene& scene) {
  // The origin is where the scene is, so that a world far from (0, 0) keeps its precision.
  Vec3 origin = scene.origin;
  if (!scene.grids.empty())
    origin = {scene.grids[0].T_world_grid.x, scene.grids[0].T_world_grid.y, 0};
  else if (!scene.prisms.empty())
    origin = {scene.prisms[0].pose.x, scene.prisms[0].pose.y, 0};
  MeshBuilder builder(origin);
  for (const Ground& ground : scene.grounds) builder.add_floor(ground);
  for (const GridCells& grid : scene.grids) builder.add(grid);
  for (const HeightField& field : scene.height_fields) builder.add(field);
  for (const Prism& prism : scene.prisms) builder.add(prism);
  return builder.take();
}

Mesh moving_mesh(const DrawScene& scene, Vec3 origin, const LineView& view) {
  MeshBuilder builder(origin);
  if (scene.fixed) {
    for (const Ground& ground : scene.fixed->grounds) builder.add_grid_lines(ground, view);
    for (const Segments& segments : scene.fixed->segments) builder.add(segments, view);
  }
  for (const HeightField& field : scene.height_fields) builder.add(field);
  for (const Prism& prism : scene.prisms) builder.add(prism);
  for (const Wheel& wheel : scene.wheels) builder.add(wheel);
  for (const HeadingMark& mark : scene.headings) builder.add(mark);
  for (const Disc& disc : scene.discs) builder.add(disc);
  for (const Segments& segments : scene.segments) builder.add(segments, view);
  for (const Polyline& line : scene.polylines) builder.add(line, view);
  for (const Spheres& spheres : scene.spheres) builder.add(spheres, view);
  return builder.take();
}

bool finite(Vec3 v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

void check_request(const Camera& camera, int width, int height) {
  if (width < 1 || height < 1 || width > kMostSide || height > kMostSide ||
      static_cast<long long>(width) * height > kMostPixels)
    throw Error("picture of " + std::to_string(width) + " x " + std::to_string(height) +
                " pixels, expected 1 to " + std::to_string(kMostSide) + " a side and at most " +
                std::to_string(kMostPixels >> 20) + " Mi pixels");
  if (!finite(camera.eye) || !finite(camera.target) || !finite(camera.up) || !(camera.vertical_fov > 1e-3) ||
      !(camera.vertical_fov < 3) || !(camera.nearest > 0) || !std::isfinite(camera.nearest))
    throw Error(
        "camera: expected finite vectors, a vertical field of view of 0.001 to 3 radians and a positive "
        "nearest "
        "distance");
}

Image upright_rgb(const std::vector<uint8_t>& rgba, int width, int height) {
  Image image{width, height, 3, std::vector<uint8_t>(static_cast<size_t>(width) * height * 3)};
  const uint8_t* from = rgba.data();
  uint8_t* to = image.data.data();
  for (size_t i = static_cast<size_t>(width) * height; i > 0; --i, from += 4, to += 3)
    to[0] = from[0], to[1] = from[1], to[2] = from[2];
  return image;
}

}  // namespace

struct Renderer::Parts {
  explicit Parts(const RenderOptions& options);
  ~Parts();
  Image draw(const DrawScene& scene, const Camera& camera, int width, int height);

 private:
  struct Shot;  // what the passes of one picture share
  const GpuMesh& kept_mesh(const std::shared_ptr<const StaticScene>& scene);
  void draw_shadows(const Shot& shot);
  void draw_solids(const Shot& shot);
  void draw_sky(const Shot& shot);
  void resolve_and_wait();
  void check_errors(int width, int height);
  void free_all();

  EglContext context_;
  const GladGLContext& gl_;
  RenderOptions options_;
  GLuint solid_program_ = 0, shadow_program_ = 0, sky_program_ = 0, empty_array_ = 0;
  PictureTarget target_;
  ShadowTarget shadow_;
  GpuMesh moving_;
  std::vector<KeptScene> kept_;  // latest first

  friend class Renderer;
};

struct Renderer::Parts::Shot {
  std::vector<const GpuMesh*> meshes;
  ViewFrame view, light;
  double half_height = 1, aspect = 1, nearest = 0;
  double light_radius = 0;  // 0: no shadows

  // The light looks at what is drawn, or at what is near the camera's target when that is much less. Its
  // centre moves in whole texels, so that the edges of shadows do not crawl.
  void aim_light(const Camera& camera) {
    Box3 box;
    for (const GpuMesh* mesh : meshes) {
      if (mesh->caster_bounds.empty()) continue;
      box.include(mesh->caster_bounds.low);
      box.include(mesh->caster_bounds.high);
    }
    if (box.empty()) return;
    const Vec3 center = 0.5 * (box.low + box.high);
    const double whole = 0.5 * norm(box.high - box.low);
    const double near = std::max(1.0, kShadowReach * norm(camera.eye - camera.target));
    light_radius = std::min(whole, near) * 1.05 + 0.01;
    const Vec3 middle = whole <= near ? center : camera.target;
    light = view_frame({middle + kToLight, middle, {0, 1, 0}, 1});
    light.origin = middle;
    const double texel = 2 * light_radius / ShadowTarget::kSide;
    const auto snap = [texel](double v) { return std::round(v / texel) * texel; };
    light.origin = snap(dot(light.origin, light.right)) * light.right +
                   snap(dot(light.origin, light.up)) * light.up + dot(light.origin, light.back) * light.back;
  }
};

Renderer::Parts::Parts(const RenderOptions& options)
    : context_(options.device), gl_(context_.gl()), options_(options) {
  if (options.samples != 1 && options.samples != 2 && options.samples != 4 && options.samples != 8)
    throw Error("render samples: " + std::to_string(options.samples) + ", expected 1, 2, 4 or 8");
  const CurrentContext current(context_);
  GLint most = 1;
  gl_.GetIntegerv(GL_MAX_SAMPLES, &most);
  options_.samples = std::min(options_.samples, std::max(1, most));
  solid_program_ = make_program(gl_, shaders::kSolidVertex, shaders::kSolidFragment);
  shadow_program_ = make_program(gl_, shaders::kShadowVertex, shaders::kShadowFragment);
  sky_program_ = make_program(gl_, shaders::kSkyVertex, shaders::kSkyFragment);
  gl_.CreateVertexArrays(1, &empty_array_);
  if (options_.shadows) shadow_.make(gl_);
  gl_.ClipControl(GL_UPPER_LEFT, GL_ZERO_TO_ONE);  // row 0 is the top one
  gl_.Enable(GL_CULL_FACE);
  gl_.PixelStorei(GL_PACK_ALIGNMENT, 1);
  gl_.BlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE);
}

Renderer::Parts::~Parts() {
  if (context_.in_forked_process()) return;
  try {
    const CurrentContext current(context_);
    free_all();
  } catch (const Error&) {  // a lost context takes its objects along
  }
}

void Renderer::Parts::free_all() {
  for (KeptScene& kept : kept_) kept.mesh.free(gl_);
  moving_.free(gl_);
  target_.free(gl_);
  shadow_.free(gl_);
  gl_.DeleteVertexArrays(1, &empty_array_);
  for (const GLuint program : {solid_program_, shadow_program_, sky_program_}) gl_.DeleteProgram(program);
}

const GpuMesh& Renderer::Parts::kept_mesh(const std::shared_ptr<const StaticScene>& scene) {
  const auto known =
      std::find_if(kept_.begin(), kept_.end(), [&](const KeptScene& k) { return k.scene == scene; });
  if (known != kept_.end()) {
    std::rotate(kept_.begin(), known, known + 1);
    return kept_[0].mesh;
  }
  if (kept_.size() == kMostKeptScenes) {
    kept_.back().mesh.free(gl_);
    kept_.pop_back();
  }
  KeptScene fresh{scene, {}};
  fresh.mesh.upload(gl_, static_mesh(*scene), GL_STATIC_DRAW);
  kept_.insert(kept_.begin(), fresh);
  return kept_[0].mesh;
}

Image Renderer::Parts::draw(const DrawScene& scene, const Camera& camera, int width, int height) {
  check_request(camera, width, height);
  const CurrentContext current(context_);
  target_.resize(gl_, width, height, options_.samples);

  Shot shot;
  shot.view = view_frame(camera);
  shot.half_height = half_height_at_one_metre(camera);
  shot.nearest = camera.nearest;
  shot.aspect = static_cast<double>(width) / height;
  if (scene.fixed) shot.meshes.push_back(&kept_mesh(scene.fixed));
  const Vec3 origin = shot.meshes.empty() ? camera.target : shot.meshes[0]->origin;
  moving_.upload(gl_, moving_mesh(scene, origin, {camera.eye, 2.2 * shot.half_height / height}),
                 GL_STREAM_DRAW);
  shot.meshes.push_back(&moving_);
  if (options_.shadows) shot.aim_light(camera);

  if (shot.light_radius > 0) draw_shadows(shot);
  gl_.BindFramebuffer(GL_FRAMEBUFFER, target_.framebuffer);
  gl_.Viewport(0, 0, width, height);
  draw_sky(shot);
  draw_solids(shot);
  resolve_and_wait();
  std::vector<uint8_t> rgba(static_cast<size_t>(width) * height * 4);
  gl_.ReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, rgba.data());
  check_errors(width, height);
  return upright_rgb(rgba, width, height);
}

void Renderer::Parts::draw_shadows(const Shot& shot) {
  gl_.BindFramebuffer(GL_FRAMEBUFFER, shadow_.framebuffer);
  gl_.Viewport(0, 0, ShadowTarget::kSide, ShadowTarget::kSide);
  gl_.DepthMask(GL_TRUE);
  gl_.ClearDepth(1);
  gl_.Clear(GL_DEPTH_BUFFER_BIT);
  gl_.Enable(GL_DEPTH_TEST);
  gl_.DepthFunc(GL_LESS);
  gl_.Enable(GL_DEPTH_CLAMP);
  gl_.Enable(GL_POLYGON_OFFSET_FILL);
  gl_.PolygonOffset(2, 2);
  gl_.UseProgram(shadow_program_);
  for (const GpuMesh* mesh : shot.meshes) {
    gl_.UniformMatrix4fv(shaders::kLightFromMesh, 1, GL_FALSE,
                         parallel(shot.light, shot.light_radius, mesh->origin).data());
    mesh->draw_casters(gl_);
  }
  gl_.Disable(GL_POLYGON_OFFSET_FILL);
  gl_.Disable(GL_DEPTH_CLAMP);
}

void Renderer::Parts::draw_sky(const Shot& shot) {
  const ViewFrame& v = shot.view;
  const auto send = [&](GLint location, Vec3 value) {
    gl_.Uniform3f(location, static_cast<float>(value.x), static_cast<float>(value.y),
                  static_cast<float>(value.z));
  };
  gl_.Disable(GL_DEPTH_TEST);
  gl_.UseProgram(sky_program_);
  send(shaders::kRayRight, shot.half_height * shot.aspect * v.right);
  send(shaders::kRayUp, shot.half_height * v.up);
  send(shaders::kRayBack, v.back);
  gl_.BindVertexArray(empty_array_);
  gl_.DrawArrays(GL_TRIANGLES, 0, 3);
  gl_.Enable(GL_DEPTH_TEST);
}

void Renderer::Parts::draw_solids(const Shot& shot) {
  const double texel = 2 * shot.light_radius / ShadowTarget::kSide;
  const Vec3 to_light = normalized(kToLight);
  gl_.DepthMask(GL_TRUE);
  gl_.ClearDepth(0);  // 0 is infinitely far
  gl_.Clear(GL_DEPTH_BUFFER_BIT);
  gl_.DepthFunc(GL_GREATER);
  gl_.UseProgram(solid_program_);
  gl_.BindTextureUnit(0, shadow_.depth);
  gl_.Uniform3f(shaders::kToLight, static_cast<float>(to_light.x), static_cast<float>(to_light.y),
                static_cast<float>(to_light.z));
  gl_.Uniform1f(shaders::kShadowTexel, 1.0F / ShadowTarget::kSide);
  gl_.Uniform1f(shaders::kNormalShift, static_cast<float>(1.5 * texel));
  gl_.Uniform1i(shaders::kShadowed, shot.light_radius > 0);
  const auto send_matrices = [&](const GpuMesh& mesh) {
    gl_.UniformMatrix4fv(
        shaders::kClipFromMesh, 1, GL_FALSE,
        perspective(shot.view, shot.half_height, shot.aspect, shot.nearest, mesh.origin).data());
    if (shot.light_radius > 0)
      gl_.UniformMatrix4fv(shaders::kLightFromMesh, 1, GL_FALSE,
                           parallel(shot.light, shot.light_radius, mesh.origin).data());
  };
  for (const GpuMesh* mesh : shot.meshes) {
    send_matrices(*mesh);
    mesh->draw_opaque(gl_);
  }
  gl_.Enable(GL_BLEND);
  gl_.DepthMask(GL_FALSE);
  for (const GpuMesh* mesh : shot.meshes) {
    send_matrices(*mesh);
    mesh->draw_blended(gl_);
  }
  gl_.Disable(GL_BLEND);
  gl_.DepthMask(GL_TRUE);
}

void Renderer::Parts::resolve_and_wait() {
  gl_.BlitNamedFramebuffer(target_.framebuffer, target_.resolved_framebuffer, 0, 0, target_.width,
                           target_.height, 0, 0, target_.width, target_.height, GL_COLOR_BUFFER_BIT,
                           GL_NEAREST);
  gl_.BindFramebuffer(GL_FRAMEBUFFER, target_.resolved_framebuffer);
  const GLsync fence = gl_.FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
  const GLenum answer = gl_.ClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, kLongestWait);
  gl_.DeleteSync(fence);
  if (answer == GL_TIMEOUT_EXPIRED)
    throw RendererLost(context_.renderer() + " did not finish a picture within 10 s; make a new renderer");
  if (context_.robust() && gl_.GetGraphicsResetStatus() != GL_NO_ERROR)
    throw RendererLost(context_.renderer() + " lost its context; make a new renderer");
}

void Renderer::Parts::check_errors(int width, int height) {
  const GLenum error = gl_.GetError();
  if (error == GL_NO_ERROR) return;
  const std::string size = std::to_string(width) + " x " + std::to_string(height) + " pixels";
  if (error == GL_OUT_OF_MEMORY)
    throw RenderMemoryError("the driver ran out of memory in a picture of " + size);
  if (error == GL_CONTEXT_LOST)
    throw RendererLost(context_.renderer() + " lost its context; make a new renderer");
  throw Error("the driver reports error " + std::to_string(error) + " in a picture of " + size);
}

Renderer::Renderer(const RenderOptions& options) : parts_(std::make_unique<Parts>(options)) {}
Renderer::~Renderer() = default;

Image Renderer::draw(const DrawScene& scene, const Camera& camera, int width, int height) {
  return parts_->draw(scene, camera, width, height);
}

const std::string& Renderer::renderer_name() const {
  return parts_->context_.renderer();
}
const std::string& Renderer::notice() const {
  return parts_->context_.notice();
}

}  // namespace mvsim
