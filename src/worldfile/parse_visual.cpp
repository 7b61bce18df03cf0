// Visible things without a body: <visual> meshes, <element class="pointcloud">, <lights> and
// <element class="skybox">.
#include <algorithm>

#include "assets/data_files.h"
#include "assets/read_mesh.h"
#include "worldfile/include.h"
#include "worldfile/parse.h"

namespace mvsim {
namespace {

constexpr size_t kMaxBesideBytes = size_t{64} << 20;

// Returns an opener of the files that a mesh names, which lie in its folder or zip file.
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
  const Tags<VisualSpec> tags = kVisualTags;
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

void parse_point_cloud(LoadState& state, const Fields& fields, const Element& e) {
  constexpr size_t kMaxPoints = 200000;
  PointCloudSpec out;
  out.where = e.where();
  out.order = state.order++;
  std::optional<NamedText> file = fields.scalar("file_txt_3d");
  if (!file) file = fields.scalar("file");
  const size_t columns = file ? 3 : 2;
  if (!file) file = fields.scalar("file_txt_2d");
  if (!file)
    throw WorldFileError(out.where,
                         "<element class=\"pointcloud\"> has no <file_txt_3d> and no <file_txt_2d>");
  read_tags(state, fields, kPointCloudTags, out);
  if (const std::optional<NamedText> pose = fields.scalar("pose_3d"))
    out.pose =
        pose_of_numbers(*pose, parse_numbers(*pose, 6, 6, "six numbers x y z yaw pitch roll (m, degrees)"));
  fields.warn_unknown("element class=\"pointcloud\"", tag_names(kPointCloudTags));
  const OpenFile opened = open_named_file(state, *file, state.folder);
  const std::vector<double> rows = decoded(file->where, "<" + file->name + ">", [&] {
    return read_point_rows(opened, columns, kMaxPoints, file->where, state.session.guard);
  });
  state.budget.rows(std::max(rows.size() / columns, opened.size() / kLeastRowBytes), file->where);
  state.budget.seen_points(rows.size() / columns, file->where);
  for (size_t i = 0; i < rows.size(); i += columns)
    out.points.push_back({rows[i], rows[i + 1], columns == 3 ? rows[i + 2] : 0});
  add_element_visuals(state, fields, out.order, out.pose);
  state.world.point_clouds.push_back(std::move(out));
}

// Reads <lights>. Values that a second element leaves out stay as they were.
void parse_lights(LoadState& state, const Element& e) {
  const Fields fields(state, {}, e);
  LightsSpec lights = state.world.lights.value_or(LightsSpec{});
  read_tags(state, fields, kLightTags, lights);
  fields.warn_unknown(e.tag(), tag_names(kLightTags));
  if (const auto enabled = fields.scalar("enabled"); enabled && !parse_bool(*enabled)) return;
  state.world.lights = lights;
}

void parse_skybox(LoadState& state, const Fields& fields, const Element& e) {
  constexpr const char* kSides[] = {"Front", "Back", "Down", "Up", "Left", "Right"};
  constexpr std::string_view kSide = "%s";
  const std::optional<NamedText> textures = fields.scalar("textures");
  const size_t at = textures ? textures->text.find(kSide) : std::string::npos;
  if (at == std::string::npos || textures->text.find(kSide, at + 1) != std::string::npos)
    throw WorldFileError(textures ? textures->where : e.where(),
                         "<element class=\"skybox\">: expected <textures> with one %s in it");
  fields.warn_unknown("element class=\"skybox\"", tag_names(kSkyboxTags));
  SkyboxSpec box;
  std::transform(std::begin(kSides), std::end(kSides), box.begin(), [&](const char* side) {
    NamedText file = *textures;
    file.text.replace(at, kSide.size(), side);
    return read_texture(state, file);
  });
  // without one of its sides it is none
  if (std::none_of(box.begin(), box.end(), [](const auto& image) { return image == nullptr; }))
    state.world.skybox = box;
}

}  // namespace mvsim
