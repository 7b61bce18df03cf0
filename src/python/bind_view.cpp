// Bindings for viewers: the triangles of a scene by frame, its textures, the poses of all frames, and marks.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "batch/batch.h"
#include "python/bind.h"
#include "scene/marks.h"
#include "scene/triangles.h"
#include "sim/sense.h"
#include "sim/simulation.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace mvsim {
namespace {

constexpr int kMaxNodes = 400;       // of a hilly ground, a side
constexpr py::ssize_t kColumns = 8;  // of a pose: x, y, z, the quaternion w, x, y, z, and the scale

// Key of triangles that can be drawn at once: frame, texture, is glass, both sides are seen.
using PartKey = std::tuple<uint32_t, int, bool, bool>;

void append(Mesh& all, const Mesh& mesh) {
  const auto first = static_cast<uint32_t>(all.positions.size());
  const size_t count = mesh.positions.size();
  all.positions.insert(all.positions.end(), mesh.positions.begin(), mesh.positions.end());
  all.normals.insert(all.normals.end(), mesh.normals.begin(), mesh.normals.end());
  all.colors.insert(all.colors.end(), mesh.colors.begin(), mesh.colors.end());
  all.colors.resize(first + count);
  all.uvs.insert(all.uvs.end(), mesh.uvs.begin(), mesh.uvs.end());
  all.uvs.resize(first + count);
  for (const uint32_t i : mesh.indices) all.indices.push_back(first + i);
}

// Inside out, with normals that point there.
void turn(Mesh& mesh) {
  for (size_t i = 0; i + 2 < mesh.indices.size(); i += 3) std::swap(mesh.indices[i], mesh.indices[i + 1]);
  for (auto& normal : mesh.normals)
    for (float& v : normal) v = -v;
}

std::map<PartKey, Mesh> parts_of(const Scene& scene) {
  std::map<PartKey, Mesh> parts;
  for (const Instance& instance : scene.instances) {
    const Material& material = scene.materials[instance.material];
    Mesh mesh = triangles_of(scene.shapes[instance.shape], material.color, instance.T_frame_shape,
                             {.max_nodes = kMaxNodes});
    if (material.cull == CullFaces::kFront) turn(mesh);
    append(
        parts[{instance.frame, material.texture, material.color.a < 255, material.cull == CullFaces::kNone}],
        mesh);
  }
  return parts;
}

template <typename T, typename Value, typename Columns>
py::array_t<T> table(const std::vector<Value>& rows, py::ssize_t columns, const Columns& columns_of) {
  py::array_t<T> out({static_cast<py::ssize_t>(rows.size()), columns});
  T* at = out.mutable_data();
  for (const Value& row : rows)
    for (const auto v : columns_of(row)) *at++ = static_cast<T>(v);
  return out;
}

py::array_t<float> points_of(const std::vector<Vec3>& points) {
  return table<float>(points, 3, [](Vec3 p) { return std::array{p.x, p.y, p.z}; });
}

// A dict for each part: frame, texture (-1: none), glass, both_sides, and arrays with a row a vertex.
py::list meshes_of(const std::shared_ptr<const Model>& model) {
  std::map<PartKey, Mesh> parts;
  {
    const ReleasedGil released;
    parts = parts_of(*scene_of(model));
  }
  py::list out;
  for (const auto& [key, mesh] : parts) {
    const auto& [frame, texture, glass, both_sides] = key;
    out.append(py::dict("frame"_a = frame, "texture"_a = texture, "glass"_a = glass,
                        "both_sides"_a = both_sides, "positions"_a = points_of(mesh.positions),
                        "normals"_a = table<float>(mesh.normals, 3, [](const auto& n) { return n; }),
                        "colors"_a = table<uint8_t>(mesh.colors, 4,
                                                    [](Color c) {
                                                      return std::array{c.r, c.g, c.b, c.a};
                                                    }),
                        "uvs"_a = table<float>(mesh.uvs, 2, [](const auto& uv) { return uv; }),
                        "indices"_a = py::array_t<uint32_t>(static_cast<py::ssize_t>(mesh.indices.size()),
                                                            mesh.indices.data())));
  }
  return out;
}

py::list textures_of(const Model& model) {
  py::list out;
  for (const auto& image : model.scene->textures)
    out.append(py::array_t<uint8_t>({image->height, image->width, 4}, image->rgba.data()));
  return out;
}

// Returns the quaternion of the rotation matrix with columns x, y and z (Shepperd's method: divided by the
// largest component).
std::array<double, 4> quaternion_of(const Frame3& f) {
  const double trace = f.x.x + f.y.y + f.z.z;
  const std::array<double, 4> squares{1 + trace, 1 + 2 * f.x.x - trace, 1 + 2 * f.y.y - trace,
                                      1 + 2 * f.z.z - trace};  // 4 w^2, 4 x^2, 4 y^2, 4 z^2
  const double yz = f.y.z - f.z.y, zx = f.z.x - f.x.z, xy = f.x.y - f.y.x;
  const double sum_xy = f.x.y + f.y.x, sum_xz = f.x.z + f.z.x, sum_yz = f.y.z + f.z.y;
  const auto largest = static_cast<size_t>(std::ranges::max_element(squares) - squares.begin());
  const double s = squares[largest];
  const std::array<std::array<double, 4>, 4> rows{
      {{s, yz, zx, xy}, {yz, s, sum_xy, sum_xz}, {zx, sum_xy, s, sum_yz}, {xy, sum_xz, sum_yz, s}}};
  std::array<double, 4> q = rows[largest];
  for (double& v : q) v /= 2 * std::sqrt(s);
  return q;
}

void write(const std::vector<ScenePose>& poses, float* out) {
  for (const ScenePose& pose : poses) {
    const Frame3& f = pose.T_world_frame;
    const auto [w, x, y, z] = quaternion_of(f);
    for (const double v : {f.origin.x, f.origin.y, f.origin.z, w, x, y, z, pose.scale})
      *out++ = static_cast<float>(v);
  }
}

py::array_t<float> poses_of(const Simulation& simulation) {
  std::vector<ScenePose> poses;
  scene_poses(simulation, poses);
  py::array_t<float> out({static_cast<py::ssize_t>(poses.size()), kColumns});
  write(poses, out.mutable_data());
  return out;
}

// Those of all envs, by the world that they run: its model, its envs, an array (envs, frames, 8).
py::list poses_by_model(const Batch& batch) {
  std::vector<std::pair<std::shared_ptr<const Model>, std::vector<int>>> groups;
  for (int env = 0; env < batch.num_envs(); ++env) {
    const std::shared_ptr<const Model> model = batch.model(env);
    auto found = std::ranges::find(groups, model, [](const auto& group) { return group.first; });
    if (found == groups.end()) found = groups.insert(groups.end(), {model, {}});
    found->second.push_back(env);
  }
  py::list out;
  std::vector<ScenePose> poses;
  for (const auto& [model, envs] : groups) {
    const auto frames = static_cast<py::ssize_t>(model->scene->frame_count);
    py::array_t<float> all({static_cast<py::ssize_t>(envs.size()), frames, kColumns});
    float* at = all.mutable_data();
    for (const int env : envs) {
      scene_poses(batch.simulation(env), poses);
      write(poses, at);
      at += frames * kColumns;
    }
    out.append(
        py::make_tuple(model, py::array_t<int>(static_cast<py::ssize_t>(envs.size()), envs.data()), all));
  }
  return out;
}

// Where lidars' rays end, both ends of ropes and hitches, (n, 3).
py::dict marks_of(const Simulation& simulation) {
  const Marks marks = debug_marks(simulation);
  std::vector<Vec3> joints;
  for (const auto* list : {&marks.ropes, &marks.hitches})
    for (const auto& ends : *list) joints.insert(joints.end(), ends.begin(), ends.end());
  return py::dict("hits"_a = points_of(marks.hits), "joints"_a = points_of(joints));
}

// Returns for both ends of each rope and hitch the frame that holds it, its x and y there, and the height of
// the holding body above that frame.
py::list ties_of(const Model& model) {
  const auto end = [&](size_t body, Vec2 anchor) {
    const BodyModel& b = model.bodies[body];
    const double top =
        b.kind == BodyKind::kVehicle ? model.vehicles[b.index].z_max : model.blocks[b.index].z_max;
    return std::tuple(frame_of_body(body), anchor.x, anchor.y, top);
  };
  py::list out;
  for (const JointModel& joint : model.joints)
    out.append(py::make_tuple(end(joint.body_a, joint.anchor_a), end(joint.body_b, joint.anchor_b)));
  return out;
}

// Returns for each ground grid its lines (n, 2, 3) at the initial pose of the frame that it follows, their
// width (m) and colour, that frame (0: none), and the interval in whose steps it follows (m).
py::list grids_of(const Model& model) {
  py::list out;
  for (const GroundGrid& grid : model.scene->ground_grids) {
    const py::array_t<float> lines = table<float>(ground_lines(grid), 6, [](const auto& line) {
      const auto& [a, b] = line;
      return std::array{a.x, a.y, a.z, b.x, b.y, b.z};
    });
    const py::tuple color = py::make_tuple(grid.color.r, grid.color.g, grid.color.b);
    out.append(py::make_tuple(lines, grid.width, color, grid.frame, grid.interval));
  }
  return out;
}

// Returns kind, name and frame of each thing that moves.
std::vector<std::tuple<std::string, std::string, uint32_t>> movers_of(const Model& model) {
  std::vector<std::tuple<std::string, std::string, uint32_t>> out;
  for (const VehicleModel& v : model.vehicles) out.emplace_back("vehicle", v.name, frame_of_body(v.body));
  for (const ActorModel& a : model.actors) out.emplace_back("actor", a.name, a.frame);
  for (const BlockModel& b : model.blocks) {
    const uint32_t frame = b.body >= 0 ? frame_of_body(static_cast<size_t>(b.body)) : b.frame;
    if (frame != kWorldFrame && !b.is_wall && !b.is_person) out.emplace_back("block", b.name, frame);
  }
  return out;
}

// x, y and radius of the goal of each env; NaN where there is none.
py::array_t<double> goals_of(const Batch& batch) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  py::array_t<double> out({static_cast<py::ssize_t>(batch.num_envs()), py::ssize_t{3}});
  auto rows = out.mutable_unchecked<2>();
  for (int env = 0; env < batch.num_envs(); ++env) {
    const std::optional<Vec2> goal = batch.goal(env);
    rows(env, 0) = goal ? goal->x : kNone;
    rows(env, 1) = goal ? goal->y : kNone;
    rows(env, 2) = goal ? batch.goal_radius() : kNone;
  }
  return out;
}

