#include "task/randomize.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/math.h"
#include "base/text.h"
#include "model/transfer_params.h"

namespace mvsim {
namespace {

constexpr const char* kForms =
    "expected a number, uniform(low, high), normal(mean, deviation), loguniform(low, high) or choice(a, b, "
    "...)";

[[noreturn]] void fail(const NamedText& text, const std::string& why) {
  throw WorldFileError(text.where, "<" + text.name + ">: found '" + text.text.substr(0, 80) + "', " + why);
}

// Returns the choices of the parameters that the pattern matches, or nothing if they are numbers.
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

// Returns the lowest valid value. The margin of 1e-9 at an open bound has no visible effect.
double lowest(const ParamInfo& info) {
  return info.is_min_excluded ? info.min + 1e-9 * (1 + std::fabs(info.min)) : info.min;
}
double highest(const ParamInfo& info) {
  return info.is_max_excluded ? info.max - 1e-9 * (1 + std::fabs(info.max)) : info.max;
}

}  // namespace

Distribution::Distribution(const NamedText& text, std::span<const std::string_view> choices) {
  const std::string_view whole = trimmed(text.text);
  if (const auto number = choices.empty() ? scan_number(whole) : std::nullopt) {
    arguments_ = {*number};
    return;
  }
  const size_t open = whole.find('(');
  if (!choices.empty() && open == std::string_view::npos) {
    arguments_ = {static_cast<double>(parse_choice(text, choices))};
    return;
  }
  if (open == std::string_view::npos || whole.back() != ')') fail(text, kForms);
  const std::string_view name = trimmed(whole.substr(0, open));
  std::string_view rest = whole.substr(open + 1, whole.size() - open - 2);
  for (;;) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view argument = rest.substr(0, comma);
    if (choices.empty()) {
      const auto number = scan_number(argument);
      if (!number) fail(text, kForms);
      arguments_.push_back(*number);
    } else {
      const NamedText name{text.name, std::string(argument), text.where};
      arguments_.push_back(static_cast<double>(parse_choice(name, choices)));
    }
    if (comma == rest.size()) break;
    rest.remove_prefix(comma + 1);
  }
  for (const double argument : arguments_)
    if (!(std::fabs(argument) <= kMaxNumber)) fail(text, "expected numbers from -1e9 to 1e9");
  const std::vector<std::string> names{"uniform", "normal", "loguniform", "choice"};
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) fail(text, kForms + did_you_mean(name, names));
  kind_ = static_cast<Kind>(1 + (it - names.begin()));
  if (!choices.empty() && kind_ != Kind::kChoice) fail(text, "expected a name or choice(name, name, ...)");
  if (kind_ != Kind::kChoice && arguments_.size() != 2) fail(text, "expected two numbers in the brackets");
  const bool is_interval = kind_ == Kind::kUniform || kind_ == Kind::kLogUniform;
  if (is_interval && arguments_[0] > arguments_[1]) fail(text, "expected low <= high");
  if (kind_ == Kind::kLogUniform && arguments_[0] <= 0) fail(text, "expected low > 0");
  if (kind_ == Kind::kNormal && arguments_[1] < 0) fail(text, "expected a deviation >= 0");
}

double Distribution::draw(RandomStream& random) const {
  const std::vector<double>& a = arguments_;
  switch (kind_) {
    case Kind::kConstant:
      return a[0];
    case Kind::kUniform:
      return random.uniform(a[0], a[1]);
    case Kind::kNormal:
      return a[0] + a[1] * random.normal();
    case Kind::kLogUniform:
      return std::clamp(math::exp(random.uniform(math::log(a[0]), math::log(a[1]))), a[0], a[1]);
    case Kind::kChoice:
      return a[random.below(static_cast<uint32_t>(a.size()))];
  }
  return a[0];
}

double Distribution::low() const {
  if (kind_ == Kind::kNormal) return -std::numeric_limits<double>::infinity();
  return *std::min_element(arguments_.begin(), arguments_.end());
}

double Distribution::high() const {
  if (kind_ == Kind::kNormal) return std::numeric_limits<double>::infinity();
  return *std::max_element(arguments_.begin(), arguments_.end());
}

std::pair<double, double> Distribution::usual_range() const {
  if (kind_ != Kind::kNormal) return {low(), high()};
  return {arguments_[0] - 2 * arguments_[1], arguments_[0] + 2 * arguments_[1]};
}

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
                  "draws of " + entry.path + " would reach from " + short_number(low / unit) + " to " +
                      short_number(high / unit) + ", expected values from " +
                      short_number(entry.info.min / unit) + " to " + short_number(entry.info.max / unit));
    params_.push_back(index);
    scales_.push_back(scale);
  }
  const bool all_zero =
      scaled && !scales_.empty() && std::ranges::all_of(scales_, [](double s) { return s == 0; });
  if (all_zero && !optional)
    reader.fail("scale", "the nominal value of " + model.params[params_[0]].path +
                             " is 0, which no scale changes, expected 'value'");
  if (!params_.empty() || optional) return;
  reader.fail("of", unknown_parameter(model, pattern));
}

void Randomization::apply(Simulation& simulation, RandomStream& random) const {
  for (size_t i = 0; i < params_.size(); ++i) {
    const ParamInfo& info = simulation.model().params[params_[i]].info;
    const double value = scales_[i] * distribution_.draw(random);
    simulation.set_param(params_[i], std::clamp(value, lowest(info), highest(info)));
  }
}

double Randomization::end_of(const Model& model, size_t target, End end) const {
  const ParamEntry& entry = model.params[params_[target]];
  const auto [low, high] = distribution_.usual_range();
  if (low == high && end == End::kLow) return entry.nominal;
  const double value = scales_[target] * (end == End::kLow ? low : high);
  return std::clamp(value, lowest(entry.info), highest(entry.info));
}

void Randomization::apply_end(Simulation& simulation, End end) const {
  for (size_t i = 0; i < params_.size(); ++i)
    simulation.set_param(params_[i], end_of(simulation.model(), i, end));
}

bool Randomization::has_range(const Model& model) const {
  for (size_t i = 0; i < params_.size(); ++i)
    if (end_of(model, i, End::kLow) != end_of(model, i, End::kHigh)) return true;
  return false;
}

std::string randomized_block(const std::string& pattern) {
  constexpr std::string_view kPrefix = "block:";
  if (!std::string_view(pattern).starts_with(kPrefix)) return "";
  return pattern.substr(kPrefix.size(), pattern.find('/') - kPrefix.size());
}

}  // namespace mvsim
