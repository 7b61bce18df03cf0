// Random worlds of upright prisms on level ground, and both ways to draw what their sensors see.
#pragma once

#include <cmath>
#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "render/level/flat_scene.h"
#include "render/rays/ray_view.h"
#include "sim/sense.h"
#include "sim/worlds.h"
#include "views/draw_views.h"

namespace mvsim::test {

// The options of worlds whose sensors see.
inline const CompileOptions kDrawn{.make_drawer = draw_by(CameraBackend::kRays)};

inline std::shared_ptr<const Model> drawn_model(const std::string& body) {
  return model_of(body, kDrawn);
}

inline constexpr const char* kFloor =
    "<element class='horizontal_plane'><x_min>-20</x_min><x_max>20</x_max><y_min>-20</y_min><y_max>20</y_max>"
    "<color>#a0a8a0</color></element>";

// A camera of 64 x 48 pixels for depth and colour, at this height.
inline std::string level_camera(double z, const std::string& pose_angles = "0 0 0",
                                const std::string& name = "cam") {
  std::ostringstream out;
  out << "<sensor class='rgbd_camera' name='" << name << "'><pose_3d>0.1 0.05 " << z << " " << pose_angles
      << "</pose_3d>";
  for (const char* kind : {"depth", "rgb"})
    out << "<" << kind << "_ncols>64</" << kind << "_ncols><" << kind << "_nrows>48</" << kind << "_nrows><"
        << kind << "_cx>31.7</" << kind << "_cx><" << kind << "_cy>23.2</" << kind << "_cy><" << kind
        << "_fx>40</" << kind << "_fx><" << kind << "_fy>40</" << kind << "_fy>";
  out << "<depth_clip_max>30</depth_clip_max><depth_noise_sigma>0</depth_noise_sigma></sensor>";
  return out.str();
}

inline std::string level_lidar(double z, bool ignores_parent = true) {
  std::ostringstream out;
  out << "<sensor class='lidar3d' name='lidar'><pose_3d>0.1 0.05 " << z
      << " 20 0 0</pose_3d><horz_nrays>360</horz_nrays><range_std_noise>0</range_std_noise>"
      << "<ignore_parent_body>" << (ignores_parent ? "true" : "false") << "</ignore_parent_body></sensor>";
  return out.str();
}

struct Numbers {
  std::mt19937 source;
  double in(double low, double high) { return low + (high - low) * (source() / 4294967296.0); }
};

inline std::string random_block(Numbers& random, int index) {
  std::ostringstream out;
  const bool floats = random.in(0, 1) < 0.25;
  const double low = floats ? random.in(0.1, 1.2) : 0, high = low + random.in(0.1, 1.6);
  const int sides = static_cast<int>(random.in(3, 9));
  const double size_x = random.in(0.2, 1.2), size_y = random.in(0.2, 1.2);
  char color[8];
  std::snprintf(color, sizeof color, "#%06x", static_cast<unsigned>(random.in(0x202020, 0xf0f0f0)));
  out << "<block name='b" << index << "'>";
  if (index % 3 != 0) out << "<static>true</static>";
  out << "<init_pose>" << random.in(-8, 8) << " " << random.in(-8, 8) << " " << random.in(-180, 180)
      << "</init_pose><zmin>" << low << "</zmin><zmax>" << high << "</zmax><color>" << color
      << "</color><shape>";
  for (int i = 0; i < sides; ++i) {
    const SinCos angle = sin_cos(2 * kPi * i / sides);
    out << "<pt>" << size_x * angle.cos << " " << size_y * angle.sin << "</pt>";
  }
  out << "</shape></block>";
  return out.str();
}

inline std::string random_blocks(unsigned seed, int count) {
  Numbers random{std::mt19937(seed)};
  std::string out;
  for (int i = 0; i < count; ++i) out += random_block(random, i);
  return out;
}

// A robot with sensors, and another that it may see.
inline std::string two_robots(const std::string& sensors) {
  return vehicle("differential", "<controller class='twist_ideal'/>", sensors, "r", "0.3 -0.2 25") +
         vehicle("differential", "<chassis zmin='0.05' zmax='0.4'/>", "", "other", "2 1 -70");
}

// One image of a sensor, and what both ways make of it.
class BothWays {
 public:
  BothWays(const Simulation& simulation, size_t sensor, size_t image)
      : model_(simulation.model()), sensor_(sensor), image_(image) {
    scene_poses(simulation, poses_);
    const SensorModel& s = model_.sensors[sensor];
    const Frame3 mount(s.sensor->mount());
    from_.T_world_view =
        compose(s.is_standalone()
                    ? mount
                    : compose(poses_[frame_of_body(model_.vehicles[s.vehicle].body)].T_world_frame, mount),
                view().T_sensor_view);
    from_.sensor = static_cast<int>(sensor);
    if (view().hides_vehicle) {
      const VehicleModel& vehicle = model_.vehicles[s.vehicle];
      hidden_.push_back(frame_of_body(vehicle.body));
      for (size_t w = 0; w < vehicle.wheels.size(); ++w)
        hidden_.push_back(frame_of_wheel(model_.bodies.size(), vehicle.first_wheel + w));
    }
    from_.hidden_frames = hidden_;
  }

  const View& view() const { return as_view_sensor(*model_.sensors[sensor_].sensor)->images()[image_].view; }
  bool is_level() const { return model_.sensors[sensor_].level_images[image_] != 0; }
  size_t pixels() const { return static_cast<size_t>(view().width) * static_cast<size_t>(view().height); }

  // Leans all that stands on this frame by some degrees.
  void lean(uint32_t frame) {
    const Frame3 leaning(Pose3{.pitch = 3 * kDegree});
    poses_[frame].T_world_frame = compose(poses_[frame].T_world_frame, leaning);
  }

  template <typename T>
  std::vector<T> by_rays(ViewContent content, bool has_shadows = true) const {
    const auto rays = ray_scene(has_shadows);
    std::vector<T> out(pixels() * (content == ViewContent::kColor ? 3 : 1));
    const View drawn = of(content);
    draw_rays(*rays, poses_, drawn, from_, reinterpret_cast<std::byte*>(out.data()));
    return out;
  }
  // Empty where it is not drawn so.
  template <typename T>
  std::vector<T> from_plane(ViewContent content) const {
    const auto flat = make_flat_scene(*model_.scene, model_.level_frames);
    const auto rays = ray_scene(true);
    std::vector<T> out(pixels() * (content == ViewContent::kColor ? 3 : 1));
    const View drawn = of(content);
    const auto all = [&]() -> const RayScene& { return *rays; };
    const auto image = flat_image_of(drawn, model_.scene->sky);
    FlatPicture picture{&drawn, image.get(), reinterpret_cast<std::byte*>(out.data())};
    draw_flat(*flat, all, poses_, from_, {&picture, 1});
    if (!picture.is_drawn) out.clear();
    return out;
  }

 private:
  View of(ViewContent content) const {
    View out = view();
    out.content = content;
    return out;
  }

  std::shared_ptr<const RayScene> ray_scene(bool has_shadows) const {
    std::shared_ptr<const RayScene>& made = ray_scenes_[has_shadows ? 1 : 0];
    if (!made) {
      Scene scene = *model_.scene;
      scene.has_shadows = has_shadows;
      made = make_ray_scene(scene);
    }
    return made;
  }

  const Model& model_;
  mutable std::array<std::shared_ptr<const RayScene>, 2> ray_scenes_;
  size_t sensor_, image_;
  std::vector<ScenePose> poses_;
  std::vector<uint32_t> hidden_;
  ViewPoint from_;
};

}  // namespace mvsim::test
