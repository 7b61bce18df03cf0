#include "assets/map_files.h"

#include <yaml.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <set>

#include "assets/read_image.h"
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

// libyaml compares each directive with all before it.
constexpr ptrdiff_t kMaxPercentSigns = 1000;

SourceLocation place_of(const std::shared_ptr<const std::string>& path, const yaml_mark_t& mark) {
  return {path, static_cast<int>(mark.line) + 1, static_cast<int>(mark.column) + 1};
}

// Returns the place of a byte that is no text. It is computed here because libyaml reports the offset alone.
SourceLocation place_of_byte(const std::shared_ptr<const std::string>& path, std::string_view text,
                             size_t offset) {
  const bool is_little = text.starts_with("\xff\xfe"), is_big = text.starts_with("\xfe\xff");
  const size_t unit = is_little || is_big ? 2 : 1;
  SourceLocation out{path, 1, 1};
  size_t at = unit == 2 ? 2 : text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  for (; at + unit <= std::min(offset, text.size()); at += unit) {
    const char c = text[at + (is_big ? 1 : 0)], rest = unit == 2 ? text[at + (is_big ? 0 : 1)] : '\0';
    const bool ends_line = c == '\n' && rest == '\0';
    out.line += ends_line ? 1 : 0;
    out.column = ends_line ? 1 : out.column + 1;
  }
  return out;
}

struct Event {
  yaml_event_t event{};
  Event() = default;
  ~Event() { yaml_event_delete(&event); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
};

class Parser {
 public:
  Parser(const std::string& path, std::string_view text)
      : path_(std::make_shared<const std::string>(path)), text_(text) {
    if (std::count(text.begin(), text.end(), '%') > kMaxPercentSigns)
      throw WorldFileError({path_, 1, 1}, "is not readable YAML: has more than " +
                                              std::to_string(kMaxPercentSigns) + " percent signs");
    if (!yaml_parser_initialize(&parser_)) throw std::bad_alloc();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~Parser() { yaml_parser_delete(&parser_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  YamlDocument take() {
    for (int documents = 0;;) {
      Event next;
      yaml_event_t& event = next.event;
      if (!yaml_parser_parse(&parser_, &event)) fail();
      if (event.type == YAML_STREAM_END_EVENT) return std::move(out_);
      if (event.type == YAML_DOCUMENT_START_EVENT && ++documents == 2) {
        out_.second = place_of(path_, event.start_mark);
        return std::move(out_);
      }
      take(event);
    }
  }

 private:
  void take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_SCALAR_EVENT: {
        const auto& scalar = event.data.scalar;
        YamlNode& node = add(YamlNode::Kind::kScalar, event, scalar.anchor);
        node.text.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
        node.is_plain = scalar.style == YAML_PLAIN_SCALAR_STYLE;
        break;
      }
      case YAML_SEQUENCE_START_EVENT:
        open(YamlNode::Kind::kList, event, event.data.sequence_start.anchor);
        break;
      case YAML_MAPPING_START_EVENT:
        open(YamlNode::Kind::kMap, event, event.data.mapping_start.anchor);
        break;
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        open_.pop_back();
        break;
      case YAML_ALIAS_EVENT: {
        const std::string name = reinterpret_cast<const char*>(event.data.alias.anchor);
        const auto found = anchors_.find(name);
        if (found == anchors_.end())
          throw WorldFileError(place_of(path_, event.start_mark), "found the alias '*" + shortened(name) +
                                                                      "', expected an anchor '&" +
                                                                      shortened(name) + "' before it");
        attach(found->second, event);
        break;
      }
      default:
        break;  // begins and ends of stream and document
    }
  }

  YamlNode& add(YamlNode::Kind kind, const yaml_event_t& event, const yaml_char_t* anchor) {
    const size_t index = out_.nodes.size();
    attach(index, event);
    if (anchor) anchors_[reinterpret_cast<const char*>(anchor)] = index;
    YamlNode& node = out_.nodes.emplace_back();
    node.kind = kind;
    node.where = place_of(path_, event.start_mark);
    return node;
  }
  void open(YamlNode::Kind kind, const yaml_event_t& event, const yaml_char_t* anchor) {
    add(kind, event, anchor);
    open_.push_back(out_.nodes.size() - 1);
    if (open_.size() > kMaxYamlDepth)
      throw WorldFileError(out_.nodes.back().where,
                           "found lists and maps inside each other, expected at most " +
                               std::to_string(kMaxYamlDepth) + " deep");
  }
  void attach(size_t index, const yaml_event_t& event) {
    if (++values_ > kMaxYamlNodes)
      throw WorldFileError(place_of(path_, event.start_mark),
                           "expected at most " + std::to_string(kMaxYamlNodes) + " keys and values");
    if (!open_.empty()) out_.nodes[open_.back()].children.push_back(index);
  }

  [[noreturn]] void fail() const {
    if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
    const std::string problem = parser_.problem ? parser_.problem : "it cannot be parsed";
    if (parser_.error == YAML_READER_ERROR)
      throw WorldFileError(place_of_byte(path_, text_, parser_.problem_offset),
                           "is not readable text: " + problem);
    const std::string context = parser_.context ? std::string(" ") + parser_.context : "";
    throw WorldFileError(place_of(path_, parser_.problem_mark), "is not readable YAML: " + problem + context);
  }

  std::shared_ptr<const std::string> path_;
  std::string_view text_;
  yaml_parser_t parser_{};
  YamlDocument out_;
  std::vector<size_t> open_;  // the lists and maps that contain the next node
  std::map<std::string, size_t> anchors_;
  size_t values_ = 0;
};

constexpr std::string_view kClass = "COccupancyGridMap2D";
constexpr size_t kMaxGridBytes = static_cast<size_t>(kMaxImagePixels) + 4096;  // with data after the grid

// Little-endian values one after the other.
class Bytes {
 public:
  Bytes(const std::string& path, std::string_view data) : path_(path), rest_(data) {}

