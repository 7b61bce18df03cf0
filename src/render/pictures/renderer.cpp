#include "render/pictures/renderer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "render/gl/egl_context.h"
#include "render/gl/gl_objects.h"
#include "render/gl/gl_scene.h"
#include "render/pictures/gpu_scene.h"
#include "render/pictures/overlay.h"
#include "render/pictures/shaders.h"
#include "render/shading.h"

namespace mvsim {
namespace {

constexpr int kMaxSide = 8192;
constexpr long long kMaxPixels = 32LL << 20;
constexpr GLuint64 kLongestWait = 10'000'000'000;  // ns; some drivers hang for ever
constexpr size_t kMaxKeptScenes = 4;               // in the driver's memory
constexpr double kShadowReach = 4;                 // shadows reach this many times the camera's distance

// An Overlay in the driver's memory, made again for each picture.
class GpuOverlay {
 public:
  void upload(const GladGLContext& gl, const Overlay& overlay) {
    std::vector<GpuVertex> vertices;
    std::vector<uint32_t> indices;
    std::vector<DrawCommand> commands;  // ground and above, each with an opaque and a blended part
    for (const MarkMesh* mesh : {&overlay.ground, &overlay.above}) {
      const auto base = static_cast<GLint>(vertices.size());
      vertices.insert(vertices.end(), mesh->vertices().begin(), mesh->vertices().end());
      for (const auto* part : {&mesh->opaque(), &mesh->blended()}) {
        commands.push_back({.index_count = static_cast<GLuint>(part->size()),
                            .first_index = static_cast<GLuint>(indices.size()),
                            .base_vertex = base});
        indices.insert(indices.end(), part->begin(), part->end());
      }
    }
    geometry_.upload(gl, vertices, indices, commands, GL_STREAM_DRAW);
    const GpuInstance world;
    geometry_.place(gl, {&world, 1});
  }
  void draw_opaque(const GladGLContext& gl) const {
    geometry_.draw(gl, 0, 1);
    geometry_.draw(gl, 2, 1);
  }
  void draw_blended_ground(const GladGLContext& gl) const { geometry_.draw(gl, 1, 1); }
  void draw_blended_above(const GladGLContext& gl) const { geometry_.draw(gl, 3, 1); }
  void free(const GladGLContext& gl) { geometry_.free(gl); }

 private:
  GpuGeometry geometry_;
};

void send(const GladGLContext& gl, GLint location, Vec3 v) {
  gl.Uniform3f(location, static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z));
}
void send(const GladGLContext& gl, GLint location, const std::array<float, 3>& v) {
  gl.Uniform3fv(location, 1, v.data());
}

void check_request(const Camera& camera, int width, int height) {
  if (width < 1 || height < 1 || width > kMaxSide || height > kMaxSide ||
      static_cast<long long>(width) * height > kMaxPixels)
    throw Error("picture of " + std::to_string(width) + " x " + std::to_string(height) +
                " pixels, expected 1 to " + std::to_string(kMaxSide) + " a side and at most " +
                std::to_string(kMaxPixels >> 20) + " Mi pixels");
  if (!is_finite(camera.eye) || !is_finite(camera.target) || !is_finite(camera.up) ||
      !(camera.vertical_fov > 1e-3) || !(camera.vertical_fov < 3) || !(camera.nearest > 0) ||
      !std::isfinite(camera.nearest))
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
  Image draw(const std::shared_ptr<const Scene>& scene, std::span<const ScenePose> poses, const Marks& marks,
             const Camera& camera, int width, int height);

 private:
  struct Shot;  // common data of the passes of one picture
  void draw_shadows(const Shot& shot);
  void draw_solids(const Shot& shot);
  void draw_sky(const Shot& shot);
  void draw_sky_box(const Shot& shot);
  void resolve_and_wait();
  void check_errors(int width, int height);
  void free_all();

  EglContext context_;
  const GladGLContext& gl_;
  RenderOptions options_;
  GLuint solid_program_ = 0, shadow_program_ = 0, sky_program_ = 0, sky_box_program_ = 0;
  GLuint empty_array_ = 0;
  PictureTarget target_;
  ShadowTarget shadow_;
  GpuOverlay overlay_;
  SceneCache<Scene, GpuScene> scenes_{kMaxKeptScenes};

  friend class Renderer;
};

struct Renderer::Parts::Shot {
  const Scene* scene = nullptr;
  const GpuScene* gpu = nullptr;
  ViewAxes view, light;
  double half_height = 1, aspect = 1, nearest = 0;
  double light_radius = 0;  // 0: no shadows

