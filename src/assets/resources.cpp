#include "assets/resources.h"

#include <algorithm>
#include <filesystem>

#include "assets/open_file.h"
#include "base/text.h"

namespace mvsim {
namespace {

constexpr const char* kAbsentFile = "does not exist";

// Returns the folders that exist, sorted by their prefixes, the longest first.
ResourceOptions prepared(ResourceOptions options) {
  const auto is_missing = [](const std::string& folder) {
    std::error_code error;
    return !std::filesystem::is_directory(folder, error);
  };
  if (is_missing(options.cache)) options.cache.clear();
  std::erase_if(options.prefixes, [&](const auto& entry) { return is_missing(entry.second); });
  std::stable_sort(options.prefixes.begin(), options.prefixes.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  return options;
}

std::vector<std::string> all_roots(std::vector<std::string> roots, const ResourceOptions& options) {
  for (const auto& [prefix, folder] : options.prefixes) roots.push_back(folder);
  if (!options.cache.empty()) roots.push_back(options.cache);
  return roots;
}

// Throws Error if a character is not allowed in a URL or a part of the path is empty, "." or "..".
void check_url(const std::string& url) {
  const auto refuse = [&](const std::string& why) { return Error("'" + shortened(url, 200) + "' " + why); };
  for (const char c : url)
    if (static_cast<unsigned char>(c) <= ' ' ||
        std::string_view(";`'\"<>\\^{|}$*\x7f").find(c) != std::string_view::npos)
      throw refuse("has a character that no URL may have");
  const std::string_view rest = std::string_view(url).substr(url.find("://") + 3);
  for (size_t begin = 0; begin <= rest.size();) {
    const size_t end = std::min(rest.find('/', begin), rest.size());
    const std::string_view part = rest.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") throw refuse("is not the URL of a file");
    begin = end + 1;
  }
}

// "a.zip/b" -> "a.zip" and "b"; no member: all of it and "".
std::pair<std::string, std::string> split_zip(const std::string& path) {
  const size_t at = path.find(".zip/");
  if (at == std::string::npos) return {path, ""};
  return {path.substr(0, at + 4), path.substr(at + 5)};
}

// Returns the part of `url` after `prefix`, or nothing if `url` has another prefix. A prefix ends between two
// parts of the path.
std::optional<std::string> rest_of(const std::string& url, const std::string& prefix) {
  if (prefix.empty() || !url.starts_with(prefix)) return std::nullopt;
  const std::string rest = url.substr(prefix.size());
  if (rest.starts_with('/')) return rest.substr(1);
  return prefix.ends_with('/') ? std::optional(rest) : std::nullopt;
}

constexpr size_t kMaxImageBytes = size_t{256} << 20;
constexpr size_t kMaxMeshBytes = size_t{128} << 20;
constexpr size_t kMaxTextureBytes = size_t{64} << 20;

// The entry of `path`, made by `make()` if there is none.
template <typename T, typename Make>
std::shared_ptr<const T> find_or_make(std::map<std::string, std::shared_ptr<const T>>& held,
                                      const std::string& path, const Make& make) {
  const auto found = held.find(path);
  if (found != held.end()) return found->second;
  return held[path] = std::make_shared<const T>(make());
}

}  // namespace

bool is_url(std::string_view uri) {
  return uri.starts_with("https://") || uri.starts_with("http://") || uri.starts_with("package://");
}

Resources::Resources(std::vector<std::string> roots, ResourceOptions options, std::set<std::string>& urls)
    : options_(prepared(std::move(options))), roots_(all_roots(std::move(roots), options_)), urls_(urls) {}

OpenFile Resources::open_member(OpenFile zip, const std::string& member) {
  const std::string name = std::filesystem::path(member).lexically_normal().string();
  if (name.starts_with("..") || name.starts_with('/'))
    throw Error("'" + shortened(member, 200) + "' leads out of its zip file");
  std::shared_ptr<const ZipFile>& known = zips_[zip.path()];
  if (!known) known = std::make_shared<const ZipFile>(std::move(zip));
  return known->member(name);
}

std::optional<OpenFile> Resources::find_url(const std::string& url) {
  check_url(url);
  const auto [file, member] = split_zip(url);
  urls_.insert(file);
  std::vector<std::string> candidates;
  for (const auto& [prefix, folder] : options_.prefixes)
    if (const std::optional<std::string> rest = rest_of(file, prefix))
      candidates.push_back(join_path(folder, *rest));
  if (!options_.cache.empty() && file.starts_with("http")) {
    std::string name = file;
    candidates.push_back(join_path(options_.cache, name.erase(name.find("://"), 2)));
    candidates.push_back(join_path(options_.cache, file.substr(file.rfind('/') + 1)));
  }
  std::string reason;
  for (const std::string& candidate : candidates) {
    if (auto found = roots_.open(candidate, reason))
      return member.empty() ? std::move(found) : open_member(std::move(*found), member);
    if (reason != kAbsentFile) throw Error("the file '" + shortened(candidate, 200) + "' " + reason);
  }
  return std::nullopt;
}

std::optional<OpenFile> Resources::find(const std::string& uri, const std::string& folder) {
  if (is_url(uri)) return find_url(uri);
  if (const size_t colon = uri.find("://"); colon != std::string::npos && !uri.starts_with("file://"))
    throw Error("'" + shortened(uri, 200) + "': expected a path, file://, http://, https:// or package://");
  const std::string path = uri.starts_with("file://") ? uri.substr(7) : uri;
  const std::string candidate = join_path(folder, path);
  std::string reason;
  if (auto file = roots_.open(candidate, reason)) return file;
  const auto [zip, member] = split_zip(candidate);
  std::string zip_reason;
  if (!member.empty())
    if (auto file = roots_.open(zip, zip_reason)) return open_member(std::move(*file), member);
  throw Error("the file '" + shortened(path, 200) + "' " + reason + nearby_file(roots_, {candidate}));
}

std::shared_ptr<const std::string> AssetCache::text(const OpenFile& file, size_t max_bytes) {
  return find_or_make(texts_, file.path(), [&] { return file.read(max_bytes); });
}

std::shared_ptr<const MapYaml> AssetCache::map_yaml(const OpenFile& file, size_t max_bytes) {
  return find_or_make(yamls_, file.path(), [&] { return parse_map_yaml(file.path(), file.read(max_bytes)); });
}

std::shared_ptr<const GrayLevels> AssetCache::image(const OpenFile& file, const SourceLocation& where,
                                                    LoadGuard& guard) {
  return find_or_make(images_, file.path(), [&] {
    const TemporaryMemory memory(guard, static_cast<double>(file.size()), where, "the image's file");
    return read_gray_levels(file.read(kMaxImageBytes), file.path(), where, guard);
  });
}

std::shared_ptr<const MrptGrid> AssetCache::mrpt_grid(const OpenFile& file, const SourceLocation& where,
                                                      LoadGuard& guard) {
  return find_or_make(mrpt_grids_, file.path(), [&] { return read_mrpt_grid(file, where, guard); });
}

std::shared_ptr<const ColorImage> AssetCache::color_image(const std::string& path, const ReadBytes& read,
                                                          const SourceLocation& where, LoadGuard& guard) {
  if (const auto bad = bad_images_.find(path); bad != bad_images_.end()) throw Error(bad->second);
  try {
    return find_or_make(color_images_, path, [&] { return read_color_image(read(), path, where, guard); });
  } catch (const WorldFileError&) {
    throw;
  } catch (const Error& e) {
    bad_images_[path] = e.what();
    throw;
  }
}

std::shared_ptr<const ColorImage> AssetCache::color_image(const OpenFile& file, const SourceLocation& where,
                                                          LoadGuard& guard) {
  if (const auto held = color_images_.find(file.path()); held != color_images_.end()) return held->second;
  const TemporaryMemory memory(guard, static_cast<double>(file.size()), where, "the image's file");
  return color_image(
      file.path(), [&] { return file.read(kMaxTextureBytes); }, where, guard);
}

std::shared_ptr<const MeshFile> AssetCache::mesh(const OpenFile& file, const OpenBeside& open_beside,
                                                 const SourceLocation& where, LoadGuard& guard) {
  return find_or_make(meshes_, file.path(), [&] {
    const TemporaryMemory memory(guard, static_cast<double>(file.size()), where, "the mesh's file");
    const std::string bytes = file.read(kMaxMeshBytes);
    return read_mesh({file.path(), bytes, open_beside}, where, guard,
                     [&](const std::string& path, const ReadBytes& read) {
                       return color_image(path, read, where, guard);
                     });
  });
}

}  // namespace mvsim
