// State of one load of a world: its warnings, its limits.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "assets/resources.h"
#include "base/error.h"
#include "base/text.h"
#include "worldfile/expansion.h"
#include "worldfile/limits.h"
#include "worldfile/load_world.h"
#include "worldfile/xml_source.h"

namespace mvsim {

// Warnings of one load, each kind reported once: with the place of the first and the number of them. Not
// thread-safe.

class WarningList {
 public:
  // Returns true if the kind is new, so that its text is needed.
  bool is_new(const std::string& kind);
  void add(const std::string& kind, const SourceLocation& where, const std::string& text);
  std::vector<std::string> texts() const;

 private:
  struct Entry {
    std::string text;
    int count = 0;
  };
  std::map<std::string, size_t> index_;
  std::vector<Entry> entries_;
  size_t left_out_ = 0;
};

// State of the loading of one world. Lives for one call of load_world; not thread-safe.

// <vehicle:class>, <block:class> or <actor:class>: its element and its children with includes and ifs carried
// out.
struct ClassBody {
  Element element;
  std::vector<Element> children;
};

using ClassBodies = std::map<std::string, ClassBody>;  // by name

// An <include> that was not carried out: its file as written, and the folders to look in.
struct SkippedInclude {
  std::string file;
  std::vector<std::string> folders;
};

struct LoadState {
  LoadState(const WorldLoadOptions& load_options, LoadSession& load_session,
            const std::vector<std::string>& root_folders)
      : options(load_options),
        session(load_session),
        resources(root_folders, load_options.resources, load_session.urls),
        budget(load_session.guard),
        expander(load_options.world_seed, budget) {}

  const WorldLoadOptions& options;
  LoadSession& session;
  Resources resources;
  Budget budget;
  WarningList warnings;
  Expander expander;
  std::string folder;       // relative paths start here
  std::string main_folder;  // real, of the world's own file, which may be named by a link
  std::map<std::string, std::shared_ptr<const SourceText>> files;
  std::vector<std::unique_ptr<const XmlSource>> sources;  // elements point into them
  std::vector<std::shared_ptr<const SourceText>> texts;   // all that was read
  std::vector<SkippedInclude> skipped_includes;           // in an <if> whose condition is false
  std::vector<std::string> include_stack;                 // real paths of the files being read
  int nesting = 0;                                        // of for, if and include

  ClassBodies vehicle_classes, block_classes, actor_classes;
  std::set<std::string> vehicle_names, block_names, sensor_names, actor_names;
  std::map<std::string, int> block_copies;  // number of the latest block called so again
  int vehicle_count = 0, block_count = 0, wall_count = 0, actor_count = 0, order = 0;
  WorldSpec world;
};

// Counts a level of for, if or include while it lives.
class Nesting {
 public:
  Nesting(LoadState& state, const SourceLocation& where) : nesting_(state.nesting) {
    if (nesting_ >= kMaxNesting)
      throw WorldFileError(where,
                           "for, if and include are nested deeper than " + std::to_string(kMaxNesting));
    ++nesting_;
  }
  ~Nesting() { --nesting_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  int& nesting_;
};

// Copies the names of a map.
template <typename Map>
std::vector<std::string> names_of(const Map& map) {
  constexpr size_t kMost = 500;  // for suggestions, whose cost is bounded so
  std::vector<std::string> out;
  for (const auto& entry : map)
    if (out.size() < kMost) out.push_back(entry.first);
  return out;
}

// Returns the names of variables that were not used and that no file mentions in ${} or $f{}. Files that an
// <if> left out count too. Empty if one of these files cannot be read.
std::vector<std::string> unused_variables(const LoadState& state);

}  // namespace mvsim
