// One XML text as a tree whose every node knows its line and column in the file, also after text was put into
// it.
//
// Before pugixml sees the text, a pass over it refuses text that is not allowed (DOCTYPE, $(command), too
// deep nesting) and renames closing tags that do not fit their opening tag: pugixml stops at those, the world
// language does not. Immutable after construction.
#pragma once

#include <memory>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace mvsim {

// From offsets of an edited text back to those of the text it was made of.
struct OffsetMap {
  struct Piece {
    size_t out, in;
    bool copied;  // else put in: all of it stands for `in`
  };
  std::vector<Piece> pieces;  // by ascending `out`; none: nothing was edited

  void add(size_t out, size_t in, bool copied);
  size_t to_input(size_t out) const;
};

struct EditedText {
  std::string text;
  OffsetMap map;
};

class XmlSource {
 public:
  // Throws WorldFileError for anything that is not well-formed; a text without an element is well-formed if
  // it `may_be_empty`.
  XmlSource(std::shared_ptr<const SourceText> file, EditedText edited, bool may_be_empty = false);
  XmlSource(const XmlSource&) = delete;
  XmlSource& operator=(const XmlSource&) = delete;

  const pugi::xml_document& document() const { return document_; }
  SourceLocation where(const char* pointer) const;  // of a name of the tree
  const std::string& path() const { return file_->path(); }
  int64_t element_count() const { return element_count_; }

  struct Mismatch {
    SourceLocation where;
    std::string text;
  };
  const std::vector<Mismatch>& mismatches() const { return mismatches_; }

 private:
  SourceLocation where_edited(size_t offset) const;  // of the text before closing tags were renamed
  void prepare(std::string_view text);
  void check_sizes(const pugi::xml_node& node) const;

  std::shared_ptr<const SourceText> file_;
  OffsetMap edits_, renames_;
  std::string buffer_;  // the tree's names and values point into it
  pugi::xml_document document_;
  int64_t element_count_ = 0;
  std::vector<Mismatch> mismatches_;
};

// An element of a tree.
struct Element {
  pugi::xml_node node;
  const XmlSource* source = nullptr;

  std::string_view tag() const { return node.name(); }
  SourceLocation where() const { return source->where(node.name() - 1); }  // of its "<"
  SourceLocation where(const pugi::xml_attribute& attribute) const { return source->where(attribute.name()); }
};

// Child elements of a node in document order.
std::vector<Element> children_of(const pugi::xml_node& node, const XmlSource& source);
inline std::vector<Element> children_of(const Element& e) {
  return children_of(e.node, *e.source);
}

}  // namespace mvsim
