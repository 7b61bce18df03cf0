#include "render/flat_colors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "render/flat_kernel.h"
#include "render/flat_paint.h"
#include "render/flat_shadows.h"

namespace mvsim {
namespace {

constexpr size_t kRepeats = 16;

// A face in one light: its squared colour at the foot, and what is added up to the head.
struct Shading {
  Rgb foot{}, rise{};
  double low = 0, per_height = 0;                 // above the eye; 0: a level face
  std::array<uint8_t, 3 * kRepeats> level_bytes;  // of pixels of a level face beside each other
  std::optional<FacePaint> paint{};
};

std::array<uint8_t, 3> bytes_of(const Rgb& squared) {
  return {channel_byte(std::sqrt(squared[0])), channel_byte(std::sqrt(squared[1])),
          channel_byte(std::sqrt(squared[2]))};
}

class FlatColors {
 public:
  FlatColors(const FlatScene& scene, const FlatImage& image, const LevelEye& eye, const FlatThings& things,
             const LevelPicture& picture)
      : scene_(scene), image_(image), rays_(image.rays), eye_(eye), things_(things), picture_(picture) {
    thing_of_.resize(static_cast<size_t>(things.names));
    for (size_t i = 0; i < things.seen.size(); ++i) {
      const FlatThing& t = things.seen[i];
      std::fill_n(thing_of_.begin() + t.name, t.count + 2, static_cast<uint32_t>(i));
    }
    shading_index_.resize(2 * thing_of_.size());
    shadings_.reserve(64);
    starts_.resize(static_cast<size_t>(rays_.stride) + LevelRays::kPadding);
  }

  void write_color(uint8_t* out) {
    for_each_run([&](int row, int begin, int end, int32_t name) {
      uint8_t* pixel = out + 3 * (static_cast<size_t>(row) * static_cast<size_t>(rays_.width) +
                                  static_cast<size_t>(begin));
      if (name == 0) {
        std::copy_n(image_.sky.data() + (pixel - out), 3 * static_cast<size_t>(end - begin), pixel);
        return;
      }
      const Shading& shading = shading_of(name);
      if (shading.paint) {
        for (int c = begin; c < end; ++c, pixel += 3) {
          const Rgb color = color_at(shading, row, c);
          for (size_t k = 0; k < 3; ++k) pixel[k] = channel_byte(color[k]);
        }
        return;
      }
      if (shading.per_height != 0) {
        write_gradient(gradient_of(shading, row), {distance_at(row, begin), static_cast<size_t>(end - begin)},
                       pixel);
        return;
      }
      const auto length = static_cast<size_t>(end - begin);
      for (size_t done = 0; done < length; done += kRepeats)
        std::memcpy(pixel + 3 * done, shading.level_bytes.data(), 3 * std::min(kRepeats, length - done));
    });
  }

  void write_intensity(float* out) {
    for_each_run([&](int row, int begin, int end, int32_t name) {
      float* pixel =
          out + static_cast<size_t>(row) * static_cast<size_t>(rays_.width) + static_cast<size_t>(begin);
      for (int c = begin; c < end; ++c) {
        if (name == 0) {
          *pixel++ = 0;
          continue;
        }
        const Rgb color = color_at(shading_of(name), row, c);
        *pixel++ = std::clamp(0.299F * color[0] + 0.587F * color[1] + 0.114F * color[2], 0.0F, 1.0F);
      }
    });
  }

  // Calls run(row, begin, end, name) for the columns of each row that show the same.
  template <typename Run>
  void for_each_run(Run run) {
    for (int row = 0; row < rays_.height; ++row) {
      const int32_t* const names =
          picture_.name.data() + static_cast<size_t>(row) * static_cast<size_t>(rays_.stride);
      const size_t count = find_run_starts(names, rays_.width, starts_.data());
      starts_[count] = rays_.width;
      for (size_t i = 0; i < count; ++i) run(row, starts_[i], starts_[i + 1], names[starts_[i]]);
    }
  }

 private:
  const float* distance_at(int row, int column) const {
    return picture_.distance.data() + static_cast<size_t>(row) * static_cast<size_t>(rays_.stride) +
           static_cast<size_t>(column);
  }

  FaceGradient gradient_of(const Shading& s, int row) const {
    const auto r = static_cast<size_t>(row);
    return {.foot = s.foot,
            .rise = s.rise,
            .per_distance = static_cast<float>(s.per_height * rays_.slopes[r] / rays_.scales[r]),
            .offset = static_cast<float>(s.per_height * s.low)};
  }

