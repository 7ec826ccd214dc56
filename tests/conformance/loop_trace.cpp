#include "loop_trace.h"

#include <algorithm>
#include <map>
#include <regex>

#include "case.h"

namespace conformance {
namespace {

// One line of the program, and what its braces hold.
struct Statement {
  std::string text;
  std::vector<Statement> body;
};

std::string trimmed(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first == std::string::npos ? "" : line.substr(first, line.find_last_not_of(" \t") - first + 1);
}

std::vector<Statement> parse(const std::vector<std::string>& lines, std::size_t& at) {
  std::vector<Statement> body;
  while (at < lines.size()) {
    const std::string line = trimmed(lines[at++]);
    if (line == "}") return body;
    if (line.empty()) continue;
    body.push_back({line, {}});
    if (line.back() == '{') body.back().body = parse(lines, at);
  }
  return body;
}

class Walk {
 public:
  std::vector<std::string> trace;

  void run(const std::vector<Statement>& body) {
    std::vector<std::string> stores;                // of this iteration, after its accumulations
    for (const Statement& statement : body) {
      if (!statement.body.empty()) flush(stores), loop(statement);
      else line(statement.text, stores);
    }
    flush(stores);
  }

 private:
  void flush(std::vector<std::string>& stores) {
    trace.insert(trace.end(), stores.begin(), stores.end());
    stores.clear();
  }

  // "serial j in 3, folds %1 by sum f64 {", "parallel j in 3 by 1024 {" (over tiles), "lanes j in 3 within unit {"
  void loop(const Statement& statement) {
    static const std::regex form("(\\w+) (\\w+) in (\\d+)( by (\\d+))?(.*)\\{");
    std::smatch parts;
    if (statement.text.rfind("program ", 0) == 0 || statement.text.rfind("stage ", 0) == 0) return run(statement.body);
    if (!std::regex_match(statement.text, parts, form)) throw BadCase("unknown loop in a program: " + statement.text);
    const std::string rest = parts[6];
    static const std::regex fold_form("%\\w+ by ");
    const auto folds = std::distance(std::sregex_iterator(rest.begin(), rest.end(), fold_form), std::sregex_iterator());
    for (auto fold = folds; fold > 0; --fold) trace.push_back("init acc" + std::to_string(depth_));
    const bool over_tiles = parts[4].matched;
    const long count = std::stol(parts[3]), turns = over_tiles ? (count + std::stol(parts[5]) - 1) / std::stol(parts[5]) : count;
    depth_ += over_tiles ? 0 : 1;
    for (long turn = 0; turn < turns; ++turn) {
      if (!over_tiles) index_[parts[2]] = turn;
      run(statement.body);
    }
    depth_ -= over_tiles ? 0 : 1;
  }

  void line(const std::string& text, std::vector<std::string>& stores) {
    std::smatch parts;
    if (std::regex_match(text, parts, std::regex("(t\\d+) = load %(\\w+)\\[(.*)\\]"))) {
      loads_[parts[1]] = {parts[2], parts[3]};
    } else if (std::regex_match(text, parts, std::regex("store %\\w+\\[(.*)\\] = t\\d+"))) {
      const std::string indices = parts[1];
      const auto rank = indices.empty() ? 0 : 1 + std::count(indices.begin(), indices.end(), ',');
      stores.push_back("set rank" + std::to_string(rank) + " out[" + at(indices) + "]");
    } else if (std::regex_match(text, parts, std::regex("%\\w+ \\S*= *(t\\d+)"))) {
      const auto load = loads_.find(parts[1]);
      trace.push_back("acc " + (load == loads_.end() ? parts[1].str() : load->second.first + "[" + at(load->second.second) + "]"));
    } else if (!std::regex_match(text, std::regex("t\\d+ = .*"))) {
      throw BadCase("unknown line in a program: " + text);
    }
  }

  // "i,j" with the values of the loops.
  std::string at(const std::string& indices) const {
    std::string result, name;
    for (const char letter : indices + ",") {
      if (letter != ',') {
        name += letter;
        continue;
      }
      const auto found = index_.find(name);
      result += (result.empty() ? "" : ",") + (found == index_.end() ? name : std::to_string(found->second));
      name.clear();
    }
    return indices.empty() ? "" : result;
  }

  std::map<std::string, long> index_;
  int depth_ = 0;                                   // loops around this one: what a fold here leaves is indexed by them
  std::map<std::string, std::pair<std::string, std::string>> loads_;
};

}  // namespace

std::vector<std::string> loop_trace(const std::string& program) {
  std::vector<std::string> lines(1);
  for (const char letter : program) {
    if (letter == '\n') lines.emplace_back();
    else lines.back() += letter;
  }
  std::size_t start = 0;
  Walk walk;
  walk.run(parse(lines, start));
  return walk.trace;
}

}  // namespace conformance
