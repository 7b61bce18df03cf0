// Controllers `raw`: hold the torques, and the steering angle of a car, that they are given. Torques have the
// sign of the world language: negative drives forward.
#include "base/registered.h"
#include "vehicle/car.h"
#include "vehicle/controller.h"

namespace mvsim {
namespace {

constexpr CommandInfo kSideCommand[] = {{"left_torque", "N m"}, {"right_torque", "N m"}};

constexpr ParamInfo kWheelParams[] = {{.name = "fl_torque", .unit = "N m"},
                                      {.name = "fr_torque", .unit = "N m"},
                                      {.name = "steer_ang_deg", .type = ParamType::kDegrees}};
constexpr CommandInfo kWheelCommand[] = {{"left_torque", "N m"}, {"right_torque", "N m"}, {"steer", "rad"}};

constexpr ParamInfo kEngineParams[] = {{.name = "torque", .unit = "N m"},
                                       {.name = "steer_ang_deg", .type = ParamType::kDegrees}};
constexpr CommandInfo kEngineCommand[] = {{"torque", "N m"}, {"steer", "rad"}};

}  // namespace

class DifferentialRaw final : public Controller {
 public:
  std::string_view name() const override { return "raw"; }
  std::span<const CommandInfo> command() const override { return kSideCommand; }
  void step(const double*, const ControllerInput&, const double* command, double*,
            double* actuation) const override {
    actuation[0] = -command[0];
    actuation[1] = -command[1];
  }
};

template const Controller& registered<Controller, DifferentialRaw>();

class DrivetrainRaw final : public Controller {
 public:
  std::string_view name() const override { return "raw"; }
  std::span<const ParamInfo> params() const override { return kEngineParams; }
  std::span<const CommandInfo> command() const override { return kEngineCommand; }
  void initial_command(const double* p, double* command) const override {
    command[0] = p[0];
    command[1] = p[1];
  }
  void step(const double*, const ControllerInput&, const double* command, double*,
            double* actuation) const override {
    actuation[kCarTorque] = -command[0];
    actuation[kCarSteer] = command[1];
    actuation[kCarBrake] = 0;
  }
};

template const Controller& registered<Controller, DrivetrainRaw>();

class AckermannRaw final : public Controller {
 public:
  std::string_view name() const override { return "raw"; }
  std::span<const ParamInfo> params() const override { return kWheelParams; }
  std::span<const CommandInfo> command() const override { return kWheelCommand; }
  void initial_command(const double* p, double* command) const override {
    for (int i = 0; i < 3; ++i) command[i] = p[i];
  }
  void step(const double*, const ControllerInput&, const double* command, double*,
            double* actuation) const override {
    actuation[kCarTorque] = -command[0];
    actuation[kCarTorqueRight] = -command[1];
    actuation[kCarSteer] = command[2];
    actuation[kCarBrake] = 0;
  }
};

template const Controller& registered<Controller, AckermannRaw>();

}  // namespace mvsim
