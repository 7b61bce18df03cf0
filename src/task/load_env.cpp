// The parser of environment files. Unlike in world files, which follow MVSim, everything unknown is an error.
#include <algorithm>
#include <filesystem>

#include "assets/file_roots.h"
#include "assets/open_file.h"
#include "task/env_spec.h"
#include "task/term_reader.h"
#include "task/track/tracker.h"
#include "worldfile/xml_source.h"

namespace mvsim {
namespace {

constexpr size_t kMaxEnvFileBytes = size_t{1} << 20;

using Names = std::vector<std::string>;

[[noreturn]] void fail_unknown(const SourceLocation& where, const std::string& parent, const char* what,
                               std::string_view name, const Names& known) {
  throw WorldFileError(where, "<" + parent + ">: found the unknown " + what + " '" + shortened(name) + "', " +
                                  (known.empty() ? "expected none" : expected_one_of(name, known)));
}

std::vector<NamedText> attributes_of(const Element& e) {
  std::vector<NamedText> out;
  for (const pugi::xml_attribute a : e.node.attributes()) {
    const SourceLocation where = e.where(a);
    for (const NamedText& other : out)
      if (other.name == a.name())
        throw WorldFileError(
            where, "<" + std::string(e.tag()) + ">: the attribute '" + other.name + "' is given twice");
    out.push_back({a.name(), a.value(), where});
  }
  return out;
}

void refuse_unknown_attributes(const Element& e, const Names& known) {
  for (const pugi::xml_attribute a : e.node.attributes())
    if (std::find(known.begin(), known.end(), a.name()) == known.end())
      fail_unknown(e.where(a), std::string(e.tag()), "attribute", a.name(), known);
}

void refuse_content(const Element& e) {
  for (const pugi::xml_node child : e.node.children()) {
    if (child.type() == pugi::node_comment) continue;
    throw WorldFileError(e.where(),
                         "<" + std::string(e.tag()) + ">: found content, expected attributes only");
  }
}

// Reads the element as a term. Its name is the attribute `name`, else its class, else (reset terms) its tag.
TermSpec read_term(const Element& e, const char* identity) {
  TermSpec term;
  term.params.tag = e.tag();
  term.params.where = e.where();
  term.params.values = attributes_of(e);
  term.params.class_name = e.node.attribute("class").value();
  term.name =
      e.node.attribute("name") ? e.node.attribute("name").value() : e.node.attribute(identity).value();
  return term;
}

TermSpec read_leaf(const Element& e, const char* identity) {
  refuse_content(e);
  return read_term(e, identity);
}

TermSpec read_class_term(const Element& e) {
  TermSpec term = read_leaf(e, "class");
  if (term.params.class_name.empty())
    throw WorldFileError(e.where(), "<" + std::string(e.tag()) + ">: expected the attribute 'class'");
  return term;
}

template <typename T>
void check_count(const std::vector<T>& list, size_t max, const SourceLocation& where,
                 const std::string& what) {
  if (list.size() >= max)
    throw WorldFileError(
        where, what + ": found more than " + std::to_string(max) + " of them, expected at most that many");
}

void add_term(std::vector<TermSpec>& terms, TermSpec term) {
  for (const TermSpec& other : terms)
    if (other.name == term.name)
      throw WorldFileError(term.params.where, describe(term) + ": a second term is called '" + term.name +
                                                  "', expected another name (attribute 'name')");
  append_term(terms, std::move(term));
}

AgentSpec read_agent(const Element& element) {
  refuse_unknown_attributes(element, {"vehicle", "vehicles"});
  AgentSpec agent;
  agent.where = element.where();
  agent.vehicle = element.node.attribute("vehicle").value();
  agent.vehicles = element.node.attribute("vehicles").value();
  agent.vehicle_where = element.where();
  if (element.node.attribute("vehicle") && element.node.attribute("vehicles"))
    throw WorldFileError(element.where(), "<agent>: found 'vehicle' and 'vehicles', expected one of them");
  if (element.node.attribute("vehicles") && agent.vehicles.empty())
    throw WorldFileError(element.where(),
                         "<agent>, vehicles: found nothing, expected a pattern such as 'r*'");
  bool has_action = false;
  for (const Element& e : children_of(element)) {
    if (e.tag() == "action") {
      if (has_action) throw WorldFileError(e.where(), "<agent>: found a second <action>, expected one");
      agent.action = read_class_term(e);
      has_action = true;
    } else if (e.tag() == "observe") {
      add_term(agent.observations, read_class_term(e));
    } else if (e.tag() == "reward") {
      add_term(agent.rewards, read_class_term(e));
    } else if (e.tag() == "terminate") {
      add_term(agent.terminations, read_class_term(e));
    } else {
      fail_unknown(e.where(), "agent", "tag", e.tag(), {"action", "observe", "reward", "terminate"});
    }
  }
  if (!has_action) throw WorldFileError(element.where(), "<agent>: expected an <action>");
  if (agent.observations.empty())
    throw WorldFileError(element.where(), "<agent>: expected at least one <observe>");
  return agent;
}

// Puts the terms of the root before an agent's own.
void add_shorthand(const std::vector<TermSpec>& root, std::vector<TermSpec>& terms) {
  std::vector<TermSpec> all = root;
  for (TermSpec& term : terms) add_term(all, std::move(term));
  terms = std::move(all);
}

void read_reset(const Element& reset, EnvSpec& spec) {
  refuse_unknown_attributes(reset, {});
  for (const Element& e : children_of(reset)) {
    TermSpec term = read_leaf(e, "name");
    if (term.name.empty()) term.name = e.tag();
    term.params.class_name.clear();
    add_term(spec.resets, std::move(term));
  }
}

void read_knob(const Element& e, EnvSpec& spec) {
  refuse_unknown_attributes(e, {"name", "value", "type"});
  refuse_content(e);
  for (const char* needed : {"name", "value"})
    if (!e.node.attribute(needed))
      throw WorldFileError(e.where(), "<knob>: expected the attribute '" + std::string(needed) + "'");
  KnobSpec knob;
  knob.value = {e.node.attribute("name").value(), e.node.attribute("value").value(), e.where()};
  knob.defined = e.where();
  if (const pugi::xml_attribute type = e.node.attribute("type")) {
    if (std::string_view(type.value()) != "file")
      throw WorldFileError(e.where(type),
                           "<knob>, type: found '" + shortened(type.value()) + "', expected 'file'");
    knob.is_file = true;
  }
  const Names taken = field_names();
  if (knob.value.name == "id" || std::find(taken.begin(), taken.end(), knob.value.name) != taken.end())
    throw WorldFileError(e.where(), "<knob>: '" + knob.value.name +
                                        "' is a keyword of every environment, expected another name");
  for (const KnobSpec& other : spec.knobs)
    if (other.value.name == knob.value.name)
      throw WorldFileError(e.where(), "<knob>: a second knob is called '" + other.value.name + "'");
  check_count(spec.knobs, kMaxKnobs, e.where(), "<knob>");
  spec.knobs.push_back(std::move(knob));
}

void read_level(const Element& e, EnvSpec& spec) {
  refuse_unknown_attributes(e, {"level"});
  refuse_content(e);
  if (!spec.randomize_level.text.empty())
    throw WorldFileError(e.where(), "<randomize>: found a second level, expected one");
  const pugi::xml_attribute level = e.node.attribute("level");
  spec.randomize_level = {"level", level.value(), e.where(level)};
}

void read_tracker(const Element& e, EnvSpec& spec) {
  for (const TermSpec& other : spec.trackers)
    if (other.params.tag == e.tag())
      throw WorldFileError(e.where(),
                           "<mvsim_env>: found a second <" + std::string(e.tag()) + ">, expected one");
  spec.trackers.push_back(read_leaf(e, "name"));
}

// Reads the attributes of the root, like those of a term.
void read_root(const Element& root, EnvSpec& spec) {
  refuse_unknown_attributes(root, {"id", "world", "centreline", "variants", "world_seed", "control_period",
                                   "time_limit", "substeps", "on_end"});
  const TermSpec term = read_term(root, "id");
  TermReader reader(term);
  spec.id = reader.text("id", "");
  reader.required_text("world");
  spec.world = *term.params.find("world");
  if (reader.has("centreline")) spec.centreline = *term.params.find("centreline");
  spec.variants = reader.integer("variants", 1, 1, kMaxVariants);
  spec.world_seed = reader.number("world_seed", 0, {0, kMaxWorldSeed});
  spec.control_period =
      reader.required_number("control_period", {kShortestControlPeriod, kLongestControlPeriod});
  spec.control_where = term.params.find("control_period")->where;
  spec.time_limit = reader.number("time_limit", 0, {0, kMaxNumber});
  spec.substeps = reader.integer("substeps", 0, 1, kMaxSubsteps);
  spec.on_end = static_cast<OnEnd>(reader.choice("on_end", on_end_names()));
}

EnvSpec read_document(const XmlSource& source) {
  const std::vector<Element> roots = children_of(source.document(), source);
  if (roots.empty())
    throw WorldFileError({std::make_shared<const std::string>(source.path()), 1, 1},
                         "found no element, expected <mvsim_env>");
  const Element& root = roots.front();
  if (root.tag() != "mvsim_env")
    throw WorldFileError(root.where(), "found <" + std::string(root.tag()) + ">, expected <mvsim_env>");
  EnvSpec spec;
  spec.path = source.path();
  spec.where = root.where();
  read_root(root, spec);
  std::vector<TermSpec> rewards, terminations;  // of all agents
  const Names trackers = tracker_tags();
  for (const Element& e : children_of(root)) {
    const std::string_view tag = e.tag();
    if (tag == "agent") {
      check_count(spec.agents, kMaxAgents, e.where(), "<agent>");
      spec.agents.push_back(read_agent(e));
    } else if (tag == "reset") {
      read_reset(e, spec);
    } else if (tag == "reward") {
      add_term(rewards, read_class_term(e));
    } else if (tag == "terminate") {
      add_term(terminations, read_class_term(e));
    } else if (tag == "randomize") {
      if (e.node.attribute("level")) {
        read_level(e, spec);
        continue;
      }
      TermSpec term = read_leaf(e, "of");
      if (term.name.empty())
        throw WorldFileError(e.where(), "<randomize>: expected the attribute 'of' or 'level'");
      add_term(spec.randomizations, std::move(term));
    } else if (tag == "people" || tag == "move") {
      TermSpec term = read_leaf(e, "name");
      if (term.name.empty()) term.name = tag;
      add_term(spec.movers, std::move(term));
    } else if (std::ranges::find(trackers, tag) != trackers.end()) {
      read_tracker(e, spec);
    } else if (tag == "knob") {
      read_knob(e, spec);
    } else {
      Names known{"agent", "reset", "reward", "terminate", "randomize", "people", "move"};
      known.insert(known.end(), trackers.begin(), trackers.end());
      known.emplace_back("knob");
      fail_unknown(e.where(), "mvsim_env", "tag", tag, known);
    }
  }
  if (spec.agents.empty()) throw WorldFileError(root.where(), "<mvsim_env>: expected an <agent>");
  for (AgentSpec& agent : spec.agents) {
    add_shorthand(rewards, agent.rewards);
    add_shorthand(terminations, agent.terminations);
  }
  return spec;
}

// Reads the id alone: an import of the package lists all environments.
std::string id_of(const std::string& path) {
  pugi::xml_document document;
  const std::string text = open_file(path).read(kMaxEnvFileBytes);
  document.load_buffer(text.data(), text.size());
  return document.child("mvsim_env").attribute("id").value();
}

}  // namespace

std::vector<std::string> on_end_names() {
  return {"wait", "respawn", "end_all"};
}

void append_term(std::vector<TermSpec>& terms, TermSpec term) {
  check_count(terms, kMaxTerms, term.params.where, describe(term));
  terms.push_back(std::move(term));
}

EnvSpec load_env_text(const std::string& text, const std::string& path, const EnvLoadOptions&) {
  const auto file = std::make_shared<const SourceText>(path, text);
  const XmlSource source(file, EditedText{text, {}});
  if (!source.mismatches().empty())
    throw WorldFileError(source.mismatches().front().where, source.mismatches().front().text);
  return read_document(source);
}

EnvSpec load_env(const std::string& path, const EnvLoadOptions& options) {
  require_file(path, "environment");
  return load_env_text(open_file(path).read(kMaxEnvFileBytes), path, options);
}

std::vector<EnvListing> list_envs(const std::string& folder) {
  std::vector<EnvListing> out;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".env.xml")) continue;
    const std::string id = id_of(path);
    if (!id.empty()) out.push_back({id, path});
  }
  std::sort(out.begin(), out.end(), [](const EnvListing& a, const EnvListing& b) { return a.id < b.id; });
  return out;
}

}  // namespace mvsim
