#include "render/gl/gl_views.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "base/error.h"
#include "render/gl/egl_context.h"
#include "render/gl/gl_objects.h"
#include "render/gl/gl_pack.h"
#include "render/gl/gl_scene.h"
#include "render/gl/gl_view_shaders.h"
#include "render/shading.h"

namespace mvsim {
namespace {

namespace shaders = view_shaders;

constexpr GLuint64 kLongestWait = 10'000'000'000;  // ns; some drivers hang for ever
constexpr size_t kMaxKeptScenes = 8;               // in the driver's memory
constexpr size_t kMaxKeptTargets = 4;              // one for each size of pictures
constexpr int kPasses = 4;                         // passes for transparent surfaces, as with rays
constexpr int kGroupSide = 8;                      // pixels, each way, of the compute shader

std::string vector_text(Vec3 v) {
  char text[64];
  std::snprintf(text, sizeof text, "vec3(%.1f, %.1f, %.1f)", v.x, v.y, v.z);
  return text;
}

// Returns the sides of the box as GLSL constants.
std::string sky_box_text() {
  std::string out;
  const auto list = [&](const char* name, Vec3 SkySide::*axis) {
    out += std::string("const vec3 ") + name + "[6] = vec3[6](";
    for (size_t side = 0; side < kSkySides; ++side)
      out += (side > 0 ? ", " : "") + vector_text(kSkyBox[side].*axis);
    out += ");\n";
  };
  list("kRight", &SkySide::right), list("kDown", &SkySide::down), list("kAhead", &SkySide::ahead);
  return out;
}

std::string head(const std::string& constants) {
  return "#version 450 core\n#extension GL_ARB_shader_viewport_layer_array : enable\n" + constants +
         shaders::kBuffers;
}

std::string constant(const char* name, CullFaces value) {
  return std::string("const uint ") + name + " = " + std::to_string(static_cast<int>(value)) + "u;\n";
}

}  // namespace

struct GlViews::Parts {
  explicit Parts(const std::string& device);
  ~Parts();
  void draw(const std::shared_ptr<const RayScene>& scene, std::span<const GlShot> shots);

  EglContext context;

 private:
  struct Frame;  // common data of the passes of one call
  void require_driver();
  GlViewTarget& target_of(int width, int height, int layers);
  void draw_chunk(const RayScene& scene, const GlScene& gpu, std::span<const GlShot> shots);
  void upload(const GlViewList& list);
  void set_scene(const RayScene& scene, const GlScene& gpu) const;
  void draw_pass(const Frame& frame, int pass) const;
  void finish(const Frame& frame);
  void check_context(const Frame& frame);
  void free_all();

