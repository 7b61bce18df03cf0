// <element class="pointcloud">: points for eyes, from a text file.
#include "assets/point_rows.h"
#include "worldfile/include.h"
#include "worldfile/parse.h"

namespace mvsim {

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
  read_tags(state, fields, point_cloud_tags(), out);
  if (const std::optional<NamedText> pose = fields.scalar("pose_3d"))
    out.pose =
        pose_of_numbers(*pose, parse_numbers(*pose, 6, 6, "six numbers x y z yaw pitch roll (m, degrees)"));
  fields.warn_unknown("element class=\"pointcloud\"", tag_names(point_cloud_tags()));
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

}  // namespace mvsim
