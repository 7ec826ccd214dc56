// Times of several contestants on the same work, side by side.
#pragma once
#include <functional>
#include <vector>

namespace bench {

double median(std::vector<double> values);

// Seconds per call: medians of interleaved batches, each at least `batch` seconds long, so that a neighbour disturbs all contestants
// alike. At least seven batches each, and more until `budget` seconds are over.
std::vector<double> race(const std::vector<std::function<void()>>& contestants, int threads, double budget, double batch = 1e-3);

}  // namespace bench
