// Reading of included files and of the bodies of classes and instances with their includes and ifs carried
// out.
#pragma once

#include <string>
#include <vector>

#include "worldfile/load_state.h"

namespace mvsim {

// Parses the text of the main file.
const XmlSource& read_main_source(LoadState& state, std::shared_ptr<const SourceText> file);

// A file named by an <include>, parsed; it counts as being read until the object dies.
class OpenInclude {
 public:
  OpenInclude(LoadState& state, const Element& include, bool inside_vehicle);
  ~OpenInclude();
  OpenInclude(const OpenInclude&) = delete;
  OpenInclude& operator=(const OpenInclude&) = delete;

  const XmlSource& source() const { return *source_; }
  const std::string& folder() const { return folder_; }

 private:
  LoadState& state_;
  Nesting nesting_;
  const XmlSource* source_ = nullptr;
  std::string folder_;
};

// The file that a world names by a path or a URL (assets/resources.h), relative to `folder`. Throws
// WorldFileError.
OpenFile open_named_file(LoadState& state, const NamedText& value, const std::string& folder);
// The same for files that are only drawn. Empty for a URL that is neither mapped nor in the cache; one
// warning for the whole world then says how to fetch it.
std::optional<OpenFile> find_named_file(LoadState& state, const NamedText& value, const std::string& folder);

// Returns decode(). An Error that it throws gets the place of the element.
template <typename Decode>
auto decoded(const SourceLocation& where, const std::string& element, const Decode& decode) {
  try {
    return decode();
  } catch (const WorldFileError&) {
    throw;
  } catch (const Error& e) {
    throw WorldFileError(where, element + ": " + e.what());
  }
}

bool is_condition_true(std::string_view text);
bool evaluate_condition(LoadState& state, const Element& if_element);

// Calls visit(file) for every <include> below a node, in its order.
template <typename Visit>
void for_includes(const pugi::xml_node& root, const Visit& visit) {
  root.find_node([&](const pugi::xml_node& node) {
    if (std::string_view(node.name()) == "include") visit(std::string_view(node.attribute("file").value()));
    return false;
  });
}

// Keeps the includes of an <if> or <for> that is not carried out: their files may use what else nothing uses.
void remember_skipped(LoadState& state, const Element& element);

// Effect of an <include> directly inside an object.
enum class BodyInclude {
  kInPlace,   // of classes: its elements stand in its place
  kSeparate,  // of vehicles: its elements are searched before the vehicle's own
  kIgnored,   // of blocks: a warning
};

struct ObjectBody {
  std::vector<Element> included, own;
};

// The children of a class or an instance.
ObjectBody read_body(LoadState& state, const Element& object, BodyInclude mode);

}  // namespace mvsim
