// Substitutions in a world file: ${NAME}, $env{NAME} and $f{expression}.
//
// Layer A (`substitute`) edits the whole text of an included file before it is parsed, layer B (`expand`) one
// value when it is read. Not thread-safe: variables and the random stream are state of one load.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "worldfile/limits.h"
#include "worldfile/xml_source.h"

namespace mvsim {

using NamedValues = std::map<std::string, std::string, std::less<>>;

// Names known only in a part of the world: NAME, PARENT_NAME.
using Scope = NamedValues;

// The parameters of an <include>.
struct IncludeParameters {
  NamedValues values;
  std::string folder;       // of the included file: ${MVSIM_CURRENT_FILE_DIRECTORY}
  bool keep_names = false;  // inside a vehicle ${NAME} and ${PARENT_NAME} are left for later
};

class Expander {
 public:
  Expander(uint64_t world_seed, Budget& budget);

  void set_variable(const std::string& name, std::string value);
  void set_folder(std::string folder) { folder_ = std::move(folder); }  // of the file being read

  // Layer B. Throws WorldFileError, `where` being the place of the value.
  std::string expand(std::string_view text, const Scope& scope, const SourceLocation& where);

  // Layer A. References without a value stay as they are.
  EditedText substitute(const SourceText& file, const IncludeParameters& parameters);

  // Whether the variable, defined or not, has been used so far. Letters may differ in case.
  bool has_asked_for(std::string_view variable) const;
  std::vector<std::string> asked_names() const;

 private:
  using Active = std::vector<std::string_view>;  // parameters being expanded

  const std::string* find(std::string_view name, const Scope& scope);
  const std::string* find_variable(std::string_view name);
  std::string expand_references(const std::string& text, const Scope& scope, const SourceLocation& where);
  std::string expand_environment(const std::string& text, const SourceLocation& where);
  std::string expand_expressions(const std::string& text, const Scope& scope, const SourceLocation& where);
  std::string evaluate(std::string_view expression, const Scope& scope, const SourceLocation& where);
  [[noreturn]] void fail_undefined(std::string_view name, const Scope& scope,
                                   const SourceLocation& where) const;

  bool parameter_text(std::string_view inner, const IncludeParameters& parameters, bool is_xml,
                      Active& active, int depth, const SourceLocation& where, std::string& out);
  std::string substitute_value(std::string_view text, const IncludeParameters& parameters, bool is_xml,
                               Active& active, int depth, const SourceLocation& where);

  Budget& budget_;
  RandomStream random_;
  NamedValues variables_;
  NamedValues by_lower_name_;  // for expressions: the latest of the names that differ in case only
  NamedValues asked_;          // in lower case: as written
  std::string folder_;
};

}  // namespace mvsim