  std::string_view take(size_t count) {
    if (count > rest_.size()) throw Error(path_ + ": truncated MRPT grid");
    const std::string_view out = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return out;
  }
  uint8_t byte() { return static_cast<uint8_t>(take(1)[0]); }
  uint32_t word() {
    uint32_t out = 0;
    for (uint32_t i = 0; i < 4; ++i) out |= static_cast<uint32_t>(byte()) << (8 * i);
    return out;
  }
  double real() { return std::bit_cast<float>(word()); }

 private:
  const std::string& path_;
  std::string_view rest_;
};

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

bool YamlNode::is_empty() const {
  if (kind != Kind::kScalar || !is_plain) return false;
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

std::string YamlNode::found() const {
  if (kind == Kind::kMap) return "a map";
  if (kind == Kind::kList) return "a list of " + std::to_string(children.size());
  return std::string("'").append(shortened(text)).append("'");
}

YamlDocument parse_yaml(const std::string& path, std::string_view text) {
  return Parser(path, text).take();
}

MrptGrid read_mrpt_grid(const OpenFile& file, const SourceLocation& where, LoadGuard& guard) {
  const std::string& path = file.path();
  const TemporaryMemory memory(guard, kMaxGridBytes, where, "the map");
  const std::string content = file.read_unpacked(kMaxGridBytes, guard);
  Bytes bytes(path, content);
  const auto length = static_cast<size_t>(bytes.byte() & 0x7f);
  if (length != kClass.size() || bytes.take(length) != kClass)
    throw Error(path + ": not a serialized MRPT occupancy grid, expected one of class " +
                std::string(kClass));
  const int version = bytes.byte();
  if (version < 3 || version > 6)
    throw Error(path + ": MRPT grid of version " + std::to_string(version) + ", expected 3 to 6");
  if (const int bits = bytes.byte(); bits != 8)
    throw Error(path + ": MRPT grid of " + std::to_string(bits) + " bits a cell, expected 8");
  const uint32_t width = bytes.word(), height = bytes.word();
  const double x_min = bytes.real(), x_max = bytes.real(), y_min = bytes.real(), y_max = bytes.real();
  const double resolution = bytes.real();
  if (width < 1 || height < 1 || width > kMaxImageSide || height > kMaxImageSide ||
      static_cast<long long>(width) * height > kMaxImagePixels)
    throw Error(path + ": grid of " + std::to_string(width) + " x " + std::to_string(height) +
                " cells, expected 1 to " + std::to_string(kMaxImageSide) + " a side");
  if (!std::isfinite(x_min + x_max + y_min + y_max) || !(resolution > 1e-4 && resolution <= 1e3))
    throw Error(path + ": MRPT grid without a place or a resolution in (0.0001, 1000]");
  MrptGrid grid{static_cast<int>(width), static_cast<int>(height), resolution, x_min, y_min, {}};
  guard.take(static_cast<double>(width) * height, where, "the map");
  const std::string_view cells = bytes.take(static_cast<size_t>(width) * height);
  grid.cells.resize(cells.size());
  std::memcpy(grid.cells.data(), cells.data(), cells.size());
  return grid;
}

}  // namespace mvsim
