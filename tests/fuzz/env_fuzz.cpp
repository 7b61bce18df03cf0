// Environment files, after a line "%%%" with keywords a line each, "reward/goal/weight=3" or "reward/goal"
// for one that is left out: an environment that resets and steps, or an error with a place.
#include <charconv>
#include <cmath>

#include "batch/batch.h"
#include "fuzz.h"
#include "source_dir.h"

namespace {

std::vector<mvsim::Override> overrides_of(const std::string& lines) {
  std::vector<mvsim::Override> out;
  for (size_t at = 0; at < lines.size() && out.size() < 100;) {
    const size_t end = std::min(lines.find('\n', at), lines.size());
    std::string line = lines.substr(at, end - at);
    at = end + 1;
    mvsim::Override change;
    if (const size_t equals = line.find('='); equals != std::string::npos) {
      const std::string text = line.substr(equals + 1);
      double number = 0;
      const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error == std::errc() && rest == text.data() + text.size())
        change.value = number;
      else
        change.value = text;
      line.resize(equals);
    }
    for (size_t begin = 0; begin <= line.size();) {
      const size_t slash = std::min(line.find('/', begin), line.size());
      change.path.push_back(line.substr(begin, slash - begin));
      begin = slash + 1;
    }
    out.push_back(std::move(change));
  }
  return out;
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mvsim;
  const std::vector<std::string> parts = fuzz::parts_of(fuzz::text_of(data, size));
  BatchOptions options;
  options.num_threads = 1;
  options.load.assets = source_dir();
  options.load.memory_limit = fuzz::kMemory;
  options.load.poll = fuzz::stop_after(50000);
  try {
    EnvSpec spec = load_env_text(parts[0], source_dir() + "/envs/fuzz.env.xml", options.load);
    if (parts.size() > 1) apply_overrides(spec, overrides_of(parts[1]));
    if (spec.variants > 2) return 0;
    Batch batch(spec, options);
    const auto has_done_enough = [asked = 0]() mutable { return ++asked > 20; };  // in a second
    batch.reset({}, has_done_enough);
    const std::vector<float> action(batch.action_size(), 0.5F);
    for (int i = 0; i < 2; ++i) batch.step(action, has_done_enough);
    fuzz::require(std::isfinite(batch.rewards()[0]));
  } catch (const Error&) {
  } catch (const fuzz::Stop&) {
  }
  return 0;
}
