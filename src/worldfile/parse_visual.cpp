#include "assets/read_mesh.h"
#include "worldfile/include.h"
#include "worldfile/parse.h"

namespace mvsim {
namespace {

constexpr size_t kMaxBesideBytes = size_t{64} << 20;

// What a mesh names lies beside it, in the same folder or zip file.
OpenBeside files_beside(LoadState& state, const OpenFile& mesh) {
  return [&state, folder = folder_of(mesh.path())](const std::string& name,
                                                   std::string& reason) -> std::optional<FileBeside> {
    if (name.find("://") != std::string::npos) {  // nor would `fetch` go where a mesh sends it
      reason = "is no file beside the mesh";
      return std::nullopt;
    }
    try {
      if (std::optional<OpenFile> file = state.resources.find(name, folder)) {
        const auto opened = std::make_shared<const OpenFile>(std::move(*file));
        return FileBeside{opened->path(), [opened] { return opened->read(kMaxBesideBytes); }};
      }
      reason = "is not fetched";
    } catch (const Error& e) {
      reason = e.what();
    }
    return std::nullopt;
  };
}

// Nothing: it is not drawn.
std::optional<VisualSpec> parse_visual(LoadState& state, const Element& e, const Scope& scope) {
  const Fields fields(state, scope, e);
  VisualSpec out;
  out.where = e.where();
  const Tags<VisualSpec> tags = visual_tags();
  read_tags(state, fields, tags, out);
  fields.warn_unknown("visual", tag_names(tags));
  if (const auto name = fields.scalar("name")) out.name = trimmed(name->text);
  if (const auto enabled = fields.scalar("enabled"); enabled && !parse_bool(*enabled)) return std::nullopt;
  const std::optional<NamedText> uri = fields.scalar("model_uri");
  if (!uri || trimmed(uri->text).empty()) return std::nullopt;
  out.mesh = read_model(state, *uri);
  if (out.mesh && out.mesh->triangle_count == 0)
    throw WorldFileError(uri->where,
                         "<model_uri>: found a mesh of lines alone, which are not drawn, expected triangles");
  return out;
}

}  // namespace

std::shared_ptr<const MeshFile> read_model(LoadState& state, NamedText uri) {
  uri.text = trimmed(uri.text);
  const std::optional<OpenFile> file = find_named_file(state, uri, state.folder);
  if (!file) return nullptr;
  std::shared_ptr<const MeshFile> mesh = decoded(uri.where, "<model_uri>", [&] {
    return state.session.cache.mesh(*file, files_beside(state, *file), uri.where, state.session.guard);
  });
  for (const std::string& warning : mesh->warnings)
    state.warnings.add("mesh " + file->path() + warning, uri.where, "<model_uri>: " + warning);
  return mesh;
}

std::shared_ptr<const ColorImage> read_texture(LoadState& state, NamedText uri) {
  uri.text = trimmed(uri.text);
  const std::optional<OpenFile> file = find_named_file(state, uri, state.folder);
  if (!file) return nullptr;
  return decoded(uri.where, "<" + uri.name + ">",
                 [&] { return state.session.cache.color_image(*file, uri.where, state.session.guard); });
}

std::shared_ptr<const ColorImage> read_texture(LoadState& state, const Fields& fields, std::string_view tag) {
  const std::optional<NamedText> uri = fields.scalar(tag);
  return uri && !trimmed(uri->text).empty() ? read_texture(state, *uri) : nullptr;
}

std::vector<VisualSpec> parse_visuals(LoadState& state, const Fields& object) {
  std::vector<VisualSpec> out;
  for (const Element& e : object.nodes("visual"))
    if (std::optional<VisualSpec> visual = parse_visual(state, e, object.scope()))
      out.push_back(std::move(*visual));
  return out;
}

}  // namespace mvsim
