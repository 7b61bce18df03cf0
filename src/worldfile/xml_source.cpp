#include "worldfile/xml_source.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "worldfile/limits.h"

namespace mvsim {
namespace {

constexpr std::string_view kXmlBlanks = " \t\r\n";

// Whether the reference at `s` ("&#1234;" or "&#x4d2;") names a character of text; what pugixml does not
// check.
bool is_text_reference(std::string_view s) {
  const bool is_hex = s.size() > 2 && s[2] == 'x';
  const size_t start = is_hex ? 3 : 2;
  uint32_t code = 0;
  const auto [end, status] =
      std::from_chars(s.data() + std::min(start, s.size()), s.data() + s.size(), code, is_hex ? 16 : 10);
  if (status != std::errc()) return status == std::errc::invalid_argument;  // "&# ..." stays as it is
  const bool is_control = code < 0x20 && code != '\t' && code != '\n' && code != '\r';
  return !is_control && (code < 0xd800 || code > 0xdfff) && code <= 0x10ffff;
}

size_t name_end(std::string_view text, size_t i) {
  while (i < text.size() && kXmlBlanks.find(text[i]) == std::string_view::npos && text[i] != '>' &&
         text[i] != '/')
    ++i;
  return i;
}

// Offset after the '>' of the tag that starts at `i`; quotes may hold '>'.
size_t tag_end(std::string_view text, size_t i) {
  char quote = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      return i + 1;
    }
  }
  return text.size();
}

size_t skip_past(std::string_view text, size_t from, std::string_view end) {
  const size_t at = text.find(end, from);
  return at == std::string_view::npos ? text.size() : at + end.size();
}

}  // namespace

void OffsetMap::add(size_t out, size_t in, bool copied) {
  pieces.push_back({out, in, copied});
}

size_t OffsetMap::to_input(size_t out) const {
  if (pieces.empty()) return out;
  auto next = std::upper_bound(pieces.begin(), pieces.end(), out,
                               [](size_t offset, const Piece& piece) { return offset < piece.out; });
  if (next == pieces.begin()) return out;
  const Piece& piece = *(next - 1);
  return piece.copied ? piece.in + (out - piece.out) : piece.in;
}

XmlSource::XmlSource(std::shared_ptr<const SourceText> file, EditedText edited, bool may_be_empty)
    : file_(std::move(file)), edits_(std::move(edited.map)) {
  const size_t bad = find_not_text(edited.text);
  if (bad != std::string::npos) throw WorldFileError(where_edited(bad), "is not UTF-8 text");
  for (size_t at = edited.text.find("&#"); at != std::string::npos; at = edited.text.find("&#", at + 2))
    if (!is_text_reference(std::string_view(edited.text).substr(at)))
      throw WorldFileError(where_edited(at), "the reference '&#...;' names no character of text");
  prepare(edited.text);
  const pugi::xml_parse_result result =
      document_.load_buffer_inplace(buffer_.data(), buffer_.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!result && !(may_be_empty && result.status == pugi::status_no_document_element))
    throw WorldFileError(where_edited(renames_.to_input(static_cast<size_t>(result.offset))),
                         std::string("is not well-formed XML: ") + result.description());
  check_sizes(document_);
}

// Loops may visit an element very often: what is not counted then must be small.
void XmlSource::check_sizes(const pugi::xml_node& node) const {
  constexpr int kMaxPieces = 200;
  constexpr size_t kLongestName = 200;
  int texts = 0, attributes = 0;
  for (const pugi::xml_attribute& attribute : node.attributes())
    if (++attributes > kMaxPieces || std::string_view(attribute.name()).size() > kLongestName)
      throw WorldFileError(where(attribute.name()), "an element has more than " + std::to_string(kMaxPieces) +
                                                        " attributes, or one with a too long name");
  for (const pugi::xml_node& child : node.children()) {
    if (child.type() == pugi::node_element) {
      if (std::string_view(child.name()).size() > kLongestName)
        throw WorldFileError(where(child.name()), "the name of a tag is longer than " +
                                                      std::to_string(kLongestName) + " characters");
      check_sizes(child);
    } else if (++texts > kMaxPieces) {
      throw WorldFileError(where(child.value()), "the text of an element is in more than " +
                                                     std::to_string(kMaxPieces) + " pieces");
    }
  }
}

SourceLocation XmlSource::where_edited(size_t offset) const {
  return file_->where(edits_.to_input(offset));
}

SourceLocation XmlSource::where(const char* pointer) const {
  return where_edited(renames_.to_input(static_cast<size_t>(pointer - buffer_.data())));
}

void XmlSource::prepare(std::string_view text) {
  std::vector<std::string_view> open;
  const bool has_command = text.find("$(") != std::string_view::npos;  // in a comment it is none
  const auto refuse_command = [&](size_t from, size_t to) {
    if (!has_command) return;
    const size_t at = text.substr(0, to).find("$(", from);
    if (at == std::string_view::npos) return;
    const size_t end = std::min({text.find(')', at), text.find('\n', at), at + 80, text.size()});
    throw WorldFileError(where_edited(at), "running the command '" +
                                               shortened(text.substr(at + 2, end - at - 2), 80) +
                                               "' is refused: a world file never runs programs");
  };
  size_t copied = 0;  // all before is in buffer_
  for (size_t i = 0; i < text.size();) {
    const size_t tag = std::min(text.find('<', i), text.size());
    refuse_command(i, tag);
    i = tag;
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("<!--")) {
      i = skip_past(text, i + 4, "-->");
    } else if (rest.starts_with("<?")) {
      i = skip_past(text, i, "?>");
    } else if (rest.starts_with("<![CDATA[")) {
      const size_t end = skip_past(text, i, "]]>");
      refuse_command(i, end);
      i = end;
    } else if (rest.starts_with("<!")) {
      throw WorldFileError(where_edited(i), "a document type (<!DOCTYPE...) is refused");
    } else if (rest.starts_with("</")) {
      const size_t end = name_end(text, i + 2);
      const std::string_view name = text.substr(i + 2, end - i - 2);
      if (!open.empty() && name != open.back()) {
        mismatches_.push_back(
            {where_edited(i), "</" + shortened(name) + "> closes <" + shortened(open.back()) + ">"});
        renames_.add(buffer_.size(), copied, true);
        buffer_.append(text.substr(copied, i + 2 - copied));
        renames_.add(buffer_.size(), i + 2, false);
        buffer_.append(open.back());
        copied = end;
      }
      if (!open.empty()) open.pop_back();
      i = tag_end(text, end);
    } else if (!rest.empty()) {
      const size_t end = tag_end(text, i + 1);
      refuse_command(i, end);
      if (++element_count_ > kMaxElements)
        throw WorldFileError(where_edited(i),
                             "the file has more than " + std::to_string(kMaxElements) + " elements");
      const bool closed = text[end - 1] == '>' && text[end - 2] == '/';
      if (!closed) open.push_back(text.substr(i + 1, name_end(text, i + 1) - i - 1));
      if (open.size() > kMaxXmlDepth)
        throw WorldFileError(where_edited(i),
                             "elements are nested deeper than " + std::to_string(kMaxXmlDepth));
      i = end;
    }
  }
  renames_.add(buffer_.size(), copied, true);
  buffer_.append(text.substr(copied));
}

std::vector<Element> children_of(const pugi::xml_node& node, const XmlSource& source) {
  std::vector<Element> out;
  for (const pugi::xml_node& child : node.children())
    if (child.type() == pugi::node_element) out.push_back({child, &source});
  return out;
}

}  // namespace mvsim
