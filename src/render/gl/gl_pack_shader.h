// The shader that packs finished views into arrays of observations: bytes of red, green, blue; distances; and
// labels of 16 bits. Each invocation writes a word. The arithmetic is that of disturb_returns(),
// clip_values() and normalize_values() to the bit.
//
// Noise takes the same blocks of Philox as RandomStream::normals(). Normal deviates come from the polynomials
// of base/math.h, whose coefficients are inserted before this text.
#pragma once

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
