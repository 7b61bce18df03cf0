// Helpers of the tests of task/, episode/ and batch/: the shipped environments, environments in text,
// overrides.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "episode/episode.h"
#include "source_dir.h"

namespace mvsim::testing {

inline const std::string kSource = source_dir();

inline EnvLoadOptions load_options() {
  EnvLoadOptions out;
  out.assets = kSource;
  return out;
}

inline std::string env_path(const std::string& name) {
  return kSource + "/envs/" + name + ".env.xml";
}

inline EnvSpec shipped(const std::string& name) {
  return load_env(env_path(name), load_options());
}

// An environment in text, as if it lay in the folder of the shipped ones.
inline EnvSpec from_text(const std::string& text) {
  return load_env_text(text, kSource + "/envs/test.env.xml", load_options());
}

// Changes of keywords by a caller; names of nested ones are relative to the keyword around them.
using Overrides = std::vector<Override>;

inline Overrides dict(const std::vector<std::pair<std::string, Overrides>>& items) {
  Overrides out;
  for (const auto& [name, changes] : items)
    for (Override change : changes) {
      change.path.insert(change.path.begin(), name);
      out.push_back(std::move(change));
    }
  return out;
}
inline Overrides text(const std::string& v) {
  return {{{}, v}};
}
inline Overrides number(double v) {
  return {{{}, v}};
}
inline Overrides weight(const std::string& v) {
  return dict({{"weight", text(v)}});
}
inline Overrides weight(double v) {
  return dict({{"weight", number(v)}});
}
// A term with its defaults, and one that is left out (of an attribute: its default).
inline Overrides on() {
  return text("");
}
inline Overrides off() {
  return {{{}, std::monostate{}}};
}

}  // namespace mvsim::testing
