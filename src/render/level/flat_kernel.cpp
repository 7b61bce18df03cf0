#include "render/level/flat_kernel.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "render/level/flat_kernel.cpp"
#include "base/highway_targets.h"

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::CappedTag<float, 16>;
using I = hn::RebindToSigned<F>;
using VF = hn::Vec<F>;
using VI = hn::Vec<I>;

struct Color {
  VF red, green, blue;
};

// The logarithm of numbers above 0, with an error below 1e-6.
HWY_INLINE VF log2(VF x) {
  const F f;
  const I i;
  const VI bits = hn::BitCast(i, x);
  const VI power = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(i, 0x3f3504f3)));  // mantissas are near 1
  const VF m = hn::BitCast(f, hn::Sub(bits, hn::ShiftLeft<23>(power)));
  const VF one = hn::Set(f, 1.0F), z = hn::Div(hn::Sub(m, one), hn::Add(m, one)), square = hn::Mul(z, z);
  VF sum = hn::Set(f, 0.41219858F);
  for (const float term : {0.57707802F, 0.96179669F, 2.88539008F})
    sum = hn::Add(hn::Mul(sum, square), hn::Set(f, term));
  return hn::Add(hn::ConvertTo(f, power), hn::Mul(z, sum));
}

// Adds `weight` times the channels of the texels at `index`.
HWY_INLINE void add_texels(const int32_t* texels, VI index, VF weight, Color& sum) {
  const F f;
  const I i;
  const VI texel = hn::GatherIndex(i, texels, index), byte = hn::Set(i, 255);
  const auto add = [&](VI channel, VF& to) HWY_ATTR {
    to = hn::Add(to, hn::Mul(weight, hn::ConvertTo(f, hn::And(channel, byte))));
  };
  add(texel, sum.red);
  add(hn::ShiftRight<8>(texel), sum.green);
  add(hn::ShiftRight<16>(texel), sum.blue);
}

// A place between two texels along a side.
struct Between {
  VI before, after;
  VF share;  // weight of `after`
};

HWY_INLINE Between between(VF at, VI size) {
  const F f;
  const I i;
  const VF place = hn::Sub(hn::Mul(hn::Sub(at, hn::Floor(at)), hn::ConvertTo(f, size)), hn::Set(f, 0.5F));
  const VF below = hn::Floor(place);
  VI before = hn::ConvertTo(i, below);
  before = hn::IfThenElse(hn::Lt(before, hn::Zero(i)), hn::Add(before, size), before);
  before = hn::Min(hn::Max(before, hn::Zero(i)), hn::Sub(size, hn::Set(i, 1)));  // for NaN
  VI after = hn::Add(before, hn::Set(i, 1));
  after = hn::IfThenElse(hn::Lt(after, size), after, hn::Zero(i));
  return {before, after, hn::Sub(place, below)};
}

// Adds `weight` times the value of level `level` of the image at (u, v).
HWY_INLINE void add_level(const MipImage& image, VI level, VF u, VF v, VF weight, Color& sum) {
  const I i;
  const VI one = hn::Set(i, 1);
  const VI width = hn::Max(hn::Shr(hn::Set(i, image.levels().front().width), level), one),
           height = hn::Max(hn::Shr(hn::Set(i, image.levels().front().height), level), one);
  const VI begin = hn::GatherIndex(i, image.level_begins().data(), level);
  const Between x = between(u, width), y = between(v, height);
  const VI above = hn::Add(begin, hn::Mul(y.before, width)), below = hn::Add(begin, hn::Mul(y.after, width));
  const VF lower = hn::Mul(weight, y.share), upper = hn::Sub(weight, lower);
  const VF lower_right = hn::Mul(lower, x.share), upper_right = hn::Mul(upper, x.share);
  const auto* const texels = reinterpret_cast<const int32_t*>(image.texels().data());
  add_texels(texels, hn::Add(above, x.before), hn::Sub(upper, upper_right), sum);
  add_texels(texels, hn::Add(above, x.after), upper_right, sum);
  add_texels(texels, hn::Add(below, x.before), hn::Sub(lower, lower_right), sum);
  add_texels(texels, hn::Add(below, x.after), lower_right, sum);
}

