// Checks the table "Requirements" of tests/README.md: a row for each number from 1 to 170, and whatever it names exists.
//
//   | 92 | the rank of a result is the larger rank | `aa.seed.shape_` "any number of shapes, scalars and empty axes" |
//
// "..." is the whole name of a doctest case in tests/, `...` the beginning of the id of a case in tests/conformance/cases,
// and ctest:name a test of a CMakeLists.txt. Argument: the folder tests. Prints what is wrong; exit code 1 if anything is.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int last_requirement = 170;

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The first group of every match.
std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  std::vector<std::string> found;
  const std::regex regex(pattern);
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it) found.push_back((*it)[1]);
  return found;
}

struct Existing {
  std::set<std::string> doctests, cases, ctests;
};

Existing existing(const std::filesystem::path& tests) {
  Existing all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(tests)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with("_test.cpp"))
      for (const std::string& title : matches(read(entry.path()), "TEST_CASE\\(\"((?:[^\"\\\\]|\\\\.)*)\"")) all.doctests.insert(title);
    if (name == "CMakeLists.txt")
      for (const std::string& test : matches(read(entry.path()), "(?:weft_test|weft_check|NAME)[( ]([a-z_]+)")) all.ctests.insert(test);
  }
  for (const auto& entry : std::filesystem::directory_iterator(tests / "conformance" / "cases"))
    if (entry.path().extension() == ".json")
      for (const std::string& id : matches(read(entry.path()), "\"id\": *\"([^\"]*)\"")) all.cases.insert(id);
  return all;
}

bool has_case(const Existing& all, const std::string& prefix) {
  const auto at = all.cases.lower_bound(prefix);
  return at != all.cases.end() && at->starts_with(prefix);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: weft_requirements TESTS_FOLDER\n";
    return 2;
  }
  const std::filesystem::path tests = arguments[1];
  const Existing all = existing(tests);
  std::map<int, int> rows;
  std::size_t named = 0, wrong = 0;
  const auto complain = [&](int number, const std::string& what) {
    std::cout << "requirement " << number << ": " << what << "\n";
    ++wrong;
  };
  std::istringstream lines(read(tests / "README.md"));
  for (std::string line; std::getline(lines, line);) {
    std::smatch row;
    if (!std::regex_match(line, row, std::regex("\\| (\\d+) \\| (.*) \\| (.*) \\|"))) continue;
    const int number = std::stoi(row[1]);
    const std::string where = row[3];
    ++rows[number];
    const auto titles = matches(where, "\"((?:[^\"\\\\]|\\\\.)*)\""), prefixes = matches(where, "`([^`]*)`"), names = matches(where, "ctest:([a-z_]+)");
    if (titles.empty() && prefixes.empty() && names.empty()) complain(number, "names no test");
    named += titles.size() + prefixes.size() + names.size();
    for (const std::string& title : titles)
      if (!all.doctests.contains(title)) complain(number, "no test case \"" + title + "\"");
    for (const std::string& prefix : prefixes)
      if (!has_case(all, prefix)) complain(number, "no case " + prefix);
    for (const std::string& name : names)
      if (!all.ctests.contains(name)) complain(number, "no ctest " + name);
  }
  for (int number = 1; number <= last_requirement; ++number)
    if (rows[number] != 1) complain(number, "stands in " + std::to_string(rows[number]) + " rows");
  for (const auto& [number, times] : rows)
    if (number < 1 || number > last_requirement) complain(number, "there is no such requirement");
  std::cout << last_requirement << " requirements, " << named << " tests named, " << all.doctests.size() << " test cases, " << all.cases.size() << " cases, " << wrong
            << " wrong\n";
  return wrong == 0 ? 0 : 1;
}