  const GladGLContext& gl_;
  GLuint raster_program_ = 0, shade_program_ = 0, vertex_array_ = 0;
  GLuint order_buffer_ = 0, command_buffer_ = 0, instance_buffer_ = 0, view_buffer_ = 0;
  SceneCache<RayScene, GlScene> scenes_{kMaxKeptScenes};
  std::vector<GlViewTarget> targets_;  // latest first
  GlPack pack_;
  int max_layers_ = 1;
  long long max_pixels_ = 1;  // of all layers together
};

struct GlViews::Parts::Frame {
  const GlViewTarget* target;
  int width, height, layers;
  int passes;
  GLsizei commands;
};

GlViews::Parts::Parts(const std::string& device) : context(device), gl_(context.gl()) {
  const CurrentContext current(context);
  require_driver();
  const std::string culls =
      constant("kCullBack", CullFaces::kBack) + constant("kCullFront", CullFaces::kFront);
  const std::string depth = "const int kMaxDepth = " + std::to_string(ShadowTree::kMaxDepth) + ";\n";
  raster_program_ = make_program(gl_, head(culls) + shaders::kVertex, head("") + shaders::kFragment);
  shade_program_ = make_compute_program(gl_, head(shading_glsl() + depth + sky_box_text()) + shaders::kPaint +
                                                 shaders::kShadow + shaders::kShade);
  gl_.CreateVertexArrays(1, &vertex_array_);
  for (GLuint* buffer : {&order_buffer_, &command_buffer_, &instance_buffer_, &view_buffer_})
    gl_.CreateBuffers(1, buffer);
  gl_.VertexArrayVertexBuffer(vertex_array_, 0, order_buffer_, 0, sizeof(uint32_t));
  gl_.VertexArrayBindingDivisor(vertex_array_, 0, 1);
  gl_.VertexArrayAttribIFormat(vertex_array_, 0, 1, GL_UNSIGNED_INT, 0);
  gl_.VertexArrayAttribBinding(vertex_array_, 0, 0);
  gl_.EnableVertexArrayAttrib(vertex_array_, 0);
  gl_.ClipControl(GL_LOWER_LEFT, GL_ZERO_TO_ONE);  // row 0 is at the top and first in memory
  gl_.Disable(GL_DITHER);
  gl_.Enable(GL_DEPTH_TEST);
  gl_.DepthFunc(GL_GREATER);  // 0 is infinitely far
}

// Limits that OpenGL 4.5 leaves to the driver.
void GlViews::Parts::require_driver() {
  const auto limit = [&](GLenum name) {
    GLint value = 0;
    gl_.GetIntegerv(name, &value);
    return value;
  };
  const auto require = [&](bool good, const std::string& what) {
    if (!good)
      throw Error(context.renderer() + " cannot draw views of sensors: it lacks " + what +
                  "; use camera_backend='rays'");
  };
  GLint count = limit(GL_NUM_EXTENSIONS);
  bool has_layers = false;
  for (GLint i = 0; i < count; ++i) {
    const auto* const name =
        reinterpret_cast<const char*>(gl_.GetStringi(GL_EXTENSIONS, static_cast<GLuint>(i)));
    has_layers = has_layers || std::string(name) == "GL_ARB_shader_viewport_layer_array";
  }
  require(has_layers, "GL_ARB_shader_viewport_layer_array");
  require(limit(GL_MAX_VERTEX_SHADER_STORAGE_BLOCKS) >= 4, "storage blocks in vertex shaders");
  require(limit(GL_MAX_FRAGMENT_SHADER_STORAGE_BLOCKS) >= 5, "storage blocks in fragment shaders");
  max_layers_ = std::min(limit(GL_MAX_ARRAY_TEXTURE_LAYERS), limit(GL_MAX_FRAMEBUFFER_LAYERS));
  max_pixels_ = std::min<long long>(GlViewTarget::kMaxPixels,
                                    limit(GL_MAX_SHADER_STORAGE_BLOCK_SIZE) / GlViewTarget::kPixelBytes);
}

GlViews::Parts::~Parts() {
  if (context.in_forked_process()) return;
  try {
    const CurrentContext current(context);
    free_all();
  } catch (const Error&) {  // a lost context has freed its objects
  }
}

void GlViews::Parts::free_all() {
  scenes_.free(gl_);
  for (GlViewTarget& target : targets_) target.free(gl_);
  pack_.free(gl_);
  gl_.DeleteVertexArrays(1, &vertex_array_);
  for (GLuint* buffer : {&order_buffer_, &command_buffer_, &instance_buffer_, &view_buffer_})
    gl_.DeleteBuffers(1, buffer);
  gl_.DeleteProgram(raster_program_);
  gl_.DeleteProgram(shade_program_);
}

GlViewTarget& GlViews::Parts::target_of(int width, int height, int layers) {
  const auto known = std::ranges::find_if(
      targets_, [&](const GlViewTarget& t) { return t.width == width && t.height == height; });
  if (known != targets_.end()) {
    std::rotate(targets_.begin(), known, known + 1);
  } else {
    if (targets_.size() == kMaxKeptTargets) {
      targets_.back().free(gl_);
      targets_.pop_back();
    }
    targets_.insert(targets_.begin(), GlViewTarget{});
  }
  try {
    targets_.front().resize(gl_, width, height, layers);
  } catch (...) {
    targets_.erase(targets_.begin());
    throw;
  }
  return targets_.front();
}

void GlViews::Parts::draw(const std::shared_ptr<const RayScene>& scene, std::span<const GlShot> shots) {
  if (shots.empty()) return;
  const CurrentContext current(context);
  const GlScene& gpu = scenes_.get(gl_, scene);
  const long long pixels = static_cast<long long>(shots.front().view->width) * shots.front().view->height;
  if (pixels > max_pixels_)
    throw RenderMemoryError("the driver takes at most " + std::to_string(max_pixels_) +
                            " pixels in a view of a sensor, found " + std::to_string(pixels) +
                            ": use camera_backend='rays', or a smaller picture");
  const auto most = static_cast<size_t>(std::min<long long>(max_layers_, max_pixels_ / pixels));
  for (size_t begin = 0; begin < shots.size(); begin += most)
    draw_chunk(*scene, gpu, shots.subspan(begin, std::min(most, shots.size() - begin)));
}

void GlViews::Parts::draw_chunk(const RayScene& scene, const GlScene& gpu, std::span<const GlShot> shots) {
  const View& view = *shots.front().view;
  const auto layers = static_cast<int>(shots.size());
  const GlViewTarget& target = target_of(view.width, view.height, layers);
  const GlViewList list = make_view_list(scene, gpu.groups(), shots);
  const bool any_color =
      std::ranges::any_of(shots, [](const GlShot& s) { return s.wants(ViewContent::kColor); });
  const Frame frame{.target = &target,
                    .width = view.width,
                    .height = view.height,
                    .layers = layers,
                    .passes = gpu.has_clear_parts() && any_color ? kPasses : 1,
                    .commands = static_cast<GLsizei>(list.commands.size())};
  upload(list);
  gpu.bind(gl_);
  gl_.BindBufferBase(GL_SHADER_STORAGE_BUFFER, kInstanceBuffer, instance_buffer_);
  gl_.BindBufferBase(GL_SHADER_STORAGE_BUFFER, kViewBuffer, view_buffer_);
  gl_.BindBufferBase(GL_SHADER_STORAGE_BUFFER, kPixelBuffer, target.pixels);
  set_scene(scene, gpu);
  for (int pass = 1; pass <= frame.passes; ++pass) draw_pass(frame, pass);
  const auto any = [&](bool on_device) {
    return std::ranges::any_of(shots, [&](const GlShot& shot) {
      return std::ranges::any_of(shot.pictures,
                                 [&](const GlPicture& p) { return (p.on_device != nullptr) == on_device; });
    });
  };
  if (any(true)) {
    pack_.pack(gl_, target, layers, shots);
    check_context(frame);
  }
  if (any(false)) {
    finish(frame);
    target.copy_to(shots);
  }
}

void GlViews::Parts::upload(const GlViewList& list) {
  const auto fill = [&]<typename T>(GLuint buffer, const std::vector<T>& values) {
    const T nothing{};  // a buffer of no bytes cannot be bound
    gl_.NamedBufferData(buffer, static_cast<GLsizeiptr>(std::max<size_t>(values.size(), 1) * sizeof(T)),
                        values.empty() ? &nothing : values.data(), GL_STREAM_DRAW);
  };
  fill(instance_buffer_, list.instances);
  fill(view_buffer_, list.views);
  fill(order_buffer_, list.order);
  fill(command_buffer_, list.commands);
}

void GlViews::Parts::set_scene(const RayScene& scene, const GlScene& gpu) const {
  const Sun& sun = scene.sun;
  const auto four = [&](GLint place, Vec3 v, float w) {
    gl_.ProgramUniform4f(shade_program_, place, static_cast<float>(v.x), static_cast<float>(v.y),
                         static_cast<float>(v.z), w);
  };
  four(shaders::kToSun, sun.to_sun, sun.ambient);
  gl_.ProgramUniform4f(shade_program_, shaders::kSunColor, sun.color[0], sun.color[1], sun.color[2],
                       scene.has_shadows ? 1.0F : 0.0F);
  std::vector<float> colors;
  for (const auto& color : {scene.sky.horizon, scene.sky.above, scene.sky.below})
    colors.insert(colors.end(), color.begin(), color.end());
  gl_.ProgramUniform3fv(shade_program_, shaders::kSky, 3, colors.data());
  std::array<int, kSkySides> box{};
  box.fill(-1);
  gl_.ProgramUniform3iv(shade_program_, shaders::kSkyBox, 2, (scene.sky.box ? *scene.sky.box : box).data());
  gl_.ProgramUniform1ui(shade_program_, shaders::kTables, gpu.first_texture());
}

void GlViews::Parts::draw_pass(const Frame& frame, int pass) const {
  for (const GLuint program : {raster_program_, shade_program_}) {
    gl_.ProgramUniform4i(program, shaders::kSize, frame.width, frame.height, frame.layers,
                         frame.width * frame.height * frame.layers);
    gl_.ProgramUniform3i(program, shaders::kPass, pass, pass == frame.passes ? 1 : 0,
                         frame.passes > 1 ? 1 : 0);
  }
  frame.target->clear(gl_, frame.layers);
  gl_.BindFramebuffer(GL_FRAMEBUFFER, frame.target->framebuffer);
  gl_.Viewport(0, 0, frame.width, frame.height);
  gl_.UseProgram(raster_program_);
  gl_.BindVertexArray(vertex_array_);
  gl_.BindBuffer(GL_DRAW_INDIRECT_BUFFER, command_buffer_);
  if (frame.commands > 0) gl_.MultiDrawArraysIndirect(GL_TRIANGLES, nullptr, frame.commands, 0);
  gl_.BindFramebuffer(GL_FRAMEBUFFER, 0);
  gl_.UseProgram(shade_program_);
  gl_.BindTextureUnit(0, frame.target->ids);
  const auto groups = [](int pixels) { return static_cast<GLuint>((pixels + kGroupSide - 1) / kGroupSide); };
  gl_.DispatchCompute(groups(frame.width), groups(frame.height), static_cast<GLuint>(frame.layers));
  gl_.MemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT);
}

