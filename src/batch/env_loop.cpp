#include "batch/env_loop.h"

#include "batch/batch_options.h"

namespace mvsim {
namespace {

constexpr int64_t kPollEvery = 20;  // ms
// Reading the clock costs about a hundredth of a step, so it is read once in kSubstepsPerLook substeps. The
// work of an env outside of its substeps is counted as kSubstepsOfEnv more.
constexpr int kSubstepsPerLook = 16, kSubstepsOfEnv = 4;

}  // namespace

void StopSignal::poll() {
  if (!should_stop_ || stopped()) return;
  const int64_t now = coarse_ms();
  if (now - last_ < kPollEvery) return;
  last_ = now;
  try {
    if (should_stop_()) stopped_ = true;
  } catch (...) {
    error_ = std::current_exception();
    stopped_ = true;
  }
}

void StopSignal::rethrow() const {
  if (error_) std::rethrow_exception(error_);
  if (stopped()) throw Interrupted("interrupted: some environments are inside a control period");
}

void FirstError::add(int env, std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (env_ >= 0 && env_ < env) return;
  env_ = env;
  error_ = std::move(error);
}

void FirstError::rethrow(const Explain& explain, const Poll& poll) const {
  if (env_ < 0) return;
  std::string text = "unknown error";
  try {
    std::rethrow_exception(error_);
  } catch (const WorldFileError& e) {
    text = explain(env_, e, poll).what();
  } catch (const std::exception& e) {
    text = e.what();
  } catch (...) {  // keeps the default text
  }
  throw Error("environment " + std::to_string(env_) + ": " + text);
}

void EnvLoop::run(const Work& work) {
  const WorkerPool::Work chunk = [&](int begin, int end, int worker) {
    const bool on_caller = worker == 0;
    Scratch& scratch = scratches_[static_cast<size_t>(worker)];
    int substeps = 0;
    const auto count = [&](int more) {
      if (!on_caller) return;
      substeps += more;
      if (substeps < kSubstepsPerLook) return;
      substeps = 0;
      stop_.poll();
    };
    const KeepGoing keep_going = [&] {
      count(1);
      return !stop_.stopped();
    };
    for (int i = begin; i < end && !stop_.stopped(); ++i) {
      try {
        work(i, keep_going, scratch);
      } catch (const Stopped&) {
        on_error_(i);
      } catch (...) {
        on_error_(i);
        error_.add(i, std::current_exception());
      }
      count(kSubstepsOfEnv);
    }
  };
  pool_.run(num_envs_, chunk, [&] { stop_.poll(); });
}

void EnvLoop::finish(const Explain& explain) {
  stop_.rethrow();
  error_.rethrow(explain, [this] {
    stop_.poll();
    stop_.rethrow();
  });
}

}  // namespace mvsim