// Multiplies colours by the texture along rays of a row, with the arithmetic of MipImage::at.
HWY_INLINE void paint(const LevelRays& rays, const FacePaint& paint, size_t row, int c, VF distance,
                      Color& color) {
  const F f;
  const I i;
  const VF dx = hn::LoadU(f, rays.dx_float.data() + c), dy = hn::LoadU(f, rays.dy_float.data() + c);
  const VF t = hn::Mul(distance, hn::Set(f, 1 / rays.scales[row]));
  const auto place = [&](float at_eye, const std::array<float, 3>& along) HWY_ATTR {
    const VF across = hn::Add(hn::Mul(hn::Set(f, along[0]), dx), hn::Mul(hn::Set(f, along[1]), dy));
    return hn::Add(hn::Set(f, at_eye), hn::Mul(t, hn::Add(across, hn::Set(f, along[2] * rays.slopes[row]))));
  };
  const VF u = place(paint.u, paint.along_u), v = place(paint.v, paint.along_v);
  const auto last = static_cast<float>(paint.image->levels().size() - 1);
  const VF passing = hn::Max(hn::Mul(distance, hn::Set(f, paint.texels_per_distance)), hn::Set(f, 1.0F));
  const VF level = hn::Min(log2(passing), hn::Set(f, last));
  const VI finer = hn::ConvertTo(i, level);
  const VF rest = hn::Sub(level, hn::ConvertTo(f, finer));
  constexpr float kPerByte = 1.0F / 255;
  Color texel{hn::Zero(f), hn::Zero(f), hn::Zero(f)};
  const VF coarse = hn::Mul(rest, hn::Set(f, kPerByte));
  add_level(*paint.image, finer, u, v, hn::Sub(hn::Set(f, kPerByte), coarse), texel);
  if (!hn::AllTrue(f, hn::Eq(rest, hn::Zero(f))))
    add_level(*paint.image, hn::Min(hn::Add(finer, hn::Set(i, 1)), hn::Set(i, static_cast<int32_t>(last))), u,
              v, coarse, texel);
  color.red = hn::Mul(color.red, texel.red);
  color.green = hn::Mul(color.green, texel.green);
  color.blue = hn::Mul(color.blue, texel.blue);
}

// Returns 255 times the colours of a face in a row, from column c on.
HWY_INLINE Color color_of(const LevelRays& rays, const FaceColor& face, size_t row, int c, VF distance) {
  const F f;
  const float rise = rays.slopes[row] / rays.scales[row];
  const VF up = hn::Sub(hn::Mul(distance, hn::Set(f, rise)), hn::Set(f, face.foot));
  const VF height = hn::Min(hn::Max(hn::Mul(up, hn::Set(f, face.per_height)), hn::Zero(f)), hn::Set(f, 1.0F));
  const auto channel = [&](const std::array<float, 3>& terms) HWY_ATTR {
    const VF inner = hn::Add(hn::Set(f, terms[1]), hn::Mul(height, hn::Set(f, terms[2])));
    return hn::Add(hn::Set(f, terms[0]), hn::Mul(height, inner));
  };
  Color color{channel(face.height_terms[0]), channel(face.height_terms[1]), channel(face.height_terms[2])};
  if (face.paint.image) paint(rays, face.paint, row, c, distance, color);
  return color;
}

// Visits the picture row by row, as many columns at once as there are lanes. If all pixels of a group have
// the same name (0: sky), it calls all(row, c, name), which may write them. Otherwise, or if that returns
// false, it calls begin(row, c, whether some pixels are sky), then add(color, mask) for each face, and
// end(row, c).
template <typename All, typename Begin, typename Add, typename End>
HWY_INLINE void for_colors(const LevelRays& rays, const LevelPicture& picture, Palette& palette,
                           const All& all, const Begin& begin, const Add& add, const End& end) {
  const F f;
  const I i;
  const int lanes = static_cast<int>(hn::Lanes(f));
  for (int row = 0; row < rays.height; ++row) {
    const size_t first = static_cast<size_t>(row) * static_cast<size_t>(rays.stride);
    const int32_t* const row_names = picture.name.data() + first;
    const float* const row_distances = picture.distance.data() + first;
    for (int c = 0; c < rays.width; c += lanes) {
      const VI names = hn::LoadU(i, row_names + c);
      if (hn::AllTrue(i, hn::Eq(names, hn::Set(i, row_names[c]))) && all(row, c, row_names[c])) continue;
      const VF distance = hn::LoadU(f, row_distances + c);
      auto left = hn::Ne(names, hn::Zero(i));
      begin(row, c, !hn::AllTrue(i, left));
      while (!hn::AllFalse(i, left)) {
        const int32_t name = row_names[c + static_cast<int>(hn::FindFirstTrue(i, left))];
        const auto same = hn::Eq(names, hn::Set(i, name));
        left = hn::AndNot(same, left);
        add(color_of(rays, palette.of(name), static_cast<size_t>(row), c, distance), hn::RebindMask(f, same));
      }
      end(row, c);
    }
  }
}

