#include "assets/yaml_document.h"

#include <yaml.h>

#include <algorithm>
#include <map>
#include <memory>
#include <new>

namespace mvsim {
namespace {

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

}  // namespace

bool YamlNode::is_empty() const {
  if (kind != Kind::kScalar || !is_plain) return false;
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

std::string YamlNode::found() const {
  if (kind == Kind::kMap) return "a map";
  if (kind == Kind::kList) return "a list of " + std::to_string(children.size());
  return "'" + shortened(text) + "'";
}

YamlDocument parse_yaml(const std::string& path, std::string_view text) {
  return Parser(path, text).take();
}

}  // namespace mvsim
