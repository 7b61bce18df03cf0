// A decoder in the confined child can only decode; limits and faults end it.
#include "assets/confined_child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <new>

#include "base/memory.h"
#include "worldfile/world_text.h"

namespace mvsim::confined_child_test {
namespace {

const auto kUnconfined = "a sanitizer needs the system calls that the child is denied";

std::string error_of_child(const std::function<std::string()>& work, ChildLimits limits = {}) {
  try {
    run_in_confined_child(limits, LoadGuard(), work);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

std::string run_for_ever() {
  volatile bool go_on = true;
  while (go_on) {
  }
  return "";
}

// "" where the call was denied, else its name.
std::string if_allowed(const char* name, long result) {
  return result < 0 && errno == EPERM ? "" : std::string(name) + " ";
}

TEST(ConfinedChild, HandsBackWhatItsWorkReturnsOrThrows) {
  const std::string large(3 << 20, 'x');
  EXPECT_EQ(run_in_confined_child({}, LoadGuard(), [&] { return large; }), large);
  EXPECT_EQ(run_in_confined_child({}, LoadGuard(), [] { return std::string(); }), "");
  EXPECT_EQ(error_of_child([]() -> std::string { throw Error("no such thing"); }), "no such thing");
  EXPECT_EQ(error_of_child([]() -> std::string { throw 1; }), "unknown error");
}

TEST(ConfinedChild, OpensNothing) {
  if (kIsSanitized) GTEST_SKIP() << kUnconfined;
  const TempFolder folder;
  const std::string file = folder.write("file", "text"), absent = folder.path() + "/new";
  EXPECT_EQ(run_in_confined_child({}, LoadGuard(),
                                  [&] {
                                    return if_allowed("read", open(file.c_str(), O_RDONLY)) +
                                           if_allowed("write", open(file.c_str(), O_WRONLY)) +
                                           if_allowed("create",
                                                      open(absent.c_str(), O_CREAT | O_RDWR, 0600)) +
                                           if_allowed("remove", unlink(file.c_str())) +
                                           if_allowed("folder", mkdir(absent.c_str(), 0700)) +
                                           if_allowed("link", symlink(file.c_str(), absent.c_str())) +
                                           if_allowed("rename", rename(file.c_str(), absent.c_str()));
                                  }),
            "");
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_FALSE(std::filesystem::exists(absent));
}

TEST(ConfinedChild, SendsAndStartsNothing) {
  if (kIsSanitized) GTEST_SKIP() << kUnconfined;
  const pid_t parent = getpid();
  EXPECT_EQ(run_in_confined_child({}, LoadGuard(),
                                  [&] {
                                    char name[] = "/bin/true";
                                    char* const words[] = {name, nullptr};
                                    const std::string said =
                                        if_allowed("socket", socket(AF_INET, SOCK_STREAM, 0)) +
                                        if_allowed("local socket", socket(AF_UNIX, SOCK_DGRAM, 0)) +
                                        if_allowed("signal", kill(parent, 0)) +
                                        if_allowed("program", execv(name, words));
                                    const pid_t child = fork();
                                    if (child == 0) _exit(0);
                                    return said + if_allowed("process", child);
                                  }),
            "");
}

// The answer is all that it may write to.
TEST(ConfinedChild, HasNothingOpenOfItsParents) {
  const TempFolder folder;
  const std::string path = folder.write("log", "before");
  const int log = open(path.c_str(), O_WRONLY | O_APPEND);
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const std::string said = run_in_confined_child({}, LoadGuard(), [&] {
    std::string out;
    for (int file = 0; file < 1000; ++file)
      if (write(file, "", 0) == 0) out += std::to_string(file) + " ";
    return out;
  });
  EXPECT_EQ(std::count(said.begin(), said.end(), ' '), 1) << said;
  for (const int file : {log, ends[0], ends[1]}) close(file);
}

TEST(ConfinedChild, ACrashEndsItAlone) {
  EXPECT_TRUE(has(error_of_child([]() -> std::string { std::abort(); }), "crash (signal "));
  if (kIsSanitized) return;  // whose own handler says more, and exits
  EXPECT_TRUE(has(error_of_child([]() -> std::string {
                    volatile int* nowhere = nullptr;
                    *nowhere = 1;
                    return "";
                  }),
                  "crash (signal 11)"));
}

TEST(ConfinedChild, TimeIsLimited) {
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(has(error_of_child(run_for_ever, {.cpu_seconds = 0.3}), "takes more than 0.3 s to read"));
  // a child that waits takes no processor time
  const auto wait_for_ever = []() -> std::string {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable never;
    never.wait(lock, [] { return false; });
    return "";
  };
  EXPECT_TRUE(has(error_of_child(wait_for_ever, {.seconds = 0.3}), "does not come to an end"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5)) << "on a busy machine";
}

TEST(ConfinedChild, MemoryIsLimited) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer has mapped terabytes";
  // Straight from the system: the heap may hold memory that the tests before have freed.
  const auto take = [](size_t megabytes) {
    return [megabytes]() -> std::string {
      void* const pages =
          mmap(nullptr, megabytes << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (pages == MAP_FAILED) throw std::bad_alloc();
      return std::to_string(megabytes);
    };
  };
  const ChildLimits limits{.memory = 64 << 20};
  EXPECT_EQ(run_in_confined_child(limits, LoadGuard(), take(16)), "16");
  EXPECT_EQ(error_of_child(take(100), limits), "needs more than 64 MB to read");
  EXPECT_EQ(error_of_child([] { return std::string(size_t{1} << 40, 'x'); }),
            "needs more than 512 MB to read");
}

TEST(ConfinedChild, IsWaitedForAloneWhereOthersAreForkedInTheMeantime) {
  pid_t sibling = 0;  // it has a copy of all that is open now
  const LoadGuard guard(kDefaultMemoryLimit, [&] {
    if (sibling != 0) return;
    sibling = fork();
    if (sibling == 0) {
      sleep(60);
      _exit(0);
    }
  });
  const auto work = [] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    while (std::chrono::steady_clock::now() < end) {
    }
    return std::string("done");
  };
  EXPECT_EQ(run_in_confined_child({.seconds = 10}, guard, work), "done");
  ASSERT_GT(sibling, 0);
  EXPECT_EQ(waitpid(sibling, nullptr, WNOHANG), 0) << "it still lives";
  kill(sibling, SIGKILL);
  waitpid(sibling, nullptr, 0);
}

TEST(ConfinedChild, ItsAnswerIsLimited) {
  EXPECT_TRUE(has(error_of_child([] { return std::string(1 << 20, 'x'); }, {.max_output = 1000}),
                  "unpacks to more than"));
}

TEST(ConfinedChild, StopsWithItsCaller) {
  int asked = 0;
  const LoadGuard guard(kDefaultMemoryLimit, [&] {
    if (++asked > 3) throw Error("stopped");
  });
  const auto began = std::chrono::steady_clock::now();
  EXPECT_THROW(run_in_confined_child({}, guard, run_for_ever), Error);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(1));
}

}  // namespace
}  // namespace mvsim::confined_child_test
