// The content of an environment file (docs/env-files.md), before any world is loaded. Values remember their
// place in the file, so that keywords can replace them and errors are reported at their line. Values only.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "assets/resources.h"
#include "base/load_guard.h"
#include "base/params.h"
#include "sensor/view.h"

namespace mvsim {

// Thrown for a keyword that is no field or knob of the environment.
class UnknownKeyword : public Error {
 public:
  using Error::Error;
};

// The value that a caller gives to a keyword, or nothing (std::monostate).
using OverrideValue =
    std::variant<std::monostate, bool, double, std::string, std::vector<std::variant<double, std::string>>>;

// A change by a caller: `value` is put at `path` in the file's tree, such as {"reward", "collision",
// "weight"} or {"time_limit"}. Without a value a term is left out and an attribute gets its default. The text
// "" at the path of a term adds the term. A knob that is a file may be given several times; a world is
// compiled for each.
struct Override {
  std::vector<std::string> path;
  OverrideValue value;
};

// The value as the text of an attribute: numbers in their shortest form, items of a list parted by blanks.
std::string text_of(const OverrideValue& value);

// A named text. The environment's own attributes use it as ${name}, and its world sees it as a variable.
struct KnobSpec {
  NamedText value;
  bool is_file =
      false;  // a path: relative to the environment file, or to the working folder if given by keyword
  std::vector<std::string> choices;  // paths, if a keyword gives several files: a world is compiled for each
  SourceLocation defined;            // the element
};

// One term: tag "observe", "reward"...; its class; its attributes. Terms of one tag are distinguished by
// their name (attribute `name`, by default the class; of a randomisation the pattern `of`).
struct TermSpec {
  std::string name;
  ParamSet params;
};

// An environment keeps some kilobytes for each term of each agent.
inline constexpr size_t kMaxAgents = 64, kMaxTerms = 1000, kMaxKnobs = 200;  // terms: of one list

// Appends to a list. Throws WorldFileError if it is full.
void append_term(std::vector<TermSpec>& terms, TermSpec term);

inline constexpr double kShortestControlPeriod = 1e-6, kLongestControlPeriod = 1e6;  // s
inline constexpr int kMaxVariants = 1000, kMaxSubsteps = 1000000;
inline constexpr double kMaxWorldSeed = 9007199254740992.0;  // all integers up to it are doubles

// The effect of the end of an agent's episode while other agents go on.
enum class OnEnd {
  kWait,     // it waits for them; its row is zero until the env is reset
  kRespawn,  // it starts again in the same world
  kEndAll,   // the episodes of all agents end
};

// One <agent>: its actions, observations, rewards and terminations.
struct AgentSpec {
  SourceLocation where;
  std::string vehicle;   // "" is the world's first
  std::string vehicles;  // or a pattern: one description for all that match
  SourceLocation vehicle_where;
  TermSpec action;
  // In file order; rewards and terminations of the root, a shorthand for those of every agent, come first.
  std::vector<TermSpec> observations, rewards, terminations;
};

struct EnvSpec {
  std::string id;    // "mvsim/NavArena-v0", "" if the file gives none
  std::string path;  // of the environment file
  SourceLocation where;

  NamedText world;            // path of the world file
  NamedText centreline;       // path of a file of points, "": none
  int variants = 1;           // worlds compiled with world_seed, world_seed + 1...; one is picked per episode
  double world_seed = 0;      // seed of $f{rand()} and similar expressions in the world file
  double control_period = 0;  // s
  double time_limit = 0;      // s of simulated time; 0: none
  int substeps = 0;           // in a control period; 0: computed from the world's time step
  OnEnd on_end = OnEnd::kWait;
  SourceLocation control_where;

  std::vector<AgentSpec> agents;                 // at least one
  std::vector<TermSpec> resets, randomizations;  // in file order
  std::vector<TermSpec> movers;                  // <people> and <move>
  std::vector<TermSpec> trackers;  // elements that declare a tracker (task/track/), one for each tag
  NamedText randomize_level;       // "", "none", "standard" or "strong" (task/randomize_level.cpp)
  std::vector<KnobSpec> knobs;

  // Folders that may be read for the world and its parts, beside the caller's.
  std::vector<std::string> roots;

  std::vector<Override> overrides;            // arguments of apply_overrides()
  std::shared_ptr<const EnvSpec> as_written;  // the spec without them
};

struct EnvLoadOptions {
  std::string assets;              // the package's own data folder, holds envs/ and worlds/
  std::vector<std::string> roots;  // more folders that may be read
  ResourceOptions resources;       // sources of the URLs of worlds
  bool strict = false;             // a world's warning is an error
  CameraBackend camera_backend = CameraBackend::kAuto;  // draws the views of cameras
  // Limit for the memory of the worlds, and of a batch with them, in bytes.
  uint64_t memory_limit = kDefaultMemoryLimit;
  Poll poll;  // throws to stop a load
};

// The names of OnEnd, in order.
std::vector<std::string> on_end_names();

// Reads an environment file. Throws WorldFileError (content) or Error (the file cannot be read).
EnvSpec load_env(const std::string& path, const EnvLoadOptions& options);
EnvSpec load_env_text(const std::string& text, const std::string& path, const EnvLoadOptions& options);

// Changes a spec, once. Throws UnknownKeyword, or WorldFileError whose place is the keyword.
void apply_overrides(EnvSpec& spec, const std::vector<Override>& overrides);

// Returns the keywords of changes, each once.
std::vector<std::string> keywords_of(const std::vector<Override>& overrides);

// The keywords of every environment, and those of one: fields, then knobs.
std::vector<std::string> field_names();
std::vector<std::string> override_names(const EnvSpec& spec);
// The same keywords with the kind of value that each takes: number, text, value, path, action, terms,
// tracker, file or knob.
std::vector<std::pair<std::string, std::string_view>> keyword_kinds(const EnvSpec& spec);

// The environments of a folder: files "*.env.xml" whose root has an id, sorted by id.
struct EnvListing {
  std::string id, path;
};
std::vector<EnvListing> list_envs(const std::string& folder);

}  // namespace mvsim
