// Where the time of one env step goes: each stage by its public function, on one thread, in nanoseconds.
//
// profile [ENV.xml]: all stages; default benchmarks/worlds/task_a.env.xml; data is looked for in the working
// folder.
//
// profile --substep ENV.xml: one substep that touches nothing, beyond its controllers and tires.
//
// profile --hand-over: what a call of the worker pool costs. These two print a JSON row {name, value, unit} a
// line.
//
// profile --steps ENV.xml COUNT: as many steps of a batch on one thread and nothing else, for simulators of
// caches.
//
// Stages that only exist inside another one are differences, so rows marked "-" are good to some ten
// nanoseconds. The envs take turns, as in a batch, so caches are as cold as there. Processor time, the median
// of repetitions.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "batch/batch.h"
#include "batch/worker_pool.h"
#include "episode/episode.h"
#include "episode/observe.h"
#include "sim/move.h"
#include "sim/solver_bodies.h"
#include "timing.h"
#include "vehicle/dynamics.h"

namespace {

using namespace mvsim;

constexpr int kEnvs = 64, kRepetitions = 41;

// Nanoseconds of one unit of `work`, which does `units` of them.
template <typename Work>
double median_ns(int units, Work work) {
  return benchmark::median_seconds(kRepetitions, work) / units * 1e9;
}

void print(const char* stage, double ns) {
  std::printf("%-58s %10.1f\n", stage, std::max(ns, 0.0));
}

// 64 envs of a task, with random actions that change at every period.
class Envs {
 public:
  explicit Envs(const Task& task) : task_(task), random_(1, 0, StreamPurpose::kActionNoise) {
    for (size_t i = 0; i < kEnvs; ++i) {
      envs_.push_back(make_env(task, i));
      start_episode(task, envs_.back());
    }
  }

  EnvState& operator[](size_t i) { return envs_[i]; }

  // Nanoseconds of work(env), each after it has got an action.
  template <typename Work>
  double ns(int repeats, Work work) {
    return median_ns(kEnvs * repeats, [&] {
      for (int r = 0; r < repeats; ++r)
        for (EnvState& env : envs_) {
          for (double& a : env.agents[0].action) a = random_.uniform(-1, 1);
          work(env);
        }
    });
  }

  // step_period, and a new episode where one has ended.
  double period_ns() {
    const std::function<bool()> keep_going = [] { return true; };
    return ns(4, [&](EnvState& env) {
      double reward = 0;
      step_period(task_, env, keep_going, {&reward, 1});
      if (env.finished) start_episode(task_, env);
    });
  }

  // Returns the time of a substep of envs without contacts, unless Box2D always steps them.
  double substep_ns() {
    std::vector<double> times;
    for (int r = 0; r < kRepetitions; ++r) {
      for (EnvState& env : envs_) drive_freely(env);
      for (EnvState& env : envs_) {
        const double start = benchmark::seconds(CLOCK_MONOTONIC);
        for (int k = 0; k < task_.substeps; ++k) env.simulation.step(task_.substep);
        const double time = benchmark::seconds(CLOCK_MONOTONIC) - start;
        const SimState& state = env.simulation.state();
        if (!state.in_contact || state.always_solver) times.push_back(time);
      }
    }
    return times.empty() ? 0 : benchmark::quantile(times, 0.5) / task_.substeps * 1e9;
  }

  // A period, and more of them and episodes until the env touches nothing.
  void drive_freely(EnvState& env) {
    constexpr int kMaxTries = 100;
    const SimState& state = env.simulation.state();
    for (int i = 0; i < kMaxTries && (i == 0 || env.finished || (state.in_contact && !state.always_solver));
         ++i) {
      if (i > 0 || env.finished) start_episode(task_, env);
      for (double& a : env.agents[0].action) a = random_.uniform(-1, 1);
      double reward = 0;
      step_period(task_, env, [] { return true; }, {&reward, 1});
    }
  }

 private:
  const Task& task_;
  std::vector<EnvState> envs_;
  RandomStream random_;
};

// Inputs of the controllers and the tires in a substep, as SimState holds them.
struct StepInputs {
  std::vector<WheelState> wheels;
  std::vector<double> memory;
  std::vector<VehicleState> vehicles;
  std::vector<TireStep> tires;
};

// A period of each env that touches nothing: what a tire costs depends on how it slips and on what it stands,
// so its share of a substep is that of the very same inputs.
class RecordedSteps final : public StepObserver {
 public:
  RecordedSteps(const Task& task, Envs& envs) : task_(task) {
    for (size_t i = 0; i < kEnvs; ++i) {
      envs.drive_freely(envs[i]);
      Simulation& sim = envs[i].simulation;
      sim.add_observer(*this);
      std::vector<StepInputs>& steps = steps_.emplace_back();
      params_.push_back(sim.state().params);
      for (int k = 0; k < task.substeps; ++k) {
        const SimState& s = sim.state();
        steps.push_back({s.wheels, s.memory, s.vehicles, {}});
        sim.step(task.substep);
      }
      sim.remove_observer(*this);
    }
  }

