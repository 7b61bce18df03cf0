// CSV files of a running world: for every vehicle its pose and each of its wheels, a row a step.
//
// Files lie in the folder that the caller names and nowhere else: mvsim_NAME_pose.csv,
// mvsim_NAME_wheel_1.csv... A session ends when its simulation is reset; the files of the second and later
// sessions, and of any whose names are taken, begin with session_2-, session_3-... Nothing is ever
// overwritten. One thread at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/csv_file.h"
#include "sim/step_observer.h"

namespace mvsim {

class VehicleLog final : public StepObserver {
 public:
  // Records from the next step on every vehicle but those whose <auto_start_recording> says false. Makes the
  // folder; throws Error if it cannot be written. The log ends before the simulation does.
  VehicleLog(Simulation& simulation, const std::string& folder);
  ~VehicleLog() override;
  VehicleLog(const VehicleLog&) = delete;
  VehicleLog& operator=(const VehicleLog&) = delete;

  bool recording(size_t vehicle) const { return recording_.at(vehicle); }
  void set_recording(size_t vehicle, bool on) { recording_.at(vehicle) = on; }

  // Writes all rows so far into the files. Throws Error.
  void flush();

  void after_step(const Simulation& simulation, const StepDetails& details, double start) override;

 private:
  struct Table {
    std::unique_ptr<CsvFile> file;
    std::vector<size_t> order;  // of the values, as the columns are sorted
  };
  // Identity of a session: a change of key, of episode, or a step back begins another one.
  struct Session {
    uint64_t key;
    uint32_t episode;
    uint64_t steps;  // at its latest row
  };

  void follow_session();
  void open(size_t vehicle);
  bool is_taken(const std::string& prefix) const;
  std::string path_of(size_t vehicle, const std::string& what) const;
  Table make_table(const std::string& path, const std::vector<std::string>& names) const;
  void write_row(Table& table);

  Simulation& simulation_;
  std::string folder_, prefix_;
  std::vector<bool> recording_;             // by vehicle
  std::vector<std::vector<Table>> tables_;  // by vehicle: pose, then wheels; empty before its first row
  std::optional<Session> session_;
  int next_session_ = 1;
  std::vector<double> values_, row_;  // scratch
};

}  // namespace mvsim