// Copies the pixels to readable memory, and waits until they are there.
void GlViews::Parts::finish(const Frame& frame) {
  frame.target->begin_read(gl_, frame.layers);
  const GLsync fence = gl_.FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
  const GLenum answer = gl_.ClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, kLongestWait);
  gl_.DeleteSync(fence);
  if (answer == GL_TIMEOUT_EXPIRED)
    throw RendererLost(context.renderer() + " did not finish views of sensors within 10 s");
  check_context(frame);
}

void GlViews::Parts::check_context(const Frame& frame) {
  if (context.robust() && gl_.GetGraphicsResetStatus() != GL_NO_ERROR)
    throw RendererLost(context.renderer() + " lost its context");
  const GLenum error = gl_.GetError();
  if (error == GL_NO_ERROR) return;
  const std::string what = std::to_string(frame.layers) + " views of " + std::to_string(frame.width) + " x " +
                           std::to_string(frame.height) + " pixels";
  if (error == GL_OUT_OF_MEMORY) throw RenderMemoryError("the driver ran out of memory in " + what);
  if (error == GL_CONTEXT_LOST) throw RendererLost(context.renderer() + " lost its context");
  throw Error("the driver reports error " + std::to_string(error) + " in " + what);
}

GlViews::GlViews(const std::string& device) : parts_(std::make_unique<Parts>(device)) {}
GlViews::~GlViews() = default;

void GlViews::draw(const std::shared_ptr<const RayScene>& scene, std::span<const GlShot> shots) {
  parts_->draw(scene, shots);
}
std::string GlViews::why_not_on(const CudaDevice& device) const {
  const CurrentContext current(parts_->context);
  return device.why_elsewhere();
}
const std::string& GlViews::device_name() const {
  return parts_->context.device();
}
const std::string& GlViews::renderer_name() const {
  return parts_->context.renderer();
}
bool GlViews::is_software() const {
  return parts_->context.software();
}
bool GlViews::in_forked_process() const {
  return parts_->context.in_forked_process();
}

}  // namespace mvsim
