#include "render/gl/gl_pack.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/math.h"
#include "base/math_coefficients.h"
#include "render/gl/gl_errors.h"
#include "render/gl/gl_objects.h"
#include "render/gl/gl_pack_shader.h"

namespace mvsim {
namespace {

namespace shaders = view_shaders;

constexpr size_t kGroup = 256;  // words of a work group
constexpr ViewContent kContents[] = {ViewContent::kColor, ViewContent::kDepth, ViewContent::kLabels};

size_t bytes_of_pixel(ViewContent content) {
  return content == ViewContent::kColor   ? 3
         : content == ViewContent::kDepth ? sizeof(float)
                                          : sizeof(uint16_t);
}

GLuint index_of(ViewContent content) {
  return content == ViewContent::kColor   ? shaders::kPackColor
         : content == ViewContent::kDepth ? shaders::kPackDepth
                                          : shaders::kPackLabels;
}

std::string number_text(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17eLF", value);
  return text;
}

// Returns the constants of base/math.h as GLSL, exactly.
std::string coefficients_text() {
  namespace c = coefficients;
  std::string out;
  const auto one = [&](const char* name, double value) {
    out += std::string("const double ") + name + " = " + number_text(value) + ";\n";
  };
  const auto list = [&](const char* name, std::span<const double> values) {
    const std::string type = "double[" + std::to_string(values.size()) + "]";
    out += "const " + type + " " + name + " = " + type + "(";
    for (size_t i = 0; i < values.size(); ++i) out += (i > 0 ? ", " : "") + number_text(values[i]);
    out += ");\n";
  };
  one("kTwoTo53rd", 0x1p-53), one("kTwoPi", 2.0 * kPi), one("kTwoOverPi", c::kTwoOverPi);
  one("kRoundingShift", c::kRoundingShift), one("kSqrtHalf", c::kSqrtHalf);
  one("kLn2High", c::kLn2High), one("kLn2Low", c::kLn2Low);
  list("kHalfPi", c::kHalfPi), list("kSin", c::kSin), list("kCos", c::kCos);
  list("kLogEven", c::kLogEven), list("kLogOdd", c::kLogOdd);
  return out;
}

GlPackFrame frame_of(const GlPicture& picture, size_t layer) {
  const DeviceImage& image = *picture.on_device;
  const DeviceNoise& noise = picture.noise;
  const auto flag = [](bool is_set, unsigned bit) { return is_set ? bit : 0U; };
  return {.sigma = noise.sigma,
          .layer = static_cast<uint32_t>(layer),
          .flags = flag(image.replaces_zero, shaders::kPackZero) | flag(image.clips, shaders::kPackClip) |
                   flag(image.normalizes, shaders::kPackNormalize) |
                   flag(noise.has_range, shaders::kPackRange) | flag(noise.keeps_far, shaders::kPackKeepFar),
          .key = {static_cast<uint32_t>(noise.key), static_cast<uint32_t>(noise.key >> 32)},
          .stream = noise.stream,
          .unused = 0,
          .in_place_of_zero = image.in_place_of_zero,
          .low = image.low,
          .high = image.high,
          .noise_low = noise.low,
          .noise_high = noise.high,
          .unused2 = 0};
}

cuda::Address address_of(const std::byte* place) {
  return reinterpret_cast<uintptr_t>(place);
}

}  // namespace

float DeviceImage::finished(float value) const {
  if (replaces_zero && value == 0) value = in_place_of_zero;
  if (clips) value = std::clamp(value, low, high);
  if (!normalizes) return value;
  const float share = high > low ? (value - low) / (high - low) : 0.0F;
  return low < 0 ? 2 * share - 1 : share;
}

GlPackList make_pack_list(std::span<const GlShot> shots, size_t pixels) {
  struct Entry {
    const GlPicture* picture;
    size_t layer;
  };
  GlPackList list;
  for (const ViewContent content : kContents) {
    std::vector<Entry> entries;
    for (size_t layer = 0; layer < shots.size(); ++layer)
      for (const GlPicture& picture : shots[layer].pictures)
        if (picture.on_device && picture.content == content) entries.push_back({&picture, layer});
    if (entries.empty()) continue;
    std::ranges::sort(entries, {}, [](const Entry& e) { return address_of(e.picture->pixels); });
    GlPackJob& job = list.jobs.emplace_back();
    job.content = content;
    job.first_frame = list.frames.size();
    job.first_word = list.words;
    job.frame_bytes = pixels * bytes_of_pixel(content);
    job.words = (entries.size() * job.frame_bytes + 3) / 4;
    for (const Entry& entry : entries) {
      list.frames.push_back(frame_of(*entry.picture, entry.layer));
      job.places.push_back(entry.picture->pixels);
    }
    list.words += job.words;
  }
  return list;
}

std::vector<GlPackRun> runs_of(const GlPackJob& job) {
  std::vector<GlPackRun> runs;
  for (size_t i = 0; i < job.places.size(); ++i) {
    if (!runs.empty() && runs.back().to + runs.back().bytes == job.places[i])
      runs.back().bytes += job.frame_bytes;
    else
      runs.push_back({job.places[i], 4 * job.first_word + i * job.frame_bytes, job.frame_bytes});
  }
  return runs;
}

void GlPack::make(const GladGLContext& gl) {
  if (program_ != 0) return;
  program_ = make_compute_program(gl, "#version 450 core\n" + coefficients_text() + shaders::kPack);
  gl.CreateBuffers(1, &frames_);
}

void GlPack::take_room(const GladGLContext& gl, CudaDevice& device, size_t words) {
  if (words <= room_ && device_.get() == &device) return;
  free_room(gl);
  gl.GetError();  // clears earlier errors
  gl.CreateBuffers(1, &packed_);
  gl.NamedBufferStorage(packed_, static_cast<GLsizeiptr>(4 * words), nullptr, 0);
  if (const GLenum error = gl.GetError(); error != GL_NO_ERROR) {
    free_room(gl);
    const std::string what = std::to_string(4 * words) + " bytes of observations";
    if (error == GL_OUT_OF_MEMORY) throw RenderMemoryError("the driver has no memory for " + what);
    throw Error("the driver cannot keep " + what + ": error " + std::to_string(error));
  }
  try {
    resource_ = device.take_buffer(packed_);
  } catch (...) {
    free_room(gl);
    throw;
  }
  device_ = device.shared_from_this();
  room_ = words;
}

void GlPack::pack(const GladGLContext& gl, const GlViewTarget& target, int layers,
                  std::span<const GlShot> shots) {
  const size_t pixels = static_cast<size_t>(target.width) * static_cast<size_t>(target.height);
  const GlPackList list = make_pack_list(shots, pixels);
  if (list.jobs.empty()) return;
  const auto first = std::ranges::find_if(
      shots, [](const GlShot& s) { return !s.pictures.empty() && s.pictures[0].on_device; });
  CudaDevice& device = *first->pictures[0].on_device->device;
  make(gl);
  take_room(gl, device, list.words);
  gl.NamedBufferData(frames_, static_cast<GLsizeiptr>(list.frames.size() * sizeof(GlPackFrame)),
                     list.frames.data(), GL_STREAM_DRAW);
  gl.BindBufferBase(GL_SHADER_STORAGE_BUFFER, shaders::kPackedBuffer, packed_);
  gl.BindBufferBase(GL_SHADER_STORAGE_BUFFER, shaders::kFrameBuffer, frames_);
  gl.BindBufferBase(GL_SHADER_STORAGE_BUFFER, kPixelBuffer, target.pixels);
  gl.ProgramUniform2ui(program_, shaders::kPackCounts, static_cast<GLuint>(pixels),
                       static_cast<GLuint>(pixels * static_cast<size_t>(layers)));
  gl.UseProgram(program_);
  for (const GlPackJob& job : list.jobs) {
    gl.ProgramUniform4ui(program_, shaders::kPackJob, index_of(job.content),
                         static_cast<GLuint>(job.first_word), static_cast<GLuint>(job.first_frame),
                         static_cast<GLuint>(job.places.size()));
    gl.DispatchCompute(static_cast<GLuint>((job.words + kGroup - 1) / kGroup), 1, 1);
  }
  gl.MemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT | GL_SHADER_STORAGE_BARRIER_BIT);
  try {
    CudaDevice::Mapped mapped(device, resource_);
    for (const GlPackJob& job : list.jobs)
      for (const GlPackRun& run : runs_of(job))
        device.copy(address_of(run.to), mapped.address() + run.first_byte, run.bytes);
    mapped.unmap();
  } catch (...) {  // it is not known whether CUDA still has the buffer
    free_room(gl);
    throw;
  }
}

void GlPack::free_room(const GladGLContext& gl) {
  if (resource_) device_->release_buffer(resource_);
  gl.DeleteBuffers(1, &packed_);
  packed_ = 0, room_ = 0, resource_ = nullptr;
  device_.reset();
}

void GlPack::free(const GladGLContext& gl) {
  free_room(gl);
  gl.DeleteBuffers(1, &frames_);
  gl.DeleteProgram(program_);
  frames_ = 0, program_ = 0;
}

}  // namespace mvsim