  void after_step(const Simulation&, const StepDetails& details, double) override {
    steps_.back().back().tires = details.tires;
  }

  // Nanoseconds of a substep's work(vehicle, params, inputs): the median over the envs, as substep_ns().
  template <typename Work>
  double ns(const Model& m, Work work) const {
    std::vector<double> times;
    std::vector<StepInputs> inputs;
    for (int r = 0; r < kRepetitions; ++r)
      for (size_t i = 0; i < kEnvs; ++i) {
        inputs = steps_[i];
        const double start = benchmark::seconds(CLOCK_MONOTONIC);
        for (StepInputs& step : inputs)
          for (size_t v = 0; v < m.vehicles.size(); ++v) work(v, params_[i].data(), step);
        times.push_back(benchmark::seconds(CLOCK_MONOTONIC) - start);
      }
    return benchmark::quantile(times, 0.5) / task_.substeps * 1e9;
  }

 private:
  const Task& task_;
  std::vector<std::vector<StepInputs>> steps_;  // by env and substep
  std::vector<std::vector<double>> params_;     // by env
};

// The seams of the driving part, called as the Simulation calls them.
struct Driving {
  double control = 0, tires = 0, free_motion = 0;
};

Driving driving_ns(const Task& task, Envs& envs) {
  const Model& m = *task.models.front();
  Driving total;
  RecordedSteps steps(task, envs);
  std::vector<SteerMemo> memos(m.vehicles.size());
  total.control = steps.ns(m, [&](size_t i, const double* params, StepInputs& inputs) {
    const VehicleModel& v = m.vehicles[i];
    const std::span<WheelState> wheels{inputs.wheels.data() + v.first_wheel, v.wheels.size()};
    const ControllerInput input{.dt = task.substep,
                                .wheels = v.wheels,
                                .states = wheels,
                                .odometry = odometry_twist(v.wheels, wheels),
                                .dynamics_params = params + v.dynamics_params};
    double actuation[kMaxActuation] = {};
    v.controller->step(params + v.controller_params, input, inputs.vehicles[i].command,
                       inputs.memory.data() + v.controller_state, actuation);
    v.dynamics->drive(params + v.dynamics_params, actuation, v.wheels, wheels, memos[i]);
  });
  volatile double kept = 0;  // keeps the compiler from removing the work
  total.tires = steps.ns(m, [&](size_t i, const double* params, const StepInputs& inputs) {
    const VehicleModel& v = m.vehicles[i];
    for (size_t w = 0; w < v.wheels.size(); ++w) {
      const TireOutput out = v.tire->step(params + v.tire_params, inputs.tires[v.first_wheel + w].in);
      kept = out.spin + out.force.x + out.force.y;
    }
  });
  for (size_t i = 0; i < m.vehicles.size(); ++i) {
    const BodyInertia inertia = vehicle_inertia(m.vehicles[i], envs[0].simulation.state().params);
    BodyState body = place_body({0, 0, 0});
    RotationMemo yaw;
    constexpr int kMany = 1000;
    total.free_motion += median_ns(kMany, [&] {
      for (int k = 0; k < kMany; ++k) integrate_free(body, inertia, {0.01f, 0, 0.001f}, task.substep, yaw);
    });
  }
  return total;
}

void set_noise(Simulation& sim, double share) {
  for (const SensorModel& sensor : sim.model().sensors)
    for (size_t k = 0; k < sensor.sensor->params().size(); ++k) {
      const ParamEntry& entry = sim.model().params[sensor.params + k];
      sim.set_param(sensor.params + k, share * (entry.nominal > 0 ? entry.nominal : entry.info.fallback));
    }
}

double read_ns(Envs& envs, double noise_share) {
  std::vector<float> values;
  for (size_t i = 0; i < kEnvs; ++i) set_noise(envs[i].simulation, noise_share);
  return envs.ns(1, [&](EnvState& env) {
    for (size_t s = 0; s < env.simulation.model().sensors.size(); ++s) {
      values.resize(env.simulation.model().sensors[s].sensor->reading().size());
      env.simulation.read_now(s, values.data(), nullptr);
    }
  });
}

double observation_ns(const Task& task, Envs& envs) {
  Scratch scratch;
  std::vector<std::vector<std::byte>> out;
  for (const ObservationSpec& spec : task.observation_specs) out.emplace_back(spec.bytes());
  return envs.ns(1, [&](EnvState& env) {
    for (size_t k = 0; k < out.size(); ++k)
      write_observation(task.agents[0].observations[k], {&env, &env.agents[0], false, out[k].data()},
                        scratch);
  });
}

void step_randomly(Batch& batch, RandomStream& random, int count) {
  std::vector<float> actions(kEnvs * batch.action_size());
  for (int i = 0; i < count; ++i) {
    for (float& a : actions) a = static_cast<float>(random.uniform(-1, 1));
    batch.step(actions);
  }
}

double batch_ns(const EnvSpec& spec, const EnvLoadOptions& load) {
  Batch batch(spec, {.num_envs = kEnvs, .num_threads = 1, .load = load});
  batch.reset();
  RandomStream random(1, 0, StreamPurpose::kActionNoise);
  return median_ns(kEnvs * 4, [&] { step_randomly(batch, random, 4); });
}

EnvLoadOptions from_here() {
  EnvLoadOptions load;
  load.assets = ".";
  return load;
}

auto task_of_one_agent(const EnvSpec& spec) {
  auto task = compile_task(spec, from_here());
  if (task->agents.size() != 1)
    throw Error(spec.id + ": found " + std::to_string(task->agents.size()) + " agents, expected one");
  return task;
}

void print_profile(const std::string& path) {
  const EnvSpec spec = load_env(path, from_here());
  const auto task = task_of_one_agent(spec);
  Envs envs(*task);

  const double whole = batch_ns(spec, from_here());
  const double period = envs.period_ns(), substep = envs.substep_ns();
  const Driving driving = driving_ns(*task, envs);
  const double driving_sum = driving.control + driving.tires + driving.free_motion;
  const double observation = observation_ns(*task, envs);
  const double exact = read_ns(envs, 0), noisy = read_ns(envs, 1);
  for (size_t i = 0; i < kEnvs; ++i) envs[i].simulation.set_always_solver(true);
  const double solver = envs.substep_ns();

  std::printf("%-58s %10s\n", "stage", "ns");
  print("env step (Batch::step of 64 envs, one thread)", whole);
  print("  control period without observation", period);
  std::printf("    one of %d substeps\n", task->substeps);
  print("      whole", substep);
  print("      controllers", driving.control);
  print("      tires", driving.tires);
  print("      free motion", driving.free_motion);
  print("      - ground, odometry, distances, sensors not due", substep - driving_sum);
  print("      (in place of free motion: Box2D, nothing near)", solver - substep + driving.free_motion);
  print("    - measurements, rewards, terminations, stepping", period - substep * task->substeps);
  print("  observation", observation);
  print("    sensors without noise", exact);
  print("    - noise, at its default where the world says none", noisy - exact);
  print("  - rest of the batch: actions, results, infos", whole - period - observation);
}

// Prints the time of a substep without contacts, beyond its controllers and tires.
void print_substep(const std::string& path) {
  const auto task = task_of_one_agent(load_env(path, from_here()));
  Envs envs(*task);
  const double whole = envs.substep_ns();
  const Driving driving = driving_ns(*task, envs);
  benchmark::print_row("substep", whole - driving.control - driving.tires, "ns");
}

void run_steps(const std::string& path, int count) {
  const EnvLoadOptions load = from_here();
  Batch batch(load_env(path, load), {.num_envs = kEnvs, .num_threads = 1, .load = load});
  batch.reset();
  RandomStream random(1, 0, StreamPurpose::kActionNoise);
  step_randomly(batch, random, count);
}

// Wall time of a call of the worker pool whose 64 envs have nothing to do, in microseconds: the median of
// many and the worst of a hundred. `pause`: seconds between calls; long ones let the workers fall asleep.
void print_hand_over(const std::string& name, int threads, double pause) {
  constexpr clockid_t kClock = CLOCK_MONOTONIC;
  WorkerPool pool(threads);
  std::vector<double> times;
  for (int i = 0; i < 2000; ++i) {
    double start = benchmark::seconds(kClock);
    while (benchmark::seconds(kClock) < start + pause) {
    }
    start = benchmark::seconds(kClock);
    pool.run(
        kEnvs, [](int, int, int) {}, [] {});
    times.push_back(1e6 * (benchmark::seconds(kClock) - start));
  }
  benchmark::print_row(name, benchmark::quantile(times, 0.5), "us");
  benchmark::print_row(name + "_p99", benchmark::quantile(times, 0.99), "us");
}

// Alone, and beside a thread that never rests.
void print_hand_overs() {
  print_hand_over("handover_us_1_thread", 1, 0);
  print_hand_over("handover_us_idle", 2, 0);
  std::atomic<bool> stop{false};
  std::thread neighbour([&] {
    while (!stop) {
    }
  });
  print_hand_over("handover_us", 2, 0);
  print_hand_over("handover_us_asleep", 2, 300e-6);
  stop = true;
  neighbour.join();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string argument = argc > 1 ? argv[1] : "benchmarks/worlds/task_a.env.xml";
  try {
    if (argument == "--hand-over")
      print_hand_overs();
    else if (argument == "--substep" && argc > 2)
      print_substep(argv[2]);
    else if (argument == "--steps" && argc > 3)
      run_steps(argv[2], std::atoi(argv[3]));
    else
      print_profile(argument);
    return EXIT_SUCCESS;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return EXIT_FAILURE;
  }
}
