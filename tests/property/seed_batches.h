// Runs a check on many seeds, in processes that each take a batch: a crash or an endless loop is a finding of its seed, and
// the batch goes on after it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "isolate.h"

inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct Finding {
  std::uint64_t seed;
  std::string failure;
};

struct SeedRun {
  std::vector<Finding> findings;
  std::vector<std::string> notes;                            // what passing seeds left, one line each
};

// Returns the failure, or nothing and perhaps a note of one line.
using SeedCheck = std::function<std::string(std::uint64_t seed, std::string& note)>;

// Checks seeds [first, last); the results go to `out` as lines "seed" before and "ok note" after, or the failure in one line.
inline void check_seeds(const SeedCheck& check, std::uint64_t first, std::uint64_t last, unsigned seconds, int out) {
  const auto say = [&](const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t count = write(out, text.data() + at, text.size() - at);
      if (count <= 0) return false;
      at += static_cast<std::size_t>(count);
    }
    return true;
  };
  for (std::uint64_t seed = first; seed < last; ++seed) {
    limit_time(seconds);
    if (!say(std::to_string(seed) + " ")) return;
    std::string failure, note;
    try {
      failure = check(seed, note);
    } catch (const std::exception& error) {
      failure = std::string("making the graph: ") + error.what();
    }
    for (char& c : failure) c = c == '\n' ? '\r' : c;
    if (!say((failure.empty() ? "ok " + note : failure) + "\n")) return;
  }
}

// All seeds in batches, some processes at a time.
inline SeedRun run_seeds(std::uint64_t first, std::uint64_t count, std::size_t jobs, std::uint64_t batch, unsigned seconds, const SeedCheck& check) {
  struct Job {
    Child child;
    std::uint64_t first, last;
  };
  SeedRun run;
  std::vector<Job> running;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> waiting;
  for (std::uint64_t at = 0; at < count; at += batch) waiting.emplace_back(first + at, first + std::min(count, at + batch));
  std::reverse(waiting.begin(), waiting.end());
  while (!waiting.empty() || !running.empty()) {
    while (running.size() < jobs && !waiting.empty()) {
      const auto [begin, end] = waiting.back();
      waiting.pop_back();
      running.push_back({start_child([&, begin = begin, end = end](int out) { check_seeds(check, begin, end, seconds, out); }), begin, end});
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
      if (rest.starts_with(" ok ")) {
        if (rest.size() > 4) run.notes.push_back(rest.substr(4));
        continue;
      }
      if (rest.size() <= 1) next = seed, rest = "";   // died in this one
      for (char& c : rest) c = c == '\r' ? '\n' : c;
      if (rest.empty()) continue;
      run.findings.push_back({seed, rest.substr(1)});
      if (count > 2000) std::cerr << "seed " << seed << rest.substr(0, rest.find('\n')) << std::endl;   // long runs show what they find
    }
    if (end.empty()) continue;
    run.findings.push_back({next, end});
    if (next + 1 < job.last) waiting.emplace_back(next + 1, job.last);
  }
  return run;
}
