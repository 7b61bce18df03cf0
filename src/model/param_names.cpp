#include "model/param_names.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace mvsim {
namespace {

std::string short_text(double v) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", v);
  return buffer;
}

double unit_of(const ParamInfo& info) {
  return info.type == ParamType::kDegrees ? kDegree : 1.0;
}

// "there are vehicle:r1/friction/mu, ...": those that agree with the pattern up to its last "/", else to the
// one before it, and so on.
std::string parameters_near(std::string pattern, const Model& model) {
  constexpr size_t kMost = 12;
  std::vector<size_t> found;
  while (found.empty() && !pattern.empty()) {
    const size_t cut = pattern.find_last_of("/:");
    pattern.erase(cut == std::string::npos ? 0 : cut);
    found = model.find_params(pattern + "*");
  }
  std::string out = "there are ";
  for (size_t i = 0; i < found.size() && i < kMost; ++i)
    out += (i == 0 ? "" : ", ") + model.params[found[i]].path;
  return out + (found.size() > kMost ? " and " + std::to_string(found.size() - kMost) + " more" : "");
}

// Static geometry is compiled at its size.
void check_scale(const Model& model, size_t index) {
  for (const BlockModel& block : model.blocks)
    if (index == block.params + kBlockScale && block.traits.is_static && !block.placed &&
        !block.traits.intangible)
      throw Error("block '" + block.name +
                  "' is part of the model's static geometry: only blocks that an environment declares as "
                  "placed can be resized");
}

}  // namespace

std::string unknown_parameter(const Model& model, const std::string& pattern) {
  std::vector<std::string> known;
  for (const ParamEntry& entry : model.params) known.push_back(entry.path);
  const std::string meant = did_you_mean(pattern, known);
  return "found '" + pattern + "', which is no parameter of the simulation" + meant +
         (meant.empty() ? "; " : " ") + parameters_near(pattern, model) + " (mvsim-gym parameters lists all)";
}

std::vector<size_t> settable_params(const Model& model, const std::string& pattern) {
  std::vector<size_t> found = model.find_params(pattern);
  if (found.empty()) throw Error("parameter: " + unknown_parameter(model, pattern));
  for (const size_t index : found) check_scale(model, index);
  return found;
}

double stored_value(const ParamEntry& entry, double given) {
  const ParamInfo& info = entry.info;
  const double value = given * unit_of(info);
  const bool whole =
      info.type == ParamType::kNumber || info.type == ParamType::kDegrees || given == std::floor(given);
  const bool is_bool = info.type == ParamType::kBool;
  if (std::isfinite(value) && whole && (is_bool ? value == 0 || value == 1 : in_range(info, value)))
    return value;
  throw Error("parameter " + entry.path + ": found " + short_text(given) + ", expected " +
              (is_bool ? "0 or 1"
                       : (whole || !std::isfinite(value) ? "a value " : "an integer ") + range_text(info)));
}

double given_value(const ParamEntry& entry, double stored) {
  return stored / unit_of(entry.info);
}

double choice_value(const Model& model, const std::string& pattern, const std::string& name) {
  const std::vector<size_t> found = settable_params(model, pattern);
  const ParamEntry& entry = model.params[found[0]];
  const auto choices = entry.info.choices;
  if (choices.empty())
    throw Error("parameter " + entry.path + ": found '" + shortened(name) + "', expected a number");
  const auto it = std::find(choices.begin(), choices.end(), name);
  if (it != choices.end()) return static_cast<double>(it - choices.begin());
  throw Error("parameter " + entry.path + ": found '" + shortened(name) + "', expected one of its choices" +
              did_you_mean(name, {choices.begin(), choices.end()}));
}

}  // namespace mvsim
