// CSV logs: files and columns of the world language, values against the simulation's own.
#include "record/vehicle_log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "sim/worlds.h"

namespace mvsim::test::vehicle_log_test {
namespace {

namespace fs = std::filesystem;

std::string fresh_folder(const std::string& name) {
  const std::string folder = ::testing::TempDir() + "/mvsim_log_" + name;
  fs::remove_all(folder);
  return folder;
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(folder)) out.push_back(entry.path().filename());
  std::sort(out.begin(), out.end());
  return out;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream out;
  out << file.rdbuf();
  return out.str();
}

std::string header_of(const std::string& path) {
  const std::string text = text_of(path);
  return text.substr(0, text.find('\n'));
}

std::vector<std::map<std::string, double>> rows_of(const std::string& path) {
  std::stringstream in(text_of(path));
  std::string line;
  const auto cells = [](const std::string& row) {
    std::vector<std::string> out;
    size_t at = 0;
    for (size_t end = row.find(", "); end != std::string::npos; end = row.find(", ", at)) {
      out.push_back(row.substr(at, end - at));
      at = end + 2;
    }
    out.push_back(row.substr(at));
    return out;
  };
  std::getline(in, line);
  const auto names = cells(line);
  std::vector<std::map<std::string, double>> out;
  while (std::getline(in, line)) {
    const auto values = cells(line);
    EXPECT_EQ(values.size(), names.size());
    std::map<std::string, double>& row = out.emplace_back();
    for (size_t i = 0; i < names.size(); ++i) row[names[i]] = std::stod(values.at(i));
  }
  return out;
}

std::shared_ptr<const Model> driving(const std::string& more = "") {
  return model_of("<simul_timestep>0.01</simul_timestep>" + bot("r1", kPid, kOrigin + more));
}

TEST(VehicleLog, FilesAndColumnsOfTheLanguage) {
  const std::string folder = fresh_folder("columns") + "/deep/er";
  Simulation sim(driving(), 0);
  VehicleLog log(sim, folder);
  EXPECT_TRUE(fs::is_empty(folder));  // until there is a row
  sim.step();
  log.flush();
  EXPECT_EQ(files_in(folder),
            (std::vector<std::string>{"mvsim_r1_pose.csv", "mvsim_r1_wheel_1.csv", "mvsim_r1_wheel_2.csv"}));
  EXPECT_EQ(header_of(folder + "/mvsim_r1_pose.csv"),
            "Timestamp, dqw, dqx, dqy, odo_x, odo_y, odo_yaw, q0x, q1y, q2z, q3yaw, q4pitch, q5roll");
  EXPECT_EQ(header_of(folder + "/mvsim_r1_wheel_2.csv"),
            "Timestamp, F_friction_lon, actual_wheel_alpha, desired_wheel_alpha, desired_wheel_w_impulse, "
            "force_z, friction_x, friction_y, motor_torque, torque, velocity_x, velocity_y, "
            "wheel_lateral_friction, wheel_long_friction, wheel_pos_x, wheel_pos_y");
  EXPECT_EQ(text_of(folder + "/mvsim_r1_pose.csv").find('\n', 120),
            text_of(folder + "/mvsim_r1_pose.csv").size() - 1);
}

TEST(VehicleLog, RowsAreTheStateAfterTheirStep) {
  const std::string folder = fresh_folder("values");
  Simulation sim(driving(), 0);
  VehicleLog log(sim, folder);
  sim.set_twist(0, 0.4, 0.3);
  std::vector<Pose3> poses;
  std::vector<Twist2> twists{{}};
  std::vector<WheelState> left;
  for (int i = 0; i < 50; ++i) {
    sim.step();
    poses.push_back(vehicle_pose(sim, 0));
    twists.push_back(vehicle_twist(sim, 0));
    left.push_back(wheel_states(sim, 0)[0]);
  }
  log.flush();
  const auto pose = rows_of(folder + "/mvsim_r1_pose.csv");
  const auto wheel = rows_of(folder + "/mvsim_r1_wheel_1.csv");
  ASSERT_EQ(pose.size(), 50u);
  ASSERT_EQ(wheel.size(), 50u);
  const auto near = [](double logged, double value) {
    EXPECT_NEAR(logged, value, 5.01e-6 * std::fabs(value) + 1e-12);  // six digits
  };
  for (size_t i = 0; i < 50; ++i) {
    near(pose[i].at("Timestamp"), 0.01 * static_cast<double>(i));
    near(pose[i].at("q0x"), poses[i].x);
    near(pose[i].at("q3yaw"), poses[i].yaw);
    near(pose[i].at("dqx"), twists[i + 1].vx);
    near(pose[i].at("dqw"), twists[i + 1].omega);
    near(wheel[i].at("torque"), left[i].torque);
    near(wheel[i].at("motor_torque"), left[i].torque);
    near(wheel[i].at("friction_x"), left[i].force_x);
    near(wheel[i].at("friction_y"), left[i].force_y);
    near(wheel[i].at("force_z"), 7.5 * 9.81);
    near(wheel[i].at("wheel_pos_y"), 0.3);
    // what the tire saw: the speeds at the start of the step
    near(wheel[i].at("velocity_x"), twists[i].vx - 0.3 * twists[i].omega);
  }
  EXPECT_GT(wheel[0].at("torque"), 0);  // positive forward
  EXPECT_GT(pose.back().at("odo_x"), 0.05);
}

TEST(VehicleLog, ALogPathAloneWritesNothing) {
  const std::string folder = fresh_folder("path");
  fs::create_directories(folder);
  Simulation sim(driving("<log_path>" + folder + "/</log_path>"), 0);
  sim.set_twist(0, 0.4, 0);
  sim.run(0.5);
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST(VehicleLog, TorqueIsPositiveWhileDrivingForward) {
  for (const double torque : {1.5, -1.5}) {
    const std::string folder = fresh_folder("torque");
    Simulation sim(model_of(bot("r1", "<controller class='raw'/>", kOrigin)), 0);
    VehicleLog log(sim, folder);
    const double command[] = {-torque, -torque};  // negative forward
    sim.set_command(0, command);
    sim.run(1);
    log.flush();
    EXPECT_GT(vehicle_pose(sim, 0).x * torque, 0.1);
    for (const char* wheel : {"1", "2"})
      for (const auto& row : rows_of(folder + "/mvsim_r1_wheel_" + wheel + ".csv"))
        EXPECT_EQ(row.at("torque"), torque);
  }
}

TEST(VehicleLog, TheFirstWheelTellsWhatThePidDid) {
  const std::string folder = fresh_folder("pid");
  Simulation sim(driving(), 0);
  VehicleLog log(sim, folder);
  sim.set_twist(0, 0.4, 0.5);
  sim.run(0.02);
  log.flush();
  const auto rows = rows_of(folder + "/mvsim_r1_wheel_1.csv");
  ASSERT_EQ(rows.size(), 2u);
  // hubs at 0.3 m, KP 20, KI 10: 20 e + 10 e dt, at most 20 N m, negative forward
  EXPECT_NEAR(rows[0].at("pid_sp_vel_l"), 0.25, 1e-9);
  EXPECT_NEAR(rows[0].at("pid_sp_vel_r"), 0.55, 1e-9);
  EXPECT_EQ(rows[0].at("pid_act_vel_l"), 0);
  EXPECT_NEAR(rows[0].at("pid_error_r"), 0.55, 1e-9);
  EXPECT_NEAR(rows[0].at("pid_torque_l"), -(20 + 0.1) * 0.25, 1e-4);
  EXPECT_EQ(rows[0].at("pid_feedforward"), 0);
  EXPECT_EQ(rows[0].at("torque"), -rows[0].at("pid_torque_l"));
  EXPECT_NEAR(rows[1].at("pid_error_l"), rows[1].at("pid_sp_vel_l") - rows[1].at("pid_act_vel_l"), 1e-6);
  EXPECT_EQ(header_of(folder + "/mvsim_r1_wheel_2.csv").find("pid_"), std::string::npos);
}

TEST(VehicleLog, SameRunSameBytes) {
  std::string texts[2];
  for (int k = 0; k < 2; ++k) {
    const std::string folder = fresh_folder("bytes");
    Simulation sim(driving(), 3);
    VehicleLog log(sim, folder);
    sim.set_twist(0, 0.4, -0.5);
    for (int i = 0; i < 200; ++i) {
      sim.step();
      if (k == 1) log.flush();  // how often makes no difference
    }
    log.flush();
    for (const std::string& file : files_in(folder)) texts[k] += text_of(folder + "/" + file);
  }
  EXPECT_GT(texts[0].size(), 20000u);
  EXPECT_EQ(texts[0], texts[1]);
}

TEST(VehicleLog, AResetBeginsASessionAndNothingIsOverwritten) {
  const std::string folder = fresh_folder("sessions");
  const auto model = driving();
  {
    Simulation sim(model, 0);
    VehicleLog log(sim, folder);
    sim.step();
    sim.reset(0, 0);  // the same seed again is a new session too
    sim.run(0.03);
    sim.reset(0, 1);  // no row, no file
    sim.reset(0, 2);
    sim = Simulation(model, 7);  // the log stays with its object
    sim.run(0.02);
  }
  EXPECT_EQ(rows_of(folder + "/mvsim_r1_pose.csv").size(), 1u);
  EXPECT_EQ(rows_of(folder + "/session_2-mvsim_r1_pose.csv").size(), 3u);
  EXPECT_EQ(rows_of(folder + "/session_3-mvsim_r1_wheel_1.csv").size(), 2u);
  const std::string before = text_of(folder + "/mvsim_r1_pose.csv");
  Simulation again(model, 0);
  VehicleLog log(again, folder);
  again.run(0.05);
  log.flush();
  EXPECT_EQ(rows_of(folder + "/session_4-mvsim_r1_pose.csv").size(), 5u);
  EXPECT_EQ(text_of(folder + "/mvsim_r1_pose.csv"), before);
  EXPECT_EQ(files_in(folder).size(), 12u);
}

TEST(VehicleLog, PausesAndLeavesOutWhomTheWorldLeavesOut) {
  const std::string folder = fresh_folder("pause");
  Simulation sim(
      model_of(bot("r1", kPid, kOrigin) + bot("r2", kPid,
                                              "<init_pose>5 0 0</init_pose>"
                                              "<auto_start_recording>false</auto_start_recording>")),
      0);
  VehicleLog log(sim, folder);
  EXPECT_TRUE(log.recording(0));
  EXPECT_FALSE(log.recording(1));
  sim.step();
  log.set_recording(0, false);
  sim.step();
  log.set_recording(1, true);
  sim.step();
  log.flush();
  EXPECT_EQ(rows_of(folder + "/mvsim_r1_pose.csv").size(), 1u);
  const auto second = rows_of(folder + "/mvsim_r2_pose.csv");
  ASSERT_EQ(second.size(), 1u);
  EXPECT_NEAR(second[0].at("Timestamp"), 0.01, 1e-9);
}

TEST(VehicleLog, LoggingChangesNothing) {
  const auto model = driving();
  Simulation plain(model, 0), logged(model, 0);
  VehicleLog log(logged, fresh_folder("same"));
  for (Simulation* s : {&plain, &logged}) {
    s->set_twist(0, 0.4, 0.3);
    s->run(1);
  }
  EXPECT_EQ(vehicle_pose(plain, 0).x, vehicle_pose(logged, 0).x);
  EXPECT_EQ(wheel_states(plain, 0)[1].spin, wheel_states(logged, 0)[1].spin);
}

TEST(VehicleLog, NamesOfVehiclesDoNotLeadOutOfTheFolder) {
  const std::string folder = fresh_folder("names") + "/logs";
  {
    Simulation sim(model_of(bot("../../evil name", kPid, kOrigin)), 0);
    VehicleLog log(sim, folder);
    sim.step();
  }
  EXPECT_EQ(files_in(folder).at(0), "mvsim_..%2F..%2Fevil%20name_pose.csv");
  EXPECT_EQ(files_in(fs::path(folder).parent_path()).size(), 1u);
}

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(VehicleLog, WhatCannotBeWrittenIsAnError) {
  const std::string folder = fresh_folder("errors");
  Simulation sim(driving(), 0);
  fs::create_directories(folder);
  std::ofstream(folder + "/file") << "x";
  EXPECT_NE(error_of([&] { VehicleLog log(sim, folder + "/file"); }).find("log_dir: cannot make the folder"),
            std::string::npos);
  EXPECT_NE(error_of([&] { VehicleLog log(sim, folder + "/file/deeper"); }).find("Not a directory"),
            std::string::npos);
  // a disk that is full
  if (fs::exists("/dev/full")) {
    const std::vector<std::string> header{"a"};
    fs::create_symlink("/dev/full", folder + "/full.csv");
    EXPECT_NE(error_of([&] { CsvFile file(folder + "/full.csv", header); }).find("File exists"),
              std::string::npos);
  }
  VehicleLog log(sim, folder + "/gone");
  fs::remove_all(folder + "/gone");
  EXPECT_NE(error_of([&] { sim.step(); }).find("gone/mvsim_r1_pose.csv': No such file"), std::string::npos);
}

}  // namespace
}  // namespace mvsim::test::vehicle_log_test
