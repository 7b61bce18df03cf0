#include "task/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/math.h"

namespace mvsim {
namespace {

constexpr const char* kForms =
    "expected a number, uniform(low, high), normal(mean, deviation), loguniform(low, high) or choice(a, b, "
    "...)";

[[noreturn]] void fail(const NamedText& text, const std::string& why) {
  throw WorldFileError(text.where, "<" + text.name + ">: found '" + text.text.substr(0, 80) + "', " + why);
}

std::string_view trim(std::string_view s) {
  const size_t first = s.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace

Distribution::Distribution(const NamedText& text, std::span<const std::string_view> choices) {
  const std::string_view whole = trim(text.text);
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
  const std::string_view name = trim(whole.substr(0, open));
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

}  // namespace mvsim
