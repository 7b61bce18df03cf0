// Files below roots: the file that was checked is the one that is opened.
#include "assets/file_roots.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <zlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "worldfile/world_text.h"

namespace mvsim::file_roots_test {
namespace {

namespace fs = std::filesystem;

// A root with a file in it, and a secret beside it.
class FileRootsTest : public ::testing::Test {
 protected:
  FileRootsTest() {
    folder_.write("root/a/in.txt", "in");
    secret_ = folder_.write("outside/secret.txt", "secret");
  }
  std::string root() const { return folder_.path() + "/root"; }
  // Returns the content of a file, or the reason why it cannot be opened.
  std::string read(const std::string& path) const {
    std::string reason;
    const auto file = FileRoots({root()}).open(path, reason);
    return file ? file->read(100) : reason;
  }
  void link(const std::string& target, const std::string& name) const {
    fs::create_symlink(target, root() + "/" + name);
  }

  TempFolder folder_;
  std::string secret_;
};

TEST_F(FileRootsTest, OpensWhatIsBelow) {
  EXPECT_EQ(read(root() + "/a/in.txt"), "in");
  EXPECT_EQ(read(root() + "/./a//../a/in.txt"), "in");
  link("a/in.txt", "near");
  link(root() + "/a", "folder");
  link("../root/a/in.txt", "around");
  for (const char* name : {"near", "folder/in.txt", "around", "../root/near"})
    EXPECT_EQ(read(root() + "/" + name), "in") << name;
  std::string reason;
  EXPECT_EQ(FileRoots({root()}).open(root() + "/around", reason)->path(), root() + "/a/in.txt");
}

// Names of what is near are offered of folders below the roots only, reached without leaving them.
TEST_F(FileRootsTest, FoldersAreFollowedAsFilesAre) {
  const FileRoots roots({root()});
  EXPECT_EQ(roots.folder(root() + "/a"), root() + "/a");
  EXPECT_EQ(roots.folder(root() + "/a/../nope/deeper"), root() + "/nope/deeper");
  link("../outside", "out");
  fs::create_directory(folder_.path() + "/outside/there");
  for (const std::string& path : {folder_.path() + "/outside", root() + "/out", root() + "/nope/../out",
                                  root() + "/out/there/../../root/a", root() + "/out/not/../../root/a",
                                  folder_.path() + "/outside/there/../../root/a"})
    EXPECT_EQ(roots.folder(path), std::nullopt) << path;
}

TEST_F(FileRootsTest, ARootMayBeNamedByALink) {
  fs::create_directory_symlink(root(), folder_.path() + "/alias");
  std::string reason;
  const FileRoots roots({folder_.path() + "/alias/"});
  for (const char* name : {"/alias/a/in.txt", "/root/a/in.txt"}) {
    const auto file = roots.open(folder_.path() + name, reason);
    ASSERT_TRUE(file) << reason;
    EXPECT_EQ(file->path(), root() + "/a/in.txt");
  }
  EXPECT_FALSE(roots.open(folder_.path() + "/alias/../outside/secret.txt", reason));
}

TEST_F(FileRootsTest, NothingOutsideIsOpened) {
  link(secret_, "link");
  link("../outside/secret.txt", "relative");
  link("../outside", "folder");
  link("link", "chain");
  fs::create_directory(root() + "/sub");
  link("../../outside/secret.txt", "sub/deep");
  for (const char* name :
       {"link", "relative", "folder/secret.txt", "chain", "sub/deep", "../outside/secret.txt",
        "a/../../outside/secret.txt", "folder/../root/a/in.txt", "..", "../..", "folder"})
    EXPECT_TRUE(has(read(root() + "/" + name), "is outside of the folders")) << name;
  for (const char* path :
       {"/etc/passwd", "/proc/self/environ", "/proc/self/fd/0", "/dev/zero", "/", "//etc//passwd"})
    EXPECT_TRUE(has(read(path), "is outside of the folders")) << path;
}

// A missing part of the way makes a path invalid, whatever its name would be without that part.
TEST_F(FileRootsTest, AMissingFolderBeforeALink) {
  link(secret_, "link");
  EXPECT_EQ(read(root() + "/nope/../link"), "does not exist");
  EXPECT_EQ(read(root() + "/a/in.txt/../../link"), "does not exist");
}

// The same words whether a file out there exists or not.
TEST_F(FileRootsTest, TellsNothingOfWhatLiesOutside) {
  link("../outside", "folder");
  link("../outside/none.txt", "dangling");
  link("../outside/secret.txt", "link");
  const std::string outside = read(root() + "/link");
  for (const char* name :
       {"dangling", "folder/none.txt", "folder/none/../secret.txt", "../outside/none.txt", "../none/x",
        "../outside/../root/a/in.txt", "../none/../root/a/in.txt", "link/x", "dangling/"})
    EXPECT_EQ(read(root() + "/" + name), outside) << name;
}

TEST_F(FileRootsTest, OnlyRegularFiles) {
  ASSERT_EQ(mkfifo((root() + "/pipe").c_str(), 0600), 0);
  const int socket_number = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string socket_path = root() + "/socket";
  if (socket_path.size() < sizeof address.sun_path) {
    std::copy(socket_path.begin(), socket_path.end(), address.sun_path);
    ASSERT_EQ(bind(socket_number, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(read(socket_path), "is not a regular file");
  }
  close(socket_number);
  link("pipe", "to_pipe");
  for (const char* name : {"/pipe", "/to_pipe", "/a", "/a/", "/.", ""})
    EXPECT_EQ(read(root() + name), "is not a regular file") << name;
  EXPECT_EQ(read(root() + "/a/in.txt/"), "does not exist");
  EXPECT_EQ(read(root() + "/a/in.txt/."), "does not exist");
  EXPECT_EQ(read(root() + "/none"), "does not exist");
}

TEST_F(FileRootsTest, CirclesAndBadNames) {
  link("two", "one");
  link("one", "two");
  link("self/self", "self");
  for (const char* name : {"/one", "/two", "/self", "/self/x"})
    EXPECT_EQ(read(root() + name), "is a circle of links") << name;
  EXPECT_EQ(read(""), "is not a file name");
  EXPECT_EQ(read(root() + std::string("/a/in.txt\0x", 11)), "is not a file name");
  EXPECT_EQ(read(root() + "/" + std::string(5000, 'a')), "is not a file name");
  EXPECT_TRUE(has(read(root() + "/" + std::string(300, 'a')), "cannot be read"));
}

TEST_F(FileRootsTest, LargeFilesAreNotRead) {
  const std::string path = folder_.write("root/sparse", "");
  fs::resize_file(path, uint64_t{1} << 40);
  std::string reason;
  const auto file = FileRoots({root()}).open(path, reason);
  ASSERT_TRUE(file) << reason;
  EXPECT_THROW(file->read(1000), Error);
  EXPECT_THROW(file->read_unpacked(1000, LoadGuard()), Error);
}

// While names change hands between a file and a link to the secret, no read ever gives the secret.
TEST_F(FileRootsTest, ARaceIsNotWon) {
  std::atomic<bool> done{false};
  const std::string name = root() + "/swapped", spare = root() + "/spare", other = root() + "/other";
  std::thread swapper([&] {
    while (!done) {
      std::ofstream(spare) << "in";
      fs::rename(spare, name);
      fs::create_symlink(secret_, other);
      fs::rename(other, name);
    }
  });
  for (int i = 0; i < 3000; ++i) {
    const std::string found = read(name);
    EXPECT_NE(found, "secret");
  }
  done = true;
  swapper.join();
}

TEST_F(FileRootsTest, PackedFiles) {
  const auto unpacked = [&](const std::string& content) {
    const std::string path = folder_.write("root/a.gz", content);
    std::string reason;
    try {
      return FileRoots({root()}).open(path, reason)->read_unpacked(1000, LoadGuard());
    } catch (const Error& e) {
      return "Error: " + std::string(e.what());
    }
  };
  const std::string path = folder_.path() + "/b.gz";
  const std::string plain(500, 'x');
  const gzFile out = gzopen(path.c_str(), "wb");
  gzwrite(out, plain.data(), 500);
  gzclose(out);
  const std::string packed = open_file(path).read(1000);
  EXPECT_EQ(unpacked("plain text"), "plain text");
  EXPECT_EQ(unpacked(packed), plain);
  EXPECT_EQ(unpacked(packed + packed), plain + plain) << "members follow each other, as gzip allows";
  std::string damaged = packed;
  damaged[damaged.size() - 6] ^= 1;  // the check sum
  for (const std::string& bad : {packed.substr(0, packed.size() - 3), packed.substr(0, 15), damaged})
    EXPECT_TRUE(has(unpacked(bad), "not a readable gzip file"));
  EXPECT_TRUE(has(unpacked(packed + packed + packed), "larger than 1000 bytes unpacked"));
}

TEST_F(FileRootsTest, FilesOfTheCaller) {
  EXPECT_EQ(open_file(secret_).read(100), "secret");
  ASSERT_EQ(mkfifo((root() + "/pipe").c_str(), 0600), 0);
  for (const std::string& path :
       {root() + "/pipe", root(), root() + "/none", std::string(), secret_ + '\0' + "x"})
    EXPECT_THROW(open_file(path), Error) << path;
}

}  // namespace
}  // namespace mvsim::file_roots_test
