#include "record/vehicle_log.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "base/file.h"
#include "sim/simulation.h"

namespace mvsim {
namespace {

namespace fs = std::filesystem;

const char* const kPoseColumns[] = {"Timestamp", "q0x", "q1y", "q2z",   "q3yaw", "q4pitch", "q5roll",
                                    "dqx",       "dqy", "dqw", "odo_x", "odo_y", "odo_yaw"};
const char* const kWheelColumns[] = {"Timestamp",  "torque",     "force_z",     "velocity_x", "velocity_y",
                                     "friction_x", "friction_y", "wheel_pos_x", "wheel_pos_y"};

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder, error))
    throw Error("log_dir: cannot make the folder '" + folder +
                "': " + (error ? error.message() : std::string("there is something else of that name")));
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw Error("log_dir: cannot write to the folder '" + folder + "': " + std::strerror(errno));
}

// A vehicle's name as a part of a file name; different names stay different.
std::string file_part(const std::string& name) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 128 && std::isalnum(byte) != 0) || c == '_' || c == '-' || c == '.') {
      out += c;
    } else {
      out += '%';
      out += kHex[byte / 16];
      out += kHex[byte % 16];
    }
  }
  return out;
}

}  // namespace

VehicleLog::VehicleLog(Simulation& simulation, const std::string& folder)
    : simulation_(simulation), folder_(folder) {
  make_folder(folder_);
  const Model& model = simulation.model();
  for (const VehicleModel& v : model.vehicles) recording_.push_back(v.auto_start_recording.value_or(true));
  tables_.resize(model.vehicles.size());
  simulation_.add_observer(*this);
}

VehicleLog::~VehicleLog() {
  simulation_.remove_observer(*this);
}

void VehicleLog::flush() {
  for (std::vector<Table>& tables : tables_)
    for (Table& table : tables) table.file->flush();
}

void VehicleLog::after_step(const Simulation&, const StepDetails& details, double start) {
  follow_session();
  for (size_t i = 0; i < tables_.size(); ++i) {
    if (!recording_[i]) continue;
    if (tables_[i].empty()) open(i);
    write_pose(i, start);
    for (size_t k = 0; k < wheel_states(simulation_, i).size(); ++k) write_wheel(i, k, details, start);
  }
}

// Closes the files of a session that has ended and finds names for the next one's.
void VehicleLog::follow_session() {
  const bool same = session_ && session_->key == simulation_.state().key &&
                    session_->episode == simulation_.state().episode &&
                    simulation_.state().step_count > session_->steps;
  session_ = {simulation_.state().key, simulation_.state().episode, simulation_.state().step_count};
  if (same) return;
  flush();
  for (std::vector<Table>& tables : tables_) tables.clear();
  do {
    prefix_ = next_session_ == 1 ? "" : "session_" + std::to_string(next_session_) + "-";
    ++next_session_;
  } while (is_taken(prefix_));
}

bool VehicleLog::is_taken(const std::string& prefix) const {
  const std::vector<VehicleModel>& vehicles = simulation_.model().vehicles;
  return std::any_of(vehicles.begin(), vehicles.end(), [&](const VehicleModel& v) {
    std::error_code error;
    const std::string path = join_path(folder_, prefix + "mvsim_" + file_part(v.name) + "_pose.csv");
    return fs::exists(fs::symlink_status(path, error));
  });
}

std::string VehicleLog::path_of(size_t vehicle, const std::string& what) const {
  const std::string& name = simulation_.model().vehicles[vehicle].name;
  return join_path(folder_, prefix_ + "mvsim_" + file_part(name) + "_" + what + ".csv");
}

void VehicleLog::open(size_t vehicle) {
  const VehicleModel& v = simulation_.model().vehicles[vehicle];
  std::vector<Table> tables;
  tables.push_back(make_table(path_of(vehicle, "pose"), {std::begin(kPoseColumns), std::end(kPoseColumns)}));
  for (size_t k = 0; k < v.wheels.size(); ++k) {
    std::vector<std::string> names(std::begin(kWheelColumns), std::end(kWheelColumns));
    for (const std::string_view name : v.tire->log_names()) names.emplace_back(name);
    if (k == 0)
      for (const std::string_view name : v.controller->log_names()) names.emplace_back(name);
    tables.push_back(make_table(path_of(vehicle, "wheel_" + std::to_string(k + 1)), names));
  }
  tables_[vehicle] = std::move(tables);
}

// Columns are sorted by name, after the first one, the time.
VehicleLog::Table VehicleLog::make_table(const std::string& path,
                                         const std::vector<std::string>& names) const {
  Table table;
  table.order.resize(names.size());
  std::iota(table.order.begin(), table.order.end(), size_t{0});
  std::sort(table.order.begin() + 1, table.order.end(),
            [&](size_t a, size_t b) { return names[a] < names[b]; });
  std::vector<std::string> header;
  for (const size_t i : table.order) header.push_back(names[i]);
  table.file = std::make_unique<CsvFile>(path, header);
  return table;
}

void VehicleLog::write_row(Table& table) {
  row_.clear();
  for (const size_t i : table.order) row_.push_back(values_[i]);
  table.file->row(row_);
}

void VehicleLog::write_pose(size_t vehicle, double start) {
  const Pose3 p = vehicle_pose(simulation_, vehicle);
  const Twist2 twist = vehicle_twist(simulation_, vehicle);
  const Pose2& odometry = simulation_.state().vehicles[vehicle].odometry;
  values_ = {start,    p.x,      p.y,         p.z,        p.yaw,      p.pitch,     p.roll,
             twist.vx, twist.vy, twist.omega, odometry.x, odometry.y, odometry.yaw};
  write_row(tables_[vehicle][0]);
}

// What the tire was given at the start of the step and what it made of that.
void VehicleLog::write_wheel(size_t vehicle, size_t wheel, const StepDetails& details, double start) {
  const VehicleModel& v = simulation_.model().vehicles[vehicle];
  const WheelState& state = wheel_states(simulation_, vehicle)[wheel];
  const TireStep& tire = details.tires[v.first_wheel + wheel];
  const Vec2 velocity = Rotation2(state.steer).rotate(tire.in.velocity);
  const Vec2 at = v.wheels[wheel].position;
  values_ = {start,         state.torque,  state.load, velocity.x, velocity.y,
             state.force_x, state.force_y, at.x,       at.y};
  const size_t shared = values_.size();
  values_.resize(shared + v.tire->log_names().size());
  v.tire->log_values(simulation_.state().params.data() + v.tire_params, tire.in, tire.out,
                     values_.data() + shared);
  if (wheel == 0)
    values_.insert(values_.end(), details.controllers[vehicle].begin(), details.controllers[vehicle].end());
  write_row(tables_[vehicle][1 + wheel]);
}

}  // namespace mvsim
