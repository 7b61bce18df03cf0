// Logs of vehicles as CSV files: the file, its columns, and the observer that writes it.
#pragma once

#include <sys/types.h>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/model.h"
#include "sim/step_observer.h"

namespace mvsim {

// A CSV file that is written from start to end: a header, then rows of numbers with six significant digits,
// cells parted by ", " and lines by "\n", the same bytes on every machine. One thread at a time. The file
// belongs to the process that made it: a forked child writes nothing into it.

class CsvFile {
 public:
  // Throws Error if the file exists already or cannot be made.
  CsvFile(std::string path, std::span<const std::string> header);
  ~CsvFile();
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;

  void row(std::span<const double> values);
  // Hands all rows to the operating system; throws Error, e.g. when the disk is full.
  void flush();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  pid_t owner_;
  std::string pending_;
};

// Columns of a vehicle's log: their names, and the values of one step. CSV files and
// Python share them.

// Names of the columns of each table of a vehicle, time first. The tables are its pose, then each of its
// wheels.
using LogColumns = std::vector<std::vector<std::string>>;
LogColumns log_columns(const VehicleModel& vehicle);

// Compute the values of these columns after a step that began at `start`, s. Both replace the contents of
// `values`.
void pose_values(const Simulation& simulation, size_t vehicle, double start, std::vector<double>& values);
void wheel_values(const Simulation& simulation, size_t vehicle, size_t wheel, const StepDetails& details,
                  double start, std::vector<double>& values);

// Rows of the last step of all vehicles. Destroy it before the simulation; use it from one thread at a time.
class StepLog final : public StepObserver {
 public:
  explicit StepLog(Simulation& simulation);
  ~StepLog() override;
  StepLog(const StepLog&) = delete;
  StepLog& operator=(const StepLog&) = delete;

  LogColumns columns(size_t vehicle) const;
  // A table each, as `columns`; empty before the first step.
  const std::vector<std::vector<double>>& rows(size_t vehicle) const { return rows_.at(vehicle); }

  void after_step(const Simulation& simulation, const StepDetails& details, double start) override;

 private:
  Simulation& simulation_;
  std::vector<std::vector<std::vector<double>>> rows_;  // by vehicle and table
};

// CSV files of a running world: for every vehicle its pose and each of its wheels, a row a step.
//
// Files lie in the folder that the caller names and nowhere else: mvsim_NAME_pose.csv,
// mvsim_NAME_wheel_1.csv... A session ends when its simulation is reset; the files of the second and later
// sessions, and of any whose names are taken, begin with session_2-, session_3-... Nothing is ever
// overwritten. One thread at a time.

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
