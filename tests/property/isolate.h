// Runs a check in a process of its own, so that a crash or an endless loop is a finding and not the end of the run.
#pragma once
#include <functional>
#include <string>

#include <poll.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

struct Child {
  pid_t id = -1;
  int pipe = -1;
};

// `work` writes to the given file descriptor.
inline Child start_child(const std::function<void(int)>& work) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t id = fork();
  if (id == 0) {
    close(ends[0]);
    for (int number : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS, SIGALRM, SIGTERM}) signal(number, SIG_DFL);   // the test framework catches them
    work(ends[1]);
    close(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  return {id, ends[0]};
}
// What it wrote; how it ended if not well.
inline std::string finish_child(const Child& child, std::string& end) {
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = read(child.pipe, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(count));
  close(child.pipe);
  int status = 0;
  waitpid(child.id, &status, 0);
  end.clear();
  if (WIFSIGNALED(status)) end = WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGPROF ? "takes too long" : std::string("ends by signal ") + strsignal(WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0) end = "exits with " + std::to_string(WEXITSTATUS(status));
  return text;
}

// The process ends after so many seconds of processor time, which hardly depends on what runs beside it; if it waits for
// something, after four times as many on the clock.
inline void limit_time(unsigned seconds) {
  itimerval limit{};
  limit.it_value.tv_sec = static_cast<time_t>(seconds);
  setitimer(ITIMER_PROF, &limit, nullptr);
  alarm(4 * seconds);
}

// The result of `check`, or how it crashed.
inline std::string isolated(const std::function<std::string()>& check, unsigned seconds) {
  const Child child = start_child([&](int out) {
    limit_time(seconds);
    const std::string text = check();
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t count = write(out, text.data() + at, text.size() - at);
      if (count <= 0) break;
      at += static_cast<std::size_t>(count);
    }
  });
  std::string end;
  const std::string text = finish_child(child, end);
  return end.empty() ? text : end;
}
