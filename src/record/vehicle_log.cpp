#include "record/vehicle_log.h"

#include <unistd.h>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "sim/simulation.h"

namespace mvsim {
namespace {

constexpr size_t kMaxPending = size_t{1} << 16;  // bytes
constexpr int kDigits = 6;

const char* const kPoseColumns[] = {"Timestamp", "q0x", "q1y", "q2z",   "q3yaw", "q4pitch", "q5roll",
                                    "dqx",       "dqy", "dqw", "odo_x", "odo_y", "odo_yaw"};
const char* const kWheelColumns[] = {"Timestamp",  "torque",     "force_z",     "velocity_x", "velocity_y",
                                     "friction_x", "friction_y", "wheel_pos_x", "wheel_pos_y"};

namespace fs = std::filesystem;

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

CsvFile::CsvFile(std::string path, std::span<const std::string> header)
    : path_(std::move(path)), file_(std::fopen(path_.c_str(), "wxe")), owner_(getpid()) {
  if (!file_) throw Error("cannot make the log file '" + path_ + "': " + std::strerror(errno));
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // rows are gathered here
  for (size_t i = 0; i < header.size(); ++i) {
    if (i > 0) pending_ += ", ";
    pending_ += header[i];
  }
  pending_ += '\n';
}

CsvFile::~CsvFile() {
  if (file_ && getpid() == owner_) std::fwrite(pending_.data(), 1, pending_.size(), file_.get());
}

void CsvFile::row(std::span<const double> values) {
  char cell[32];
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) pending_ += ", ";
    const auto end =
        std::to_chars(cell, cell + sizeof cell, values[i], std::chars_format::general, kDigits).ptr;
    pending_.append(cell, end);
  }
  pending_ += '\n';
  if (pending_.size() > kMaxPending) flush();
}

void CsvFile::flush() {
  if (getpid() != owner_) {
    pending_.clear();
    return;
  }
  const size_t written = std::fwrite(pending_.data(), 1, pending_.size(), file_.get());
  const int reason = errno;
  const bool whole = written == pending_.size();
  pending_.erase(0, written);
  if (!whole) throw Error("cannot write the log file '" + path_ + "': " + std::strerror(reason));
}

LogColumns log_columns(const VehicleModel& vehicle) {
  LogColumns out{{std::begin(kPoseColumns), std::end(kPoseColumns)}};
  for (size_t k = 0; k < vehicle.wheels.size(); ++k) {
    std::vector<std::string> names(std::begin(kWheelColumns), std::end(kWheelColumns));
    for (const std::string_view name : vehicle.tire->log_names()) names.emplace_back(name);
    if (k == 0)
      for (const std::string_view name : vehicle.controller->log_names()) names.emplace_back(name);
    out.push_back(std::move(names));
  }
  return out;
}

void pose_values(const Simulation& simulation, size_t vehicle, double start, std::vector<double>& values) {
  const Pose3 p = vehicle_pose(simulation, vehicle);
  const Twist2 twist = vehicle_twist(simulation, vehicle);
  const Pose2& odometry = simulation.state().vehicles[vehicle].odometry;
  values = {start,    p.x,      p.y,         p.z,        p.yaw,      p.pitch,     p.roll,
            twist.vx, twist.vy, twist.omega, odometry.x, odometry.y, odometry.yaw};
}

// Appends the tire's input at the start of the step and its output.
void wheel_values(const Simulation& simulation, size_t vehicle, size_t wheel, const StepDetails& details,
                  double start, std::vector<double>& values) {
  const VehicleModel& v = simulation.model().vehicles[vehicle];
  const WheelState& state = wheel_states(simulation, vehicle)[wheel];
  const TireStep& tire = details.tires[v.first_wheel + wheel];
  const Vec2 velocity = Rotation2(state.steer).rotate(tire.in.velocity);
  const Vec2 at = v.wheels[wheel].position;
  values = {start,         state.torque,  state.load, velocity.x, velocity.y,
            state.force_x, state.force_y, at.x,       at.y};
  const size_t shared = values.size();
  values.resize(shared + v.tire->log_names().size());
  v.tire->log_values(simulation.state().params.data() + v.tire_params, tire.in, tire.out,
                     values.data() + shared);
  if (wheel == 0)
    values.insert(values.end(), details.controllers[vehicle].begin(), details.controllers[vehicle].end());
}

StepLog::StepLog(Simulation& simulation) : simulation_(simulation) {
  rows_.resize(simulation.model().vehicles.size());
  simulation_.add_observer(*this);
}

StepLog::~StepLog() {
  simulation_.remove_observer(*this);
}

LogColumns StepLog::columns(size_t vehicle) const {
  return log_columns(simulation_.model().vehicles.at(vehicle));
}

void StepLog::after_step(const Simulation& simulation, const StepDetails& details, double start) {
  for (size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].resize(1 + simulation.model().vehicles[i].wheels.size());
    pose_values(simulation, i, start, rows_[i][0]);
    for (size_t k = 1; k < rows_[i].size(); ++k)
      wheel_values(simulation, i, k - 1, details, start, rows_[i][k]);
  }
}

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
    pose_values(simulation_, i, start, values_);
    write_row(tables_[i][0]);
    for (size_t k = 1; k < tables_[i].size(); ++k) {
      wheel_values(simulation_, i, k - 1, details, start, values_);
      write_row(tables_[i][k]);
    }
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
  const LogColumns columns = log_columns(v);
  for (size_t k = 0; k < columns.size(); ++k)
    tables.push_back(
        make_table(path_of(vehicle, k == 0 ? "pose" : "wheel_" + std::to_string(k)), columns[k]));
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

}  // namespace mvsim
