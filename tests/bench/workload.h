// A workload: the same computation by weft, by hand and by Eigen, on the same arrays.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <weft/thread_pool.h>
#include <weft/weft.h>

namespace bench {

using weft::Array;
using weft::Index;

// The hand-written loops share their work in equal parts: one for each thread.
class Team {
 public:
  explicit Team(int threads) : pool_(threads) {}
  int threads() const { return pool_.threads(); }
  // work(part, begin, end) on [0, count), split at multiples of `grain`.
  template <class Work> void split(Index count, Index grain, const Work& work) const {
    const Index parts = threads();
    auto edge = [&](Index part) { return part == parts ? count : count / grain * part / parts * grain; };
    if (parts == 1) return work(Index{0}, Index{0}, count);
    pool_.run(parts, {}, [&](Index begin, Index end) {
      for (Index part = begin; part < end; ++part) work(part, edge(part), edge(part + 1));
    });
  }

 private:
  weft::ThreadPool pool_;
};

struct Workload {
  std::string name;
  std::function<weft::Function(const weft::Options&)> compile;   // builds the graph too
  std::vector<Array> inputs, outputs;                            // every contestant writes the same outputs
  std::function<void(const Team&)> hand;                         // empty: none
  std::function<void()> eigen;                                   // one thread; a plain loop where Eigen has no words for it; or empty
  double tolerance = 1e-5;                                       // of hand against weft, relative to the largest element
};

// Arrays of one workload live as long as it does: make, use, drop.
struct Entry {
  std::string name;
  std::function<Workload()> make;
};
std::vector<Entry> workloads();              // all, in the order of the table
std::vector<Entry> elementwise_workloads();
std::vector<Entry> layout_workloads();
std::vector<Entry> gradient_workloads();

}  // namespace bench
