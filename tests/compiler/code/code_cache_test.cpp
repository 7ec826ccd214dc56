#include "code/code_cache.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <llvm/IR/IRBuilder.h>

#include <error_text.h>

#include "compiled.h"

using namespace weft;
namespace fs = std::filesystem;

namespace {

// A directory of the test's own, gone afterwards.
struct Directory {
  Directory() {
    std::string name = (fs::temp_directory_path() / "weft_cache_XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path = name;
  }
  ~Directory() { fs::remove_all(path); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(path))
      if (entry.path().filename().string().starts_with("llvmcache-weft-")) all.push_back(entry.path());
    return all;
  }
  fs::path path;
};

Function softmax_in(const std::string& cache_dir, bool fast_math = false, int lanes = 0) {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"});
  return compile({softmax(x, 1)}, {x}, {.threads = 1, .lanes = lanes, .fast_math = fast_math, .cache_dir = cache_dir, .verify = true});
}

bool was_read(const Function& f) { return f.report().find("code read from the cache") != std::string::npos; }

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

Bytes bytes_of(const std::string& text) { return Bytes(text.begin(), text.end()); }

}  // namespace

TEST_CASE("machine code is generated once and read after that") {
  const Directory directory;
  const std::vector<Array> given = {uniform(f32, {5, 37})};
  const Function first = softmax_in(directory.path.string());
  const Array expected = first(given)[0];
  CHECK_FALSE(was_read(first));
  CHECK(directory.files().size() == 1);
  const Function second = softmax_in(directory.path.string());
  CHECK(difference(second(given)[0], expected) == "");
  CHECK(was_read(second));
  CHECK(directory.files().size() == 1);
  CHECK(difference(softmax_in("")(given)[0], expected) == "");
}

TEST_CASE("code that is read outlives the function that it was generated for, and the directory") {
  const std::vector<Array> given = {uniform(f32, {5, 37})};
  Function last = softmax_in("");
  const Array expected = last(given)[0];
  {
    const Directory directory;
    const Function first = softmax_in(directory.path.string());
    first(given);
    last = softmax_in(directory.path.string());
    CHECK(difference(last(given)[0], expected) == "");
    CHECK(was_read(last));
  }
  CHECK(difference(last(given)[0], expected) == "");
}

TEST_CASE("other code has other files") {
  const Directory directory;
  const std::vector<Array> given = {uniform(f32, {5, 37})};
  softmax_in(directory.path.string())(given);
  const Function fast = softmax_in(directory.path.string(), true), narrow = softmax_in(directory.path.string(), false, 4);
  check_call(narrow, given, 2);
  fast(given);
  CHECK_FALSE(was_read(fast));
  CHECK_FALSE(was_read(narrow));
  CHECK(directory.files().size() == 3);
  const std::vector<Array> strided = {uniform(f32, {5, 74}).slice(1, 0, 37, 2)};
  const Function f = softmax_in(directory.path.string());
  check_call(f, strided, 2);
  CHECK_FALSE(was_read(f));
  CHECK(directory.files().size() == 4);
}

TEST_CASE("a damaged file is generated again and replaced") {
  const Directory directory;
  const std::vector<Array> given = {uniform(f32, {5, 37})};
  const Array expected = softmax_in(directory.path.string())(given)[0];
  const fs::path file = directory.files().at(0);
  const std::string whole = text_of(file);
  std::vector<std::string> damages = {"", whole.substr(0, 7), whole.substr(0, 32), whole.substr(0, whole.size() - 1), whole + '\0', std::string(whole.size(), '\0')};
  for (std::size_t at : {std::size_t{0}, std::size_t{33}, std::size_t{45}, whole.size() / 2, whole.size() - 1}) {
    damages.push_back(whole);
    damages.back()[at] = static_cast<char>(damages.back()[at] ^ 4);
  }
  for (const std::string& damaged : damages) {
    CAPTURE(damaged.size());
    write(file, damaged);
    const Function f = softmax_in(directory.path.string());
    CHECK(difference(f(given)[0], expected) == "");
    CHECK_FALSE(was_read(f));
    CHECK(text_of(file) == whole);
  }
}

TEST_CASE("a file under the name of another is none") {
  const Directory directory;
  const std::vector<Array> given = {uniform(f32, {5, 37})};
  const auto exp_in = [&] {
    Graph g;
    const Expr x = g.input("x", f32, {"n", "d"});
    return compile({exp(x)}, {x}, {.threads = 1, .cache_dir = directory.path.string(), .verify = true});
  };
  const Array expected = softmax_in(directory.path.string())(given)[0];
  const fs::path first = directory.files().at(0);
  const Array other = exp_in()(given)[0];
  for (const fs::path& file : directory.files())
    if (file != first) write(file, text_of(first));
  const Function f = exp_in();
  CHECK(difference(f(given)[0], other) == "");
  CHECK_FALSE(was_read(f));
  CHECK(difference(softmax_in(directory.path.string())(given)[0], expected) == "");
}

TEST_CASE("a directory that cannot be is an error of compile; one that goes later is none") {
  const Directory directory;
  const fs::path file = directory.path / "file", below = file / "cache", deep = directory.path / "a" / "b";
  write(file, "not a directory");
  CHECK(error_text([&] { softmax_in(file.string()); }).starts_with("usage: Options::cache_dir: expected a directory to keep machine code in, got " + file.string()));
  CHECK(error_text([&] { softmax_in(below.string()); }).starts_with("usage: Options::cache_dir"));
  CHECK(text_of(file) == "not a directory");
  const std::vector<Array> given = {uniform(f32, {5, 37})};
  const Function f = softmax_in(deep.string());
  CHECK((fs::status(deep).permissions() & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none);
  fs::remove_all(deep);
  check_call(f, given, 2);
}

TEST_CASE("a directory named from where the process was stays the same where it goes") {
  const Directory directory;
  const fs::path before = fs::current_path();
  fs::current_path(directory.path);
  const Function f = softmax_in("cache");
  fs::current_path(before);
  const std::vector<Array> given = {uniform(f32, {5, 37})};
  f(given);
  const Function again = softmax_in((directory.path / "cache").string());
  again(given);
  CHECK(was_read(again));
}

TEST_CASE("functions on several threads share a directory") {
  const Directory directory;
  const std::vector<Array> given = {uniform(f32, {5, 37})};
  const Array expected = softmax_in("")(given)[0];
  std::vector<std::string> wrong(4);
  std::vector<std::thread> threads;
  for (std::string& mine : wrong)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 3; ++turn) mine += difference(softmax_in(directory.path.string())(given)[0], expected);
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == std::vector<std::string>(4));
  CHECK(directory.files().size() == 1);
  const auto all = fs::directory_iterator(directory.path);
  for (const auto& entry : all) CHECK_MESSAGE(entry.path().string().find(".tmp") == std::string::npos, entry.path().string());
}

TEST_CASE("several objects of one module come back whole and in order") {
  const Directory directory;
  llvm::LLVMContext context;
  llvm::Module module("parts", context);
  const CodeCache cache(directory.path.string(), module);
  CHECK_FALSE(cache.find());
  const std::vector<Bytes> objects = {bytes_of("first"), bytes_of(""), bytes_of(std::string(100000, 'x'))};
  cache.keep(objects);
  REQUIRE(cache.find());
  CHECK(*cache.find() == objects);
  module.getOrInsertGlobal("other", llvm::Type::getInt32Ty(context));
  CHECK_FALSE(CodeCache(directory.path.string(), module).find());
}
