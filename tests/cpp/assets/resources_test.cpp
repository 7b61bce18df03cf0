// Files that URIs name: mapped prefixes, the cache, members of zips; and names that are refused.
#include "assets/resources.h"

#include <sys/stat.h>

#include "assets/zip_writer.h"
#include "base/text.h"
#include "worldfile/world_text.h"

namespace mvsim::resources_test {
namespace {

namespace fs = std::filesystem;

constexpr size_t kAll = 1 << 20;

class ResourcesTest : public ::testing::Test {
 protected:
  // Content of what a URI names, "(nothing)" for an unknown URL, the message of an error.
  std::string read(const std::string& uri) {
    Resources resources({folder_.path() + "/root"}, options_, urls_);
    try {
      const std::optional<OpenFile> file = resources.find(uri, folder_.path() + "/root");
      return file ? file->read(kAll) : "(nothing)";
    } catch (const Error& e) {
      return e.what();
    }
  }
  void write(const std::string& name, const std::string& text) { folder_.write(name, text); }

  TempFolder folder_;
  ResourceOptions options_;
  std::set<std::string> urls_;
};

TEST_F(ResourcesTest, AUrlIsLookedUpByItsLongestPrefix) {
  write("root/a.txt", "own");
  write("models/deep/b.txt", "by the short prefix");
  write("special/b.txt", "by the long prefix");
  options_.prefixes = {{"https://host/models/", folder_.path() + "/models"},
                       {"https://host/models/deep/", folder_.path() + "/special"},
                       {"package://robots", folder_.path() + "/models"}};
  EXPECT_EQ(read("https://host/models/deep/b.txt"), "by the long prefix");
  EXPECT_EQ(read("package://robots/deep/b.txt"), "by the short prefix");
  EXPECT_EQ(read("https://host/models/absent.txt"), "(nothing)");
  EXPECT_EQ(read("https://other/models/deep/b.txt"), "(nothing)");
  EXPECT_EQ(read("package://robotsb.txt/x"), "(nothing)");  // a prefix ends between two parts
  EXPECT_EQ(read("a.txt"), "own");
  EXPECT_EQ(read("file://" + folder_.path() + "/root/a.txt"), "own");
}

TEST_F(ResourcesTest, TheCacheIsKeyedByTheFullUrl) {
  options_.cache = folder_.path() + "/cache";
  write("cache/https/one/models/rock.txt", "of one");
  write("cache/https/two/models/rock.txt", "of two");
  write("cache/old.txt", "by its base name, as MVSim keeps it");
  EXPECT_EQ(read("https://one/models/rock.txt"), "of one");
  EXPECT_EQ(read("https://two/models/rock.txt"), "of two");
  EXPECT_EQ(read("https://three/x/old.txt"), "by its base name, as MVSim keeps it");
  EXPECT_EQ(urls_, (std::set<std::string>{"https://one/models/rock.txt", "https://two/models/rock.txt",
                                          "https://three/x/old.txt"}));
}

TEST_F(ResourcesTest, MembersOfZips) {
  write("models/rock.zip", zip_of({{"rock/rock.dae", "<dae/>"}, {"rock/skin.png", "png", false}}));
  options_.prefixes = {{"https://host/", folder_.path() + "/models"}};
  Resources resources({folder_.path()}, options_, urls_);
  const std::optional<OpenFile> mesh = resources.find("https://host/rock.zip/rock/rock.dae", "/");
  ASSERT_TRUE(mesh);
  EXPECT_EQ(mesh->path(), folder_.path() + "/models/rock.zip/rock/rock.dae");
  EXPECT_EQ(mesh->read(kAll), "<dae/>");
  EXPECT_EQ(mesh->size(), 6u);
  // files that it names beside itself
  EXPECT_EQ(resources.find("skin.png", folder_of(mesh->path()))->read(kAll), "png");
  EXPECT_EQ(resources.find("../rock/skin.png", folder_of(mesh->path()))->read(kAll), "png");
  EXPECT_EQ(urls_, std::set<std::string>{"https://host/rock.zip"});
  write("root/local.zip", zip_of({{"x.txt", "local"}}));
  EXPECT_EQ(read("local.zip/x.txt"), "local");
  EXPECT_TRUE(has(read("local.zip/y.txt"), "has no member 'y.txt'"));
  EXPECT_TRUE(has(read("local.zip/../../x"), "leads out of its zip"));
}

// T43
TEST_F(ResourcesTest, HostileZips) {
  const auto error = [&](const std::string& zip, const std::string& member = "a") {
    write("root/z.zip", zip);
    return read("z.zip/" + member);
  };
  const std::string zeros(32 << 20, '\0');
  EXPECT_TRUE(has(error(zip_of({{"a", zeros}})), "expected at most 100 times as many"));
  EXPECT_TRUE(
      has(error(zip_of({{.name = "a", .content = zeros, .announced = 1000}})), "larger than announced"));
  EXPECT_TRUE(has(error(zip_of({{.name = "a", .content = "x", .announced = 500000}})), "cannot be unpacked"));
  EXPECT_TRUE(has(error(zip_of({{.name = "a", .content = "/etc/passwd", .mode = 0120777}})), "link"));
  EXPECT_TRUE(has(error(zip_of({{"a", "1"}, {"a", "2"}})), "is twice"));
  EXPECT_TRUE(has(error(zip_of({{"../../a", "slip"}}), "a"), "has no member"));
  EXPECT_TRUE(has(error(zip_of({{"a", "1"}}, 65535)), "zip64"));
  EXPECT_TRUE(has(error(zip_of({{"a", "1"}}, 2000)), "damaged table"));
  EXPECT_TRUE(has(error("no zip at all, but long enough to hold the record at its end"), "not a zip file"));
  const std::string sound = zip_of({{"a", "some content that is packed"}});
  for (size_t i = 0; i < sound.size(); ++i) {  // each byte of it changed: an error, or the same content
    std::string bad = sound;
    bad[i] = static_cast<char>(bad[i] ^ 0x55);
    EXPECT_NE(error(bad), "");
    error(sound.substr(0, i));
  }
  const std::string inner = zip_of({{"b", "x"}});
  EXPECT_TRUE(has(error(zip_of({{"n.zip", inner}}), "n.zip/b"), "has no member"));  // none within another
}

// T42, T45
TEST_F(ResourcesTest, UrisThatLeadElsewhere) {
  write("secret.txt", "secret");
  write("models/a.txt", "a");
  options_.prefixes = {{"https://host/", folder_.path() + "/models"}};
  options_.cache = folder_.path() + "/models";
  for (const std::string url :
       {"https://host/../secret.txt", "https://host//etc/passwd", "https://host/./a.txt", "https://host/",
        "https://host/a.txt;touch x", "https://host/`touch x`", "https://host/$(touch x)",
        "https://host/a\nb", "https://host/a b", "https://host/a\\b", "https:///a.txt"})
    EXPECT_TRUE(has(read(url), "https:")) << url;
  for (const std::string url : {"ftp://host/a.txt", "data://x"})
    EXPECT_TRUE(has(read(url), "expected a path"));
  for (const std::string path : {"../secret.txt", "/dev/zero", "file:///etc/passwd", "//server/share/x"})
    EXPECT_TRUE(has(read(path), "is outside of the folders")) << path;
  fs::create_symlink(folder_.path() + "/secret.txt", folder_.path() + "/models/link.txt");
  EXPECT_TRUE(has(read("https://host/link.txt"), "is outside of the folders"));
  mkfifo((folder_.path() + "/models/pipe").c_str(), 0600);
  EXPECT_TRUE(has(read("https://host/pipe"), "is not a regular file"));
}

TEST_F(ResourcesTest, AWorldNamesThemEverywhereButInIncludes) {
  write("maps/m.zip", zip_of({{"m.pgm", "P2 2 2 255 0 255 255 255"}}));
  WorldLoadOptions options;
  options.resources.prefixes = {{"https://host/", folder_.path() + "/maps"}};
  const std::string grid = "<element class='occupancy_grid'><file>https://host/m.zip/m.pgm</file></element>";
  EXPECT_EQ(load_world_text(world_of(grid), folder_.path(), options).grids.at(0).image->width, 2);
  EXPECT_TRUE(has(error_of(grid), "mvsim-gym fetch WORLD"));
  EXPECT_TRUE(has(error_of("<include file='https://host/a.xml'/>"), "takes a local file"));
  const std::string path = folder_.write("w.xml", world_of(grid));
  const NamedUrls named = named_urls(path, {});
  EXPECT_EQ(named.urls, std::vector<std::string>{"https://host/m.zip"});
  EXPECT_TRUE(has(named.error, "fetch"));
}

}  // namespace
}  // namespace mvsim::resources_test
