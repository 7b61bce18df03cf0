#include "worldfile/xml_source.h"

#include "worldfile/world_text.h"

namespace mvsim::xml_source_test {
namespace {

XmlSource parsed(const std::string& text) {
  return XmlSource(std::make_shared<const SourceText>("file.xml", text), {text, {}});
}

std::string refusal(const std::string& text) {
  try {
    parsed(text);
  } catch (const WorldFileError& e) {
    return e.what();
  }
  return "";
}

TEST(XmlSource, KnowsLineAndColumnOfTagsAndAttributes) {
  const XmlSource source = parsed("<?xml version=\"1.0\"?>\n<a>\n  <b x='1'\n     y='2'/></a>");
  const Element b{source.document().child("a").child("b"), &source};
  EXPECT_EQ(b.where().text(), "file.xml:3:3");
  EXPECT_EQ(b.where(b.node.attribute("x")).text(), "file.xml:3:6");
  EXPECT_EQ(b.where(b.node.attribute("y")).text(), "file.xml:4:6");
}

TEST(XmlSource, ClosesTheOpenTagWhateverTheClosingNameSays) {
  const XmlSource source = parsed("<a>\n<long_name>1</x><c/>\n</wrong>\n<d/>");
  EXPECT_EQ(std::string(source.document().child("a").child_value("long_name")), "1");
  const std::vector<Element> roots = children_of(source.document(), source);
  ASSERT_EQ(roots.size(), 2u);
  EXPECT_EQ(roots[1].where().text(), "file.xml:4:1");
  const Element c{source.document().child("a").child("c"), &source};
  EXPECT_EQ(c.where().text(), "file.xml:2:17");
  ASSERT_EQ(source.mismatches().size(), 2u);
  EXPECT_EQ(source.mismatches()[0].where.text(), "file.xml:2:13");
  EXPECT_TRUE(has(source.mismatches()[0].text, "</x> closes <long_name>"));
}

TEST(XmlSource, ToleratesAngleBracketsInAttributes) {
  const XmlSource source = parsed("<a c=\"if(i<=3 > 2,1,0)\"><b d='</a>'/></a>");
  EXPECT_EQ(std::string(source.document().child("a").attribute("c").value()), "if(i<=3 > 2,1,0)");
  EXPECT_EQ(std::string(source.document().child("a").child("b").attribute("d").value()), "</a>");
}

TEST(XmlSource, DecodesEntitiesAndSkipsComments) {
  const XmlSource source = parsed("<!-- $(touch x) <q> --><a>&lt;&amp;&#65;&#x42;<!-- b --></a>");
  EXPECT_EQ(std::string(source.document().child_value("a")), "<&AB");
}

TEST(XmlSource, RefusesWithThePlace) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "file.xml:1:1: is not well-formed"},
      {"<a>\n<b>", "is not well-formed"},
      {"<a>\n</a></b>", "file.xml:2:"},
      {"<a>\n <b c=></b></a>", "file.xml:2:"},
      {"<!DOCTYPE a>\n<a/>", "file.xml:1:1: a document type"},
      {"<a>\n$(touch x)</a>", "file.xml:2:1: running the command 'touch x' is refused"},
      {"<a\n b='$(touch x)'/>", "file.xml:2:5: running the command 'touch x' is refused"},
      {"<a><![CDATA[$(touch x)]]></a>", "file.xml:1:13: running the command"},
      {"<a>\n \xff</a>", "file.xml:2:2: is not UTF-8 text"},
      {"<a>\xed\xa0\x80</a>", "is not UTF-8 text"},
      {std::string("<a>\0</a>", 8), "is not UTF-8 text"},
      {"<a>&#0;</a>", "names no character"},
      {"<a>&#xd800;</a>", "names no character"},
      {"<a>&#9999999999;</a>", "names no character"},
      {"<", "is not well-formed"},
      {"<a b=\"", "is not well-formed"},
      {"</a>", "is not well-formed"},
  };
  for (const auto& [text, expected] : cases) EXPECT_TRUE(has(refusal(text), expected)) << text;
}

TEST(XmlSource, OffsetsLeadBackThroughEdits) {
  OffsetMap map;  // "ab${X}cd" -> "ab1234cd"
  map.add(0, 0, true);
  map.add(2, 2, false);
  map.add(6, 6, true);
  EXPECT_EQ(map.to_input(1), 1u);
  EXPECT_EQ(map.to_input(4), 2u);
  EXPECT_EQ(map.to_input(7), 7u);
  EXPECT_EQ(OffsetMap().to_input(9), 9u);
}

}  // namespace
}  // namespace mvsim::xml_source_test
