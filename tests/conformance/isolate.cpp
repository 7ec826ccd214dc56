#include "isolate.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <iostream>

namespace conformance {
namespace {

constexpr unsigned seconds_for_one_case = 600;

bool write_all(int file, const void* from, std::size_t size) {
  for (const char* at = static_cast<const char*>(from); size > 0;) {
    const ssize_t written = write(file, at, size);
    if (written <= 0) return false;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

bool read_all(int file, void* to, std::size_t size) {
  for (char* at = static_cast<char*>(to); size > 0;) {
    const ssize_t got = read(file, at, size);
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

// A message: the verdict, the length of the text, the text.
bool send(int file, const Outcome& outcome) {
  const std::uint64_t header[] = {static_cast<std::uint64_t>(outcome.verdict), outcome.text.size()};
  return write_all(file, header, sizeof header) && write_all(file, outcome.text.data(), outcome.text.size());
}

bool receive(int file, Outcome& outcome) {
  std::uint64_t header[2];
  if (!read_all(file, header, sizeof header)) return false;
  outcome.verdict = static_cast<Verdict>(header[0]);
  outcome.text.resize(header[1]);
  return read_all(file, outcome.text.data(), outcome.text.size());
}

[[noreturn]] void run_from(std::size_t first, const Json& cases, int file, const std::function<Outcome(const Json&)>& run) {
  for (std::size_t k = first; k < cases.size(); ++k) {
    alarm(seconds_for_one_case);
    if (!send(file, run(cases[k]))) break;
  }
  _exit(0);
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return std::string("crashed: ") + strsignal(WTERMSIG(status));
  return "ended with exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

void run_isolated(const Json& cases, const std::function<void(std::size_t, const Outcome&)>& report, const std::function<Outcome(const Json&)>& run) {
  for (std::size_t next = 0; next < cases.size();) {
    std::cout.flush();
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no process");
    if (child == 0) {
      close(ends[0]);
      run_from(next, cases, ends[1], run);
    }
    close(ends[1]);
    Outcome outcome;
    while (next < cases.size() && receive(ends[0], outcome)) report(next++, outcome);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (next < cases.size()) report(next++, {Verdict::failed, how_it_ended(status)});
  }
}

}  // namespace conformance
