#include "sim/simulation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/scene_view.h"
#include "sim/snapshot.h"

namespace mvsim {
namespace {

constexpr double kShortestStep = 1e-3;  // of a time step: what run() makes a step of

}  // namespace

Simulation::Simulation(std::shared_ptr<const Model> model, uint64_t key, uint32_t episode)
    : model_(std::move(model)) {
  reset(key, episode);
}

Simulation::Simulation(std::shared_ptr<const Model> model, SimState state)
    : model_(std::move(model)), state_(std::move(state)) {}

void Simulation::change_model(std::shared_ptr<const Model> model, uint64_t key, uint32_t episode) {
  work_.drop_solver();
  SolverWorld world = std::move(work_.spare_world);
  *this = Simulation(std::move(model), key, episode);
  work_.spare_world = std::move(world);
}

void Simulation::place_block(size_t block, const Pose2& pose) {
  mvsim::place_block(*model_, state_, work_, block, pose);
  ++work_.placed_blocks;
}

void Simulation::set_twist(size_t index, double vx, double omega) {
  const VehicleModel& v = model_->vehicles.at(index);
  if (!v.controller->accepts_twist())
    throw Error("vehicle '" + v.name + "': controller '" + std::string(v.controller->name()) +
                "' takes no twist command");
  const double command[] = {vx, omega};
  set_command(index, command);
}

void Simulation::set_command(size_t index, std::span<const double> command) {
  const VehicleModel& v = model_->vehicles.at(index);
  const size_t expected = v.controller->command().size();
  if (command.size() != expected)
    throw Error("vehicle '" + v.name + "': found a command of " + std::to_string(command.size()) +
                " values, controller '" + std::string(v.controller->name()) + "' expects " +
                std::to_string(expected));
  for (size_t i = 0; i < expected; ++i)
    if (!std::isfinite(command[i]))
      throw Error("vehicle '" + v.name + "': command value '" + std::string(v.controller->command()[i].name) +
                  "' is not finite");
  std::copy(command.begin(), command.end(), state_.vehicles[index].command);
}

void Simulation::clear_collision_flags() {
  for (VehicleState& v : state_.vehicles) v.in_collision = false, v.contacts = 0;
}

void Simulation::clear_collision_flags(size_t vehicle) {
  VehicleState& v = state_.vehicles.at(vehicle);
  v.in_collision = false;
  v.contacts = 0;
}

void Simulation::set_always_solver(bool always) {
  state_.always_solver = always;
  if (always) state_.in_contact = true;
}

std::string Simulation::snapshot() {
  if (!is_finite(*this))
    throw Error("snapshot: the simulation has diverged (a position or speed is not finite)");
  refill_solver();
  SnapshotWriter writer(SnapshotKind::kWorld, model_->fingerprint, expected_bytes(*model_),
                        drawn_by(*model_));
  write_state(writer.archive(), state_);
  return writer.finish();
}

void Simulation::restore(std::string_view bytes) {
  ArchiveReader archive(snapshot_body(bytes, SnapshotKind::kWorld, model_->fingerprint));
  SimState restored = read_state(*model_, archive);
  archive.check(archive.left() == 0);
  state_ = std::move(restored);
  work_.forget();
}

void Simulation::run(double duration, const std::function<void()>& after_step) {
  if (!(duration >= 0) || !std::isfinite(duration))
    throw Error("cannot run for " + std::to_string(duration) + " s: expected a finite duration >= 0");
  const double whole = model_->timestep, shortest = kShortestStep * whole;
  double left = state_.owed + duration;
  state_.owed = 0;
  while (left >= shortest) {
    const double dt = left > whole - shortest ? whole : left;
    step(dt);
    left -= dt;
    if (after_step) after_step();
  }
  state_.owed = left;
}

}  // namespace mvsim
