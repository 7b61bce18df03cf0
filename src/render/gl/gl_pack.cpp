// The shader that packs finished views into arrays of observations: bytes of red, green, blue; distances; and
// labels of 16 bits. Each invocation writes a word. The arithmetic is that of disturb_returns(),
// clip_values() and normalize_values() to the bit.
//
// Noise takes the same blocks of Philox as RandomStream::normals(). Normal deviates come from the polynomials
// of base/math.h, whose coefficients are inserted before this text.

#include "render/gl/gl_pack.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/error.h"
#include "base/math.h"
#include "base/math_coefficients.h"

namespace mvsim::view_shaders {

enum GlPackUniform { kPackJob = 0, kPackCounts = 1 };
enum GlPackBinding { kPackedBuffer = 0, kFrameBuffer = 1 };  // in addition to kPixelBuffer
enum GlPackContent { kPackColor = 0, kPackDepth = 1, kPackLabels = 2 };
enum GlPackFlag { kPackZero = 1, kPackClip = 2, kPackNormalize = 4, kPackRange = 8, kPackKeepFar = 16 };

inline constexpr const char* kPack = R"glsl(
layout(local_size_x = 256) in;
struct Frame {  // GlPackFrame
  double sigma;
  uint layer, flags, key[2], stream, unused;
  float in_place_of_zero, low, high, noise_low, noise_high, unused2;
};
layout(std430, binding = 0) writeonly buffer Packed { uint packed_words[]; };
layout(std430, binding = 1) readonly buffer Frames { Frame frames[]; };
layout(std430, binding = 7) readonly buffer Pixels { uint pixels[]; };
layout(location = 0) uniform uvec4 job;     // content, first word, first frame, frames
layout(location = 1) uniform uvec2 counts;  // pixels of a view, of all views

uvec4 philox(uvec4 c, uvec2 key) {
  for (int i = 0; i < 10; ++i) {
    if (i > 0) key += uvec2(0x9E3779B9u, 0xBB67AE85u);
    uint high0, low0, high1, low1;
    umulExtended(0xD2511F53u, c.x, high0, low0);
    umulExtended(0xCD9E8D57u, c.z, high1, low1);
    c = uvec4(high1 ^ c.y ^ key.x, low1, high0 ^ c.w ^ key.y, low0);
  }
  return c;
}
double uniform_of(uint high, uint low) {
  return (double(high) * 2097152.0LF + double(low >> 11)) * kTwoTo53rd;
}
double log_of(double x) {  // of (0, 1]
  uvec2 bits = unpackDouble2x32(x);
  int k = int(bits.y >> 20) - 1022;
  precise double m = packDouble2x32(uvec2(bits.x, (bits.y & 0x000fffffu) | 0x3fe00000u));
  if (m < kSqrtHalf) {
    m *= 2.0LF;
    --k;
  }
  precise double f = m - 1.0LF;
  precise double s = f / (2.0LF + f), z = s * s, w = z * z;
  precise double t1 = w * (kLogEven[0] + w * (kLogEven[1] + w * kLogEven[2]));
  precise double t2 = z * (kLogOdd[0] + w * (kLogOdd[1] + w * (kLogOdd[2] + w * kLogOdd[3])));
  precise double half_square = 0.5LF * f * f;
  precise double result =
      double(k) * kLn2High - ((half_square - (s * (half_square + t1 + t2) + double(k) * kLn2Low)) - f);
  return result;
}
dvec2 sin_cos_of(double angle) {
  if (angle == 0.0LF) return dvec2(0.0LF, 1.0LF);
  precise double quarter = angle * kTwoOverPi + kRoundingShift;
  quarter = quarter - kRoundingShift;
  precise double x = angle;
  for (int i = 0; i < 3; ++i) {
    precise double piece = quarter * kHalfPi[i];
    x = x - piece;
  }
  precise double z = x * x;
  precise double r = kSin[1] + z * (kSin[2] + z * (kSin[3] + z * (kSin[4] + z * kSin[5])));
  precise double s = x + z * x * (kSin[0] + z * r);
  precise double q = z * (kCos[0] + z * (kCos[1] + z * (kCos[2] + z * (kCos[3] + z * (kCos[4] + z * kCos[5])))));
  precise double c = 1.0LF - (0.5LF * z - z * q);
  int turn = int(quarter) & 3;
  return turn == 0 ? dvec2(s, c) : turn == 1 ? dvec2(c, -s) : turn == 2 ? dvec2(-s, -c) : dvec2(-c, s);
}
// The deviate that the pixel takes.
double normal_of(Frame f, uint pixel) {
  uvec4 w = philox(uvec4(pixel / 2u, 0u, 0u, f.stream), uvec2(f.key[0], f.key[1]));
  precise double u = uniform_of(w.x, w.y), v = uniform_of(w.z, w.w);
  precise double rest = 1.0LF - u;
  precise double square = -2.0LF * log_of(rest);
  precise double radius = sqrt(square);
  dvec2 direction = sin_cos_of(kTwoPi * v);
  precise double deviate = radius * (pixel % 2u == 0u ? direction.y : direction.x);
  return deviate;
}
float disturbed(Frame f, uint pixel, float seen) {
  bool keeps_far = (f.flags & 16u) != 0u;
  if (!(f.sigma > 0.0LF)) return seen > f.noise_low && (keeps_far || seen < f.noise_high) ? seen : 0.0;
  if (seen == 0.0) return seen;
  precise double noise = f.sigma * normal_of(f, pixel);
  precise double sum = double(seen) + noise;
  float noisy = float(sum);
  if (noisy > f.noise_high || (noisy == f.noise_high && !keeps_far)) return keeps_far ? seen : 0.0;
  return noisy > f.noise_low ? noisy : 0.0;
}
float finished(Frame f, uint pixel, float seen) {
  precise float value = (f.flags & 8u) != 0u ? disturbed(f, pixel, seen) : seen;
  if ((f.flags & 1u) != 0u && value == 0.0) value = f.in_place_of_zero;
  if ((f.flags & 2u) != 0u) value = value < f.low ? f.low : f.high < value ? f.high : value;
  if ((f.flags & 4u) != 0u) {
    precise float share = f.high > f.low ? (value - f.low) / (f.high - f.low) : 0.0;
    precise float both = 2.0 * share - 1.0;
    value = f.low < 0.0 ? both : share;
  }
  return value;
}
uint source_of(uint pixel) {
  return frames[job.z + pixel / counts.x].layer * counts.x + pixel % counts.x;
}
void main() {
  uint word = gl_GlobalInvocationID.x, all = job.w * counts.x, value = 0u;
  if (job.x == 1u) {
    if (word >= all) return;
    value = floatBitsToUint(finished(frames[job.z + word / counts.x], word % counts.x,
                                     uintBitsToFloat(pixels[counts.y + source_of(word)])));
  } else if (job.x == 2u) {
    if (2u * word >= all) return;
    for (uint k = 0u; k < 2u && 2u * word + k < all; ++k)
      value |= (pixels[2u * counts.y + source_of(2u * word + k)] & 0xffffu) << (16u * k);
  } else {
    if (4u * word >= 3u * all) return;
    for (uint k = 0u; k < 4u && 4u * word + k < 3u * all; ++k) {
      uint at = 4u * word + k;
      value |= (pixels[source_of(at / 3u)] >> (8u * (at % 3u)) & 255u) << (8u * k);
    }
  }
  packed_words[job.y + word] = value;
}
)glsl";

}  // namespace mvsim::view_shaders
namespace mvsim {

namespace {

namespace shaders = view_shaders;

constexpr size_t kGroupWords = 256;  // words of a work group
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
    gl.DispatchCompute(static_cast<GLuint>((job.words + kGroupWords - 1) / kGroupWords), 1, 1);
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
