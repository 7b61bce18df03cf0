// YAML files, parsed by libyaml: the first document as a tree. Thread-safe.
//
// UTF-8 and UTF-16 with or without a byte order mark as libyaml has them. An alias is a second way to the
// node that it names, which is never copied: a walk along the tree has to be bounded by its caller.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace mvsim {

struct YamlNode {
  enum class Kind { kScalar, kList, kMap };

  Kind kind = Kind::kScalar;
  std::string text;              // of a scalar, without its quotes
  bool is_plain = false;         // a scalar that has none
  std::vector<size_t> children;  // of a list; of a map each key, then its value
  SourceLocation where;

  bool is_empty() const;      // no value: nothing, ~ or null
  std::string found() const;  // for messages: "'text'", "a list of 3", "a map"
};

struct YamlDocument {
  std::vector<YamlNode> nodes;           // the root first; none in an empty file
  std::optional<SourceLocation> second;  // where a second document begins

  const YamlNode& child(const YamlNode& parent, size_t i) const { return nodes[parent.children[i]]; }
};

inline constexpr size_t kMaxYamlNodes = 10'000, kMaxYamlDepth = 32;

// Throws WorldFileError with the place in the file.
YamlDocument parse_yaml(const std::string& path, std::string_view text);

}  // namespace mvsim
