// Random graphs through the whole compiler. WEFT_PROPERTY=20000 runs that many graphs instead of the few of the normal
// run; WEFT_PROPERTY_SEED=k starts at seed k; WEFT_PROPERTY_JOBS=n uses n processes.
#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>

#include "compiled_property.h"
#include "isolate.h"
#include "shrink.h"

namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

SmallCase case_of(std::uint64_t seed) {
  SeededSource random(seed);
  RandomCase c = random_case(random, Recipe());
  return {std::move(c.graph), std::move(c.inputs)};
}

std::string described(const SmallCase& c) {
  std::string text = to_text(c.graph);
  for (std::size_t k = 0; k < c.inputs.size(); ++k) {
    const weft::Array& input = c.inputs[k];
    text += weft::concat("  ", name_of(c.graph, c.graph.inputs[k]), " ", weft::to_text(input.shape()), ":");
    weft::Index count = 0;
    for_each_element(input.shape(), [&](const weft::Dims& index) {
      if (++count <= 24) text += " " + to_text(input.get(index));
    });
    text += count > 24 ? " ..\n" : "\n";
  }
  return text;
}

// The failure, shrunk, as text.
std::string report(std::uint64_t seed, const std::string& failure) {
  const auto first_line = [](const std::string& text) { return text.substr(0, std::min<std::size_t>(18, text.find('\n'))); };
  const auto check = [seed](const SmallCase& c) { return isolated([&] { return check_compiled(c.graph, c.inputs, seed); }, 30); };
  SmallCase small;
  const std::string made = isolated([&] { case_of(seed); return std::string(); }, 10);
  if (!made.empty()) return weft::concat("seed ", seed, ": making the graph ", made);
  small = shrunk(case_of(seed), [&](const SmallCase& c) { return first_line(check(c)) == first_line(failure); });
  return weft::concat("seed ", seed, ": ", check(small), "\nshrunk to\n", described(small));
}

// Checks seeds [first, last); the results go to `out` as lines "seed" before and "ok" after, or the failure's first line.
void run_range(std::uint64_t first, std::uint64_t last, int out) {
  const auto say = [&](const std::string& text) { return write(out, text.data(), text.size()) == static_cast<ssize_t>(text.size()); };
  for (std::uint64_t seed = first; seed < last; ++seed) {
    alarm(60);
    if (!say(std::to_string(seed) + " ")) return;
    std::string failure;
    try {
      const SmallCase c = case_of(seed);
      failure = check_compiled(c.graph, c.inputs, seed);
    } catch (const std::exception& error) {
      failure = std::string("making the graph: ") + error.what();
    }
    for (char& c : failure) c = c == '\n' ? '\r' : c;
    if (!say((failure.empty() ? "ok" : failure) + "\n")) return;
  }
}

struct Finding {
  std::uint64_t seed;
  std::string failure;
};

// All seeds in batches, some processes at a time.
std::vector<Finding> run_all(std::uint64_t first, std::uint64_t count, std::size_t jobs, std::uint64_t batch) {
  struct Job {
    Child child;
    std::uint64_t first, last;
  };
  std::vector<Finding> findings;
  std::vector<Job> running;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> waiting;
  for (std::uint64_t at = 0; at < count; at += batch) waiting.emplace_back(first + at, first + std::min(count, at + batch));
  std::reverse(waiting.begin(), waiting.end());
  while (!waiting.empty() || !running.empty()) {
    while (running.size() < jobs && !waiting.empty()) {
      const auto [begin, end] = waiting.back();
      waiting.pop_back();
      running.push_back({start_child([begin = begin, end = end](int out) { run_range(begin, end, out); }), begin, end});
    }
    const Job job = running.front();
    running.erase(running.begin());
    std::string end;
    std::istringstream lines(finish_child(job.child, end));
    std::uint64_t seed = job.first, next = job.first;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string rest;
      words >> seed;
      std::getline(words, rest);
      next = seed + 1;
      if (rest == " ok") continue;
      if (rest.size() <= 1) next = seed, rest = "";   // died in this one
      for (char& c : rest) c = c == '\r' ? '\n' : c;
      if (rest.empty()) continue;
      findings.push_back({seed, rest.substr(1)});
      if (count > 2000) std::cerr << "seed " << seed << rest.substr(0, rest.find('\n')) << std::endl;   // long runs show what they find
    }
    if (end.empty()) continue;
    findings.push_back({next, end});
    if (next + 1 < job.last) waiting.emplace_back(next + 1, job.last);
  }
  return findings;
}

}  // namespace

TEST_CASE("compiled random graphs give the interpreter's bits for every layout, order of units and number of threads") {
  const std::uint64_t count = from_environment("WEFT_PROPERTY", 600), first = from_environment("WEFT_PROPERTY_SEED", 1);
  const auto findings = run_all(first, count, from_environment("WEFT_PROPERTY_JOBS", 2), 50);
  const std::uint64_t shown = from_environment("WEFT_PROPERTY_SHOW", 5);
  for (std::size_t k = 0; k < findings.size(); ++k) {
    if (k < shown) FAIL_CHECK(report(findings[k].seed, findings[k].failure));
    else FAIL_CHECK(weft::concat("seed ", findings[k].seed, ": ", findings[k].failure.substr(0, 160)));
  }
  MESSAGE(count, " graphs from seed ", first, ", ", findings.size(), " failures");
  CHECK(findings.empty());
}
