#include "model/model.h"

namespace mvsim {
namespace {

template <class T>
size_t index_of(const std::vector<T>& items, std::string_view name, const char* kind) {
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].name == name) return i;
  throw Error(std::string("this world has no ") + kind + " named '" + std::string(name) + "'" +
              did_you_mean(name, names_in(items)));
}

}  // namespace

size_t Model::vehicle_index(std::string_view name) const {
  return index_of(vehicles, name, "vehicle");
}

size_t Model::block_index(std::string_view name) const {
  return index_of(blocks, name, "block");
}

size_t Model::sensor_index(std::string_view vehicle, std::string_view sensor) const {
  const size_t owner = vehicle_index(vehicle);
  std::vector<std::string> names;
  for (size_t i = 0; i < sensors.size(); ++i) {
    if (sensors[i].vehicle != owner) continue;
    if (sensors[i].name == sensor) return i;
    names.push_back(sensors[i].name);
  }
  throw Error("vehicle '" + std::string(vehicle) + "' has no sensor named '" + std::string(sensor) + "'" +
              did_you_mean(sensor, names));
}

std::string_view Model::owner_name(const SensorModel& sensor) const {
  return sensor.is_standalone() ? std::string_view() : vehicles[sensor.vehicle].name;
}

std::vector<size_t> Model::joined_vehicles(size_t vehicle) const {
  std::vector<size_t> out;
  const int group = bodies[vehicles.at(vehicle).body].joint_group;
  if (group < 0) return out;
  for (const size_t body : joint_groups[static_cast<size_t>(group)].bodies)
    if (bodies[body].kind == BodyKind::kVehicle && bodies[body].index != vehicle)
      out.push_back(bodies[body].index);
  return out;
}

std::vector<size_t> Model::find_params(std::string_view pattern) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < params.size(); ++i)
    if (matches_pattern(pattern, params[i].path)) found.push_back(i);
  return found;
}

std::shared_ptr<const Scene> scene_of(const std::shared_ptr<const Model>& model) {
  return {model, model->scene.get()};
}

bool matches_pattern(std::string_view pattern, std::string_view name) {
  // greedy match with one point of return: linear in practice, quadratic at worst
  size_t p = 0, n = 0, star = std::string_view::npos, star_name = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_name = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++star_name;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace mvsim
