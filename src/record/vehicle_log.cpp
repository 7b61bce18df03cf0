#include "record/vehicle_log.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "base/file.h"
#include "record/log_columns.h"
#include "sim/simulation.h"

namespace mvsim {
namespace {

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
