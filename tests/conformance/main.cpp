// weft_conformance DIR: runs every case in DIR/**/*.json through the interpreter and compiled code (README.md beside this file).
//
// Prints a line for each failure and skip, and at the end "N passed, N failed, N skipped". The exit status is 0 only if
// nothing failed and something passed. Cases run in child processes: one that crashes is reported and the rest go on.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "isolate.h"
#include "runner.h"

namespace {

using namespace conformance;

struct Counts {
  int passed = 0, alternative = 0, failed = 0, skipped = 0;
};

std::vector<std::filesystem::path> json_files(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file() && entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

void report(const std::string& name, const Outcome& outcome, Counts& counts) {
  switch (outcome.verdict) {
    case Verdict::alternative: ++counts.alternative; [[fallthrough]];
    case Verdict::passed: ++counts.passed; return;
    case Verdict::failed: ++counts.failed; std::cout << "FAILED " << name << ": " << on_one_line(outcome.text) << '\n'; return;
    case Verdict::skipped: ++counts.skipped; std::cout << "skipped " << name << ": " << on_one_line(outcome.text) << '\n'; return;
  }
}

void run_file(const std::filesystem::path& path, Counts& counts) {
  std::ifstream stream(path);
  const Json cases = Json::parse(stream, nullptr, /*allow_exceptions=*/false);
  if (!cases.is_array()) return report(path.string(), {Verdict::failed, "not a list of cases"}, counts);
  const Counts before = counts;
  run_isolated(cases, [&](std::size_t k, const Outcome& outcome) {
    const bool has_id = cases[k].is_object() && cases[k].contains("id") && cases[k]["id"].is_string();
    report(has_id ? cases[k]["id"].get<std::string>() : path.filename().string() + "[" + std::to_string(k) + "]", outcome, counts);
  });
  std::cout << "== " << path.filename().string() << ": " << counts.passed - before.passed << " passed, " << counts.failed - before.failed << " failed, "
            << counts.skipped - before.skipped << " skipped\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || !std::filesystem::is_directory(argv[1])) {
    std::cerr << "usage: weft_conformance DIR\n";
    return 2;
  }
  Counts counts;
  for (const auto& path : json_files(argv[1])) run_file(path, counts);
  if (counts.alternative) std::cout << "note: " << counts.alternative << " passed by their alternative expectation\n";
  std::cout << counts.passed << " passed, " << counts.failed << " failed, " << counts.skipped << " skipped" << std::endl;
  return counts.failed == 0 && counts.passed > 0 ? 0 : 1;
}
