#include "assets/map_yaml.h"

#include <algorithm>
#include <memory>
#include <set>

#include "assets/yaml_document.h"
#include "base/math.h"
#include "base/params.h"

namespace mvsim {
namespace {

NamedText scalar_of(const std::string& key, const YamlNode& node, const char* expected) {
  if (node.kind != YamlNode::Kind::kScalar)
    throw WorldFileError(node.where, "<" + key + ">: found " + node.found() + ", expected " + expected);
  return {key, node.text, node.where};
}

double number_of(const std::string& key, const YamlNode& node) {
  return parse_number(scalar_of(key, node, "a finite number"));
}

double fraction_of(const std::string& key, const YamlNode& node) {
  const double out = number_of(key, node);
  check_range({.name = key, .min = 0, .max = 1}, out, node.where);
  return out;
}

// YAML has more words than the world language.
bool bool_of(const std::string& key, const YamlNode& node) {
  NamedText value = scalar_of(key, node, "true, false, 1 or 0");
  std::string lower = value.text;
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (lower == "yes" || lower == "y" || lower == "on") return true;
  if (lower == "no" || lower == "n" || lower == "off") return false;
  return parse_bool(value);
}

std::string image_of(const YamlNode& node) {
  const std::string out = scalar_of("image", node, "a file name").text;
  if (node.is_empty() || out.empty())
    throw WorldFileError(node.where, "image: is empty, expected a file name");
  if (std::any_of(out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    throw WorldFileError(
        node.where, "image: found '" + shortened(out) + "', expected a file name without control characters");
  return out;
}

Pose2 origin_of(const YamlDocument& yaml, const YamlNode& node) {
  if (node.kind != YamlNode::Kind::kList || node.children.size() != 3)
    throw WorldFileError(node.where, "origin: found " + node.found() + ", expected [x, y, yaw] (m, m, rad)");
  double v[3];
  for (size_t i = 0; i < 3; ++i) {
    const YamlNode& item = yaml.child(node, i);
    v[i] = number_of("origin", item);
    const double most = i < 2 ? 1e7 : 100 * kPi;
    check_range({.name = "origin", .min = -most, .max = most}, v[i], item.where);
  }
  return {v[0], v[1], v[2]};
}

std::string mode_of(const YamlNode& node) {
  std::string out = scalar_of("mode", node, "trinary, scale or raw").text;
  if (out != "trinary" && out != "scale" && out != "raw")
    throw WorldFileError(node.where, "mode: found '" + shortened(out) + "', expected trinary, scale or raw");
  return out;
}

void set_value(MapYaml& out, const YamlDocument& yaml, const YamlNode& key, const YamlNode& value) {
  const std::string& name = key.text;
  if (name == "image") {
    out.image = image_of(value);
    out.image_where = value.where;
  } else if (name == "resolution") {
    out.resolution = number_of(name, value);
    check_range({.name = name, .min = kMinResolution, .max = kMaxResolution}, out.resolution, value.where);
  } else if (name == "origin") {
    out.origin = origin_of(yaml, value);
    out.origin_where = value.where;
  } else if (name == "negate") {
    out.negate = bool_of(name, value);
  } else if (name == "occupied_thresh") {
    out.occupied_threshold = fraction_of(name, value);
  } else if (name == "free_thresh") {
    out.free_threshold = fraction_of(name, value);
  } else if (name == "mode") {
    out.mode = mode_of(value);
  } else if (name == "<<" && key.is_plain) {
    throw WorldFileError(key.where,
                         "found '<<', which map_server does not merge, expected the keys themselves");
  } else {
    out.ignored.push_back({key.where, "the key is unknown in a map yaml and ignored"});
  }
}

}  // namespace

MapYaml parse_map_yaml(const std::string& path, std::string_view text) {
  const YamlDocument yaml = parse_yaml(path, text);
  const SourceLocation begin{std::make_shared<const std::string>(path), 1, 1};
  YamlNode empty;
  empty.kind = YamlNode::Kind::kMap;
  empty.where = begin;
  const bool has_none = yaml.nodes.empty() || yaml.nodes.front().is_empty();
  const YamlNode& root = has_none ? empty : yaml.nodes.front();
  if (root.kind != YamlNode::Kind::kMap)
    throw WorldFileError(root.where, "found " + root.found() + ", expected 'key: value' lines");
  MapYaml out;
  std::set<std::string> seen;
  SourceLocation threshold_where;
  for (size_t i = 0; i + 1 < root.children.size(); i += 2) {
    const YamlNode& key = yaml.child(root, i);
    if (key.kind != YamlNode::Kind::kScalar)
      throw WorldFileError(key.where, "found " + key.found() + " as a key, expected a word");
    if (!seen.insert(key.text).second)
      throw WorldFileError(key.where, "the key '" + shortened(key.text) + "' is given twice");
    set_value(out, yaml, key, yaml.child(root, i + 1));
    if (key.text.ends_with("_thresh")) threshold_where = key.where;
  }
  for (const char* key : {"image", "resolution", "origin"})
    if (!seen.contains(key)) throw WorldFileError(root.where, "the map has no '" + std::string(key) + ":'");
  if (out.free_threshold > out.occupied_threshold)
    throw WorldFileError(threshold_where, "free_thresh is above occupied_thresh");
  if (yaml.second) out.ignored.push_back({*yaml.second, "a second document is ignored"});
  return out;
}

}  // namespace mvsim
