#include "env/randomize.h"

#include <algorithm>
#include <cstdio>

namespace mvsim {
namespace {

// Names of what the pattern matches, if these are choices.
std::span<const std::string_view> choices_of(TermReader& reader, const Model& model) {
  const std::vector<size_t> found = model.find_params(reader.required_text("of"));
  if (found.empty()) return {};
  const std::span<const std::string_view> choices = model.params[found[0]].info.choices;
  for (const size_t index : found)
    if (model.params[index].info.choices.data() != choices.data())
      reader.fail("of", "matches parameters of different kinds, such as " + model.params[found[0]].path +
                            " and " + model.params[index].path);
  return choices;
}

Distribution read_distribution(TermReader& reader, const Model& model) {
  const bool has_scale = reader.has("scale"), has_value = reader.has("value");
  if (has_scale == has_value) reader.fail("of", "expected one of the attributes 'scale' and 'value'");
  const NamedText& text = *reader.term().params.find(has_scale ? "scale" : "value");
  const std::span<const std::string_view> choices = choices_of(reader, model);
  if (has_scale && !choices.empty()) reader.fail("scale", "a choice cannot be scaled, expected 'value'");
  return Distribution(text, choices);
}

std::string number_text(double v) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", v);
  return buffer;
}

// "There are vehicle:r1/friction/mu, ...": those that agree with the pattern up to its last "/", else to the
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

// A factor of 1e-9 inside of an open bound is as good as none.
double lowest(const ParamInfo& info) {
  return info.open_min ? info.min + 1e-9 * (1 + std::fabs(info.min)) : info.min;
}
double highest(const ParamInfo& info) {
  return info.open_max ? info.max - 1e-9 * (1 + std::fabs(info.max)) : info.max;
}

}  // namespace

Randomization::Randomization(TermReader& reader, const Model& model)
    : distribution_(read_distribution(reader, model)) {
  const std::string pattern = reader.required_text("of");
  const bool optional = reader.boolean("optional", false);
  const bool scaled = reader.has("scale");
  for (size_t index : model.find_params(pattern)) {
    const ParamEntry& entry = model.params[index];
    const double unit = entry.info.type == ParamType::kDegrees ? kDegree : 1.0;
    const double scale = scaled ? entry.nominal : unit;
    const double a = scale * distribution_.low(), b = scale * distribution_.high();
    const double low = std::min(a, b), high = std::max(a, b);
    const bool fits =
        (std::isinf(low) || low >= lowest(entry.info)) && (std::isinf(high) || high <= highest(entry.info));
    if (!fits)
      reader.fail(scaled ? "scale" : "value",
                  "draws of " + entry.path + " would reach from " + number_text(low / unit) + " to " +
                      number_text(high / unit) + ", expected values from " +
                      number_text(entry.info.min / unit) + " to " + number_text(entry.info.max / unit));
    targets_.push_back({index, scale});
  }
  if (!targets_.empty() || optional) return;
  std::vector<std::string> known;
  for (const ParamEntry& entry : model.params) known.push_back(entry.path);
  const std::string meant = did_you_mean(pattern, known);
  reader.fail("of", "found '" + pattern + "', which is no parameter of the simulation" + meant +
                        (meant.empty() ? "; " : " ") + parameters_near(pattern, model) +
                        " (mvsim-gym parameters lists all)");
}

void Randomization::apply(Simulation& simulation, RandomStream& random) const {
  for (const Target& t : targets_) {
    const ParamInfo& info = simulation.model().params[t.param].info;
    const double value = t.scale * distribution_.draw(random);
    simulation.set_param(t.param, std::clamp(value, lowest(info), highest(info)));
  }
}

std::string randomized_block(const std::string& pattern) {
  constexpr std::string_view kPrefix = "block:";
  if (!std::string_view(pattern).starts_with(kPrefix)) return "";
  return pattern.substr(kPrefix.size(), pattern.find('/') - kPrefix.size());
}

}  // namespace mvsim
