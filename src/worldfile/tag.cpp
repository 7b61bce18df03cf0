#include "worldfile/tag.h"

#include "worldfile/expression.h"

namespace mvsim {

void read_value(const TagInfo& tag, const NamedText& text, double& out) {
  const double number = tag.type == TagType::kInt ? parse_int(text) : parse_number(text);
  const double value = tag.type == TagType::kDegrees ? number * kDegree : number;
  if (!tag.also) {
    check_range(tag.range, value, text.where);
  } else if (value != *tag.also && !in_range(tag.range, value)) {
    throw WorldFileError(text.where, "<" + text.name + ">: found " + shortened(trimmed(text.text)) +
                                         ", expected " + range_text(tag.range) + ", or " +
                                         number_text(*tag.also) + " (" + std::string(tag.also_means) + ")");
  }
  out = value;
}

void read_value(const TagInfo& tag, const NamedText& text, int& out) {
  double value = 0;
  read_value(tag, text, value);
  out = static_cast<int>(value);
}

void read_value(const TagInfo& /*tag*/, const NamedText& text, bool& out) {
  out = parse_bool(text);
}

void read_value(const TagInfo& /*tag*/, const NamedText& text, Color& out) {
  out = parse_color(text);
}

void read_value(const TagInfo& tag, const NamedText& text, CullFaces& out) {
  out = static_cast<CullFaces>(parse_choice(text, tag.range.choices));
}

void check_value(const TagInfo& tag, const NamedText& text) {
  switch (tag.type) {
    case TagType::kNumber:
    case TagType::kDegrees:
    case TagType::kInt: {
      double value = 0;
      return read_value(tag, text, value);
    }
    case TagType::kBool:
      parse_bool(text);
      return;
    case TagType::kColor:
      parse_color(text);
      return;
    case TagType::kChoice:
      parse_choice(text, tag.range.choices);
      return;
    case TagType::kPoint:
      parse_numbers(text, 2, 3, "x y and optionally z (m)");
      return;
    case TagType::kText:
    case TagType::kOwn:
      return;
  }
}

namespace {

// Every text of the tag that is written, not only the one that counts: children, else the attribute.
std::vector<NamedText> written_texts(LoadState& state, const Fields& fields, const TagInfo& tag) {
  std::vector<NamedText> out;
  for (const Element& e : fields.nodes(tag.name())) out.push_back(text_of(state, e, fields.scope()));
  if (out.empty())
    if (std::optional<NamedText> attribute = fields.scalar(tag.name())) out.push_back(std::move(*attribute));
  return out;
}

}  // namespace

std::optional<NamedText> given_text(LoadState& state, const Fields& fields, const TagInfo& tag) {
  if (tag.effect == TagEffect::kRefused) {
    if (const Element* e = fields.node(tag.name())) refuse(*e, "<" + std::string(tag.name()) + ">");
    return std::nullopt;
  }
  if (tag.type == TagType::kOwn) return std::nullopt;
  if (tag.effect == TagEffect::kUsed) return fields.scalar(tag.name());
  for (const NamedText& text : written_texts(state, fields, tag)) {
    check_value(tag, text);
    warn_no_effect(state, tag.name(), text.where);
  }
  return std::nullopt;
}

void check_tags(LoadState& state, const Fields& fields, PlainTags tags) {
  for (const TagInfo& tag : tags)
    if (tag.effect != TagEffect::kUsed || tag.type == TagType::kOwn)
      given_text(state, fields, tag);
    else
      for (const NamedText& text : written_texts(state, fields, tag)) check_value(tag, text);
}

}  // namespace mvsim