// (n, 2) along the path of the first agent of an env.
py::array_t<double> path_of(const Batch& batch, int env) {
  constexpr double kSpacing = 0.15;  // m
  constexpr size_t kMost = 400;
  return table<double>(batch.path(env, 0, kSpacing, kMost), 2, [](Vec2 p) { return std::array{p.x, p.y}; });
}

py::array_t<bool> contacts_of(const Simulation& simulation) {
  const auto& vehicles = simulation.state().vehicles;
  py::array_t<bool> out(static_cast<py::ssize_t>(vehicles.size()));
  std::ranges::transform(vehicles, out.mutable_data(), [](const auto& v) { return v.in_collision; });
  return out;
}

}  // namespace

void bind_view(py::module_& m) {
  m.def("scene_meshes", &meshes_of, "model"_a);
  m.def("scene_textures", &textures_of, "model"_a);
  // x_min, x_max, y_min, y_max on the ground, and the height of the tallest thing
  m.def(
      "scene_bounds",
      [](const Model& model) {
        const Rect& b = model.scene->bounds;
        return py::make_tuple(b.x_min, b.x_max, b.y_min, b.y_max, model.scene->height);
      },
      "model"_a);
  m.def("scene_grids", &grids_of, "model"_a);
  m.def("scene_movers", &movers_of, "model"_a);
  m.def("scene_ties", &ties_of, "model"_a);
  m.def(
      "scene_frames", [](const Model& model) { return model.scene->frame_count; }, "model"_a);
  m.def(
      "env_models", [](const Batch& batch, int env) { return batch.models(env); }, "batch"_a, "env"_a);
  m.def("env_path", &path_of, "batch"_a, "env"_a);
  // a copy of an env's world, which stays as it is while the env steps on; and a later moment of it
  m.def(
      "env_simulation", [](const Batch& batch, int env) { return Simulation(batch.simulation(env)); },
      "batch"_a, "env"_a);
  m.def(
      "copy_env", [](const Batch& batch, int env, Simulation& into) { into = batch.simulation(env); },
      "batch"_a, "env"_a, "into"_a);
  m.def("env_goals", &goals_of, "batch"_a);
  m.def("scene_poses", &poses_of, "simulation"_a);
  m.def("batch_poses", &poses_by_model, "batch"_a);
  m.def("scene_marks", &marks_of, "simulation"_a);
  m.def(
      "env_marks", [](const Batch& batch, int env) { return marks_of(batch.simulation(env)); }, "batch"_a,
      "env"_a);
  m.def("vehicle_contacts", &contacts_of, "simulation"_a);
  m.def(
      "env_contacts", [](const Batch& batch, int env) { return contacts_of(batch.simulation(env)); },
      "batch"_a, "env"_a);
}

}  // namespace mvsim