  // Aims the light at the shadow casters, or at the surroundings of the camera's target if these are much
  // smaller. Its centre moves in whole texels, so that the edges of shadows do not flicker.
  void aim_light(const Camera& camera) {
    const Box3& box = gpu->caster_bounds();
    if (box.empty()) return;
    const Vec3 center = 0.5 * (box.low + box.high);
    const double whole = 0.5 * norm(box.high - box.low);
    const double near = std::max(1.0, kShadowReach * norm(camera.eye - camera.target));
    light_radius = std::min(whole, near) * 1.05 + 0.01;
    const Vec3 middle = whole <= near ? center : camera.target;
    const Vec3 sun = normalized(scene->sun.to_sun);
    const Vec3 up = std::fabs(sun.y) < 0.9 ? Vec3{0, 1, 0} : Vec3{0, 0, 1};
    light = view_frame({middle + sun, middle, up, 1});
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
  GLint max = 1;
  gl_.GetIntegerv(GL_MAX_SAMPLES, &max);
  options_.samples = std::min(options_.samples, std::max(1, max));
  solid_program_ = make_program(gl_, shaders::kInstanced + shading_glsl() + shaders::kSolidVertex,
                                shaders::kSolidFragment);
  shadow_program_ =
      make_program(gl_, std::string(shaders::kInstanced) + shaders::kShadowVertex, shaders::kShadowFragment);
  const std::string sky_head = "#version 450 core\n" + shading_glsl();
  sky_program_ = make_program(gl_, shaders::kSkyVertex, sky_head + shaders::kSkyFragment);
  sky_box_program_ = make_program(gl_, shaders::kSkyVertex, sky_head + shaders::kSkyBoxFragment);
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
  } catch (const Error&) {  // a lost context has freed its objects
  }
}

void Renderer::Parts::free_all() {
  scenes_.free(gl_);
  overlay_.free(gl_);
  target_.free(gl_);
  shadow_.free(gl_);
  gl_.DeleteVertexArrays(1, &empty_array_);
  for (const GLuint program : {solid_program_, shadow_program_, sky_program_, sky_box_program_})
    gl_.DeleteProgram(program);
}

Image Renderer::Parts::draw(const std::shared_ptr<const Scene>& scene, std::span<const ScenePose> poses,
                            const Marks& marks, const Camera& camera, int width, int height) {
  check_request(camera, width, height);
  if (poses.size() != scene->frame_count)
    throw Error("picture: found " + std::to_string(poses.size()) + " poses, expected " +
                std::to_string(scene->frame_count) + ", one a frame of the scene");
  const CurrentContext current(context_);
  target_.resize(gl_, width, height, options_.samples);

  Shot shot;
  shot.scene = scene.get();
  shot.view = view_frame(camera);
  shot.half_height = half_height_at_one_metre(camera);
  shot.nearest = camera.nearest;
  shot.aspect = static_cast<double>(width) / height;
  GpuScene& gpu = scenes_.get(gl_, scene);
  gpu.place(gl_, poses);
  shot.gpu = &gpu;
  overlay_.upload(
      gl_, make_overlay(*scene, poses, marks, {camera.eye, 2.2 * shot.half_height / height}, gpu.origin()));
  if (options_.shadows && scene->has_shadows) shot.aim_light(camera);

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
  gl_.UniformMatrix4fv(shaders::kLightFromMesh, 1, GL_FALSE,
                       parallel(shot.light, shot.light_radius, shot.gpu->origin()).data());
  shot.gpu->draw_casters(gl_);
  gl_.Disable(GL_POLYGON_OFFSET_FILL);
  gl_.Disable(GL_DEPTH_CLAMP);
}

void Renderer::Parts::draw_sky(const Shot& shot) {
  const ViewAxes& v = shot.view;
  gl_.Disable(GL_DEPTH_TEST);
  gl_.UseProgram(sky_program_);
  send(gl_, shaders::kRayRight, shot.half_height * shot.aspect * v.right);
  send(gl_, shaders::kRayUp, shot.half_height * v.up);
  send(gl_, shaders::kRayBack, v.back);
  send(gl_, shaders::kHorizonColor, shot.scene->sky.horizon);
  send(gl_, shaders::kAboveColor, shot.scene->sky.above);
  send(gl_, shaders::kBelowColor, shot.scene->sky.below);
  gl_.BindVertexArray(empty_array_);
  gl_.DrawArrays(GL_TRIANGLES, 0, 3);
  if (shot.scene->sky.box) draw_sky_box(shot);
  gl_.Enable(GL_DEPTH_TEST);
}

// Draws the sides of the box one by one, each over the pixels that look at it.
void Renderer::Parts::draw_sky_box(const Shot& shot) {
  const ViewAxes& v = shot.view;
  gl_.UseProgram(sky_box_program_);
  send(gl_, shaders::kRayRight, shot.half_height * shot.aspect * v.right);
  send(gl_, shaders::kRayUp, shot.half_height * v.up);
  send(gl_, shaders::kRayBack, v.back);
  for (size_t side = 0; side < kSkySides; ++side) {
    send(gl_, shaders::kSideRight, kSkyBox[side].right);
    send(gl_, shaders::kSideDown, kSkyBox[side].down);
    send(gl_, shaders::kSideAhead, kSkyBox[side].ahead);
    gl_.BindTextureUnit(shaders::kPaintUnit, shot.gpu->texture((*shot.scene->sky.box)[side]));
    gl_.DrawArrays(GL_TRIANGLES, 0, 3);
  }
}

void Renderer::Parts::draw_solids(const Shot& shot) {
  const double texel = 2 * shot.light_radius / ShadowTarget::kSide;
  gl_.DepthMask(GL_TRUE);
  gl_.ClearDepth(0);  // 0 is infinitely far
  gl_.Clear(GL_DEPTH_BUFFER_BIT);
  gl_.DepthFunc(GL_GREATER);
  gl_.UseProgram(solid_program_);
  gl_.BindTextureUnit(shaders::kShadowUnit, shadow_.depth);
  send(gl_, shaders::kToLight, normalized(shot.scene->sun.to_sun));
  send(gl_, shaders::kSunColor, shot.scene->sun.color);
  gl_.Uniform1f(shaders::kAmbient, shot.scene->sun.ambient);
  gl_.Uniform1f(shaders::kShadowTexel, 1.0F / ShadowTarget::kSide);
  gl_.Uniform1f(shaders::kNormalShift, static_cast<float>(1.5 * texel));
  gl_.Uniform1i(shaders::kShadowed, shot.light_radius > 0);
  const Vec3 origin = shot.gpu->origin();
  gl_.UniformMatrix4fv(shaders::kClipFromMesh, 1, GL_FALSE,
                       perspective(shot.view, shot.half_height, shot.aspect, shot.nearest, origin).data());
  if (shot.light_radius > 0)
    gl_.UniformMatrix4fv(shaders::kLightFromMesh, 1, GL_FALSE,
                         parallel(shot.light, shot.light_radius, origin).data());
  shot.gpu->draw_opaque(gl_);
  gl_.BindTextureUnit(shaders::kPaintUnit, shot.gpu->white());
  overlay_.draw_opaque(gl_);
  gl_.Enable(GL_BLEND);
  gl_.DepthMask(GL_FALSE);
  shot.gpu->draw_blended(gl_, GpuScene::Part::kFixed);
  gl_.BindTextureUnit(shaders::kPaintUnit, shot.gpu->white());
  overlay_.draw_blended_ground(gl_);
  shot.gpu->draw_blended(gl_, GpuScene::Part::kMoving);
  gl_.BindTextureUnit(shaders::kPaintUnit, shot.gpu->white());
  overlay_.draw_blended_above(gl_);
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

Image Renderer::draw(const std::shared_ptr<const Scene>& scene, std::span<const ScenePose> poses,
                     const Marks& marks, const Camera& camera, int width, int height) {
  return parts_->draw(scene, poses, marks, camera, width, height);
}

const std::string& Renderer::renderer_name() const {
  return parts_->context_.renderer();
}
const std::string& Renderer::notice() const {
  return parts_->context_.notice();
}

}  // namespace mvsim