  Rgb color_at(const Shading& s, int row, int column) const {
    const float distance = *distance_at(row, column);
    float share = 0;
    if (s.per_height != 0) {
      const FaceGradient g = gradient_of(s, row);
      share = std::clamp(distance * g.per_distance - g.offset, 0.0F, 1.0F);
    }
    Rgb out;
    for (size_t k = 0; k < 3; ++k) out[k] = std::sqrt(s.foot[k] + share * s.rise[k]);
    if (!s.paint) return out;
    const auto r = static_cast<size_t>(row), c = static_cast<size_t>(column);
    const double t = static_cast<double>(distance) / rays_.scales[r];
    const std::array<float, 4> texel =
        s.paint->at({t * rays_.dx[c], t * rays_.dy[c], t * rays_.slopes[r]}, distance * image_.pixel_angle);
    for (size_t k = 0; k < 3; ++k) out[k] *= texel[k];
    return out;
  }

  const Shading& shading_of(int32_t name) {
    const bool shaded = (name & kShaded) != 0;
    const int32_t plain = name & ~kShaded;
    uint32_t& index = shading_index_[2 * static_cast<size_t>(plain) + (shaded ? 1 : 0)];
    if (index == 0) {
      shadings_.push_back(make_shading(things_.seen[thing_of_[static_cast<size_t>(plain)]], plain, shaded));
      index = static_cast<uint32_t>(shadings_.size());
    }
    return shadings_[index - 1U];
  }

  Shading make_shading(const FlatThing& thing, int32_t name, bool shaded) const {
    const FlatLook& look = scene_.looks[thing.look];
    const int32_t face = name - thing.name;
    Vec3 normal{0, 0, face == 0 ? 1.0 : -1.0};
    if (face >= 2) {
      const std::span<const Vec2> outline = things_.outline(thing);
      const auto i = static_cast<size_t>(face - 2);
      const Vec2 along = outline[i + 1 == outline.size() ? 0 : i + 1] - outline[i];
      const Vec2 world = eye_.turn_to_world({along.y, -along.x});
      normal = normalized({world.x, world.y, 0});
    }
    const bool lit = !shaded && dot(normal, scene_.sun.to_sun) > 0;
    const Rgb light = light_on(normal, scene_.sun, lit);
    Shading s;
    for (size_t k = 0; k < 3; ++k) {
      s.foot[k] = (face >= 2 ? look.foot[k] : look.head[k]) * light[k];
      s.rise[k] = look.head[k] * light[k] - s.foot[k];
    }
    const std::array<uint8_t, 3> bytes = bytes_of(s.foot);
    for (size_t i = 0; i < s.level_bytes.size(); ++i) s.level_bytes[i] = bytes[i % 3];
    if (look.texture != Material::kNoTexture)
      s.paint.emplace(look, *scene_.textures[static_cast<size_t>(look.texture)], things_.outline(thing),
                      face - 2, thing.region.z_min - eye_.z());
    if (face < 2) return s;
    s.low = thing.region.z_min - eye_.z();
    s.per_height = 1 / (thing.region.z_max - thing.region.z_min);
    return s;
  }

  const FlatScene& scene_;
  const FlatImage& image_;
  const LevelRays& rays_;
  const LevelEye& eye_;
  const FlatThings& things_;
  const LevelPicture& picture_;
  std::vector<uint32_t> thing_of_;  // by name
  std::vector<int32_t> starts_;     // of the runs of a row
  // Two a name, in the sun and in the shade: its place in shadings_ from 1 on; 0: not made yet.
  std::vector<uint32_t> shading_index_;
  std::vector<Shading> shadings_;
};

}  // namespace

void color_flat(const FlatScene& scene, const FlatImage& image, const LevelEye& eye, const FlatThings& things,
                std::span<const PlacedBody> rest, const View& view, const Frame3& T_world_view,
                LevelPicture& picture, std::byte* pixels) {
  FlatColors colors(scene, image, eye, things, picture);
  if (scene.has_shadows) {
    NameColumns columns(static_cast<size_t>(things.names), ColumnRange{image.rays.width, 0});
    colors.for_each_run([&](int, int begin, int end, int32_t name) {
      ColumnRange& c = columns[static_cast<size_t>(name)];
      c = {std::min(c.begin, begin), std::max(c.end, end)};
    });
    shade_flat(scene, image.rays, eye, things, columns, picture);
    if (!rest.empty()) {
      double lowest = 0;
      for (const FlatThing& t : things.seen) lowest = std::min(lowest, t.region.z_min);
      shade_by_rest(scene, image.rays, eye, rest, view, T_world_view, lowest, picture);
    }
  }
  if (view.content == ViewContent::kColor)
    colors.write_color(reinterpret_cast<uint8_t*>(pixels));
  else
    colors.write_intensity(reinterpret_cast<float*>(pixels));
}

}  // namespace mvsim