void colors(const LevelRays& rays, const LevelPicture& picture, Palette& palette, const SkyPicture& sky,
            uint8_t* out) {
  const F f;
  const I i;
  const hn::Rebind<uint8_t, F> u;
  const int lanes = static_cast<int>(hn::Lanes(f));
  Color pixels{hn::Zero(f), hn::Zero(f), hn::Zero(f)};
  constexpr size_t kBytes = 3 * hn::MaxLanes(f);
  const auto place_of = [&](int row, int c) {
    return 3 * (static_cast<size_t>(row) * static_cast<size_t>(rays.width) + static_cast<size_t>(c));
  };
  const auto sky_channel = [&](size_t k, size_t at) HWY_ATTR {
    return hn::ConvertTo(f, hn::PromoteTo(i, hn::LoadU(u, sky.channel[k].data() + at)));
  };
  const auto byte = [&](VF channel) HWY_ATTR {
    const VF limited = hn::Min(hn::Max(channel, hn::Zero(f)), hn::Set(f, 255.0F));
    return hn::DemoteTo(u, hn::ConvertTo(i, hn::Add(limited, hn::Set(f, 0.5F))));
  };
  for_colors(
      rays, picture, palette,
      [&](int row, int c, int32_t name) {
        if (c + lanes > rays.width) return false;
        const size_t place = place_of(row, c);
        if (name == 0) {
          std::memcpy(out + place, sky.pixels.data() + place, kBytes);
          return true;
        }
        const Palette::EvenPixels* const even = palette.even_pixels(name);
        if (even) std::memcpy(out + place, even->data(), kBytes);
        return even != nullptr;
      },
      [&](int row, int c, bool shows_sky) HWY_ATTR {
        if (!shows_sky) return;
        const size_t at =
            static_cast<size_t>(row) * static_cast<size_t>(rays.stride) + static_cast<size_t>(c);
        pixels = {sky_channel(0, at), sky_channel(1, at), sky_channel(2, at)};
      },
      [&](const Color& color, hn::Mask<F> where) HWY_ATTR {
        pixels = {hn::IfThenElse(where, color.red, pixels.red),
                  hn::IfThenElse(where, color.green, pixels.green),
                  hn::IfThenElse(where, color.blue, pixels.blue)};
      },
      [&](int row, int c) HWY_ATTR {
        uint8_t* const to = out + place_of(row, c);
        if (c + lanes <= rays.width)
          return hn::StoreInterleaved3(byte(pixels.red), byte(pixels.green), byte(pixels.blue), u, to);
        HWY_ALIGN uint8_t bytes[kBytes];
        hn::StoreInterleaved3(byte(pixels.red), byte(pixels.green), byte(pixels.blue), u, bytes);
        std::copy_n(bytes, 3 * static_cast<size_t>(rays.width - c), to);
      });
}

void lumas(const LevelRays& rays, const LevelPicture& picture, Palette& palette, float* out) {
  const F f;
  const int lanes = static_cast<int>(hn::Lanes(f));
  VF pixels = hn::Zero(f);
  const auto share = [&](float of_white, VF channel)
                         HWY_ATTR { return hn::Mul(hn::Set(f, of_white / 255), channel); };
  for_colors(
      rays, picture, palette, [](int, int, int32_t) { return false; },
      [&](int, int, bool) HWY_ATTR { pixels = hn::Zero(f); },
      [&](const Color& color, hn::Mask<F> where) HWY_ATTR {
        const VF luma =
            hn::Add(hn::Add(share(0.299F, color.red), share(0.587F, color.green)), share(0.114F, color.blue));
        pixels = hn::IfThenElse(where, hn::Min(hn::Max(luma, hn::Zero(f)), hn::Set(f, 1.0F)), pixels);
      },
      [&](int row, int c) HWY_ATTR {
        float* const to =
            out + static_cast<size_t>(row) * static_cast<size_t>(rays.width) + static_cast<size_t>(c);
        if (c + lanes <= rays.width) return hn::StoreU(pixels, f, to);
        HWY_ALIGN float some[hn::MaxLanes(f)];
        hn::Store(pixels, f, some);
        std::copy_n(some, static_cast<size_t>(rays.width - c), to);
      });
}

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mvsim {
namespace {

HWY_EXPORT(colors);
HWY_EXPORT(lumas);

}  // namespace

void write_colors(const LevelRays& rays, const LevelPicture& picture, Palette& palette, const SkyPicture& sky,
                  uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(colors)(rays, picture, palette, sky, out);
}

void write_lumas(const LevelRays& rays, const LevelPicture& picture, Palette& palette, float* out) {
  HWY_DYNAMIC_DISPATCH(lumas)(rays, picture, palette, out);
}

}  // namespace mvsim
#endif
