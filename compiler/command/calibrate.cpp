#include "calibrate.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <optional>
#include <thread>

#include <weft/memory.h>
#include <weft/weft.h>

#include "function/compile_for.h"

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Index most_bytes = Index{128} << 20;         // beyond the third level of most processors
constexpr Index row = 1024;
constexpr Index side = 4096;                           // of squares of floats, two of which have so many bytes
static_assert(2 * 4 * side * side == most_bytes);
constexpr Index largest_turned = 3216;                 // a side of three squares in that memory; no power of two, nor near one
static_assert(3 * 4 * largest_turned * largest_turned <= most_bytes);

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The least of several runs: whatever else the machine does only adds.
template <class Run> double least_seconds(const Run& call) {
  call();
  double least = 1;
  const auto begin = Clock::now();
  for (int runs = 0; runs < 3 || seconds_since(begin) < 0.02; ++runs) {
    const auto start = Clock::now();
    call();
    least = std::min(least, seconds_since(start));
  }
  return least;
}

// Two digits are more than such a measurement means.
double rounded(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 1);
  return unit < 1 ? std::round(value / unit) / std::round(1 / unit) : std::round(value / unit) * unit;
}

// Loops of one thread, but where several share, over one block of memory, compiled for the default machine: what is in the file does not matter.
class Meter {
 public:
  Meter() : memory_(allocate(static_cast<std::size_t>(most_bytes))) {
    std::fill_n(static_cast<float*>(memory_.get()), most_bytes / 4, 1.0f);
    const Expr x = g_.input("x", f32, {"n"}), y = g_.input("y", f32, {"n"}), column = g_.input("column", f32, {"n", 1});
    const Expr line = g_.input("line", f32, {row});
    streams_ = compile_one(x * 2.0f, {x}, 1);
    shared_streams_ = compile_one(x * 2.0f, {x}, 1, {}, all_threads);
    shared_doubles_ = compile_one(x * 2.0f, {x}, beyond_all, {}, all_threads);
    reads_ = compile_one(sum(x), {x});
    fetched_ = compile_one(sum(x), {x}, beyond_all, fetching(1));
    unfetched_ = compile_one(sum(x), {x}, beyond_all, fetching(beyond_all));
    const Expr rows = g_.input("rows", f32, {"n", row}), apart = rows - mean(rows, 1, true), normal = apart * rsqrt(mean(square(apart), 1, true) + 1.0f);
    in_blocks_ = compile_one(normal, {rows}, 1, on_rows(least_along_root, next_row));
    one_by_one_ = compile_one(normal, {rows}, 1, on_rows(one_by_one, after_next_row));
    to_next_ = compile_one(softmax(rows, 1), {rows}, 1, on_rows(one_by_one, next_row));
    to_after_next_ = compile_one(softmax(rows, 1), {rows}, 1, on_rows(one_by_one, after_next_row));
    const Expr square = g_.input("square", f32, {"rows", "columns"}), turned = transpose(square) * 2.0f;
    in_short_blocks_ = compile_one(turned, {square}, 1, in_tiles(short_tile_block));
    in_long_blocks_ = compile_one(turned, {square}, 1, in_tiles(long_tile_block));
    const Expr other = g_.input("other", f32, {"rows", "columns"}), both = transpose(1.5f * square + other);
    fetched_tiles_ = compile_one(both, {square, other}, beyond_all, fetching_tiles(1));
    unfetched_tiles_ = compile_one(both, {square, other}, beyond_all, fetching_tiles(beyond_all));
    writes_ = compile_one(column + line, {column, line});
    doubles_ = compile_one(x * 2.0f, {x});
    ordinary_ = compile_one(x * y + x, {x, y});
    roots_ = compile_one(sqrt(x), {x});
    quotients_ = compile_one(x / y, {x, y});
  }

  // Seconds for 64 bytes of an array of so many bytes.
  double read(Index bytes) { return least_seconds(reads_->bind({floats(0, {bytes / 4})}, {Array(f32, {})})) * 64 / static_cast<double>(bytes); }
  double write(Index bytes) {
    const Index rows = bytes / (4 * row);
    return least_seconds(writes_->bind({Array(f32, {rows, 1}), Array(f32, {row})}, {floats(0, {rows, row})})) * 64 / static_cast<double>(rows * row * 4);
  }
  // Whether two loops that read each other's results, over arrays of so many bytes together, are faster if these go past the caches.
  bool stream(Index bytes) { return stream(bytes, *streams_, *doubles_); }
  bool stream_shared(Index bytes) { return stream(bytes, *shared_streams_, *shared_doubles_); }
  // Whether a sum of so many bytes is faster if it fetches ahead of its reading; by less than neighbours disturb, no.
  bool fetch(Index bytes) {
    const auto seconds = [&](const Function& f) { return least_seconds(f.bind({floats(0, {bytes / 4})}, {Array(f32, {})})); };
    return seconds(*fetched_) < 0.95 * seconds(*unfetched_);
  }
  // How far ahead long rows in memory are fetched best, and whether those with values of their own are faster in blocks. By less than neighbours
  // disturb, the next one, and yes: so it is in the caches.
  void rows_in_memory(Machine& machine) {
    constexpr Index rows = most_bytes / 2 / (4 * row);
    const auto seconds = [&](const Function& f) { return least_seconds(f.bind({floats(0, {rows, row})}, {floats(rows * row, {rows, row})})); };
    machine.row_bytes_ahead = seconds(*to_after_next_) < 0.95 * seconds(*to_next_) ? after_next_row : next_row;
    machine.blocks_in_memory = seconds(*one_by_one_) < 0.95 * seconds(*in_blocks_) ? one_by_one : least_along_root;
  }
  // How large transposes go, by the same measure.
  void transposes(Machine& machine) {
    const Array x = floats(0, {side, side}), result = floats(side * side, {side, side});
    machine.tile_block = least_seconds(in_long_blocks_->bind({x}, {result})) < 0.95 * least_seconds(in_short_blocks_->bind({x}, {result})) ? long_tile_block : short_tile_block;
  }
  // Whether blocks of tiles, of squares of so many floats, are faster if they fetch ahead, by the same measure.
  bool fetch_tiles(Index length) {
    const Array x = floats(0, {length, length}), y = floats(length * length, {length, length}), result = floats(2 * length * length, {length, length});
    return least_seconds(fetched_tiles_->bind({x, y}, {result})) < 0.95 * least_seconds(unfetched_tiles_->bind({x, y}, {result}));
  }
  // Of a loop with two loads and an fma, over three arrays of so many bytes together; the store is not counted anywhere.
  double vector_instruction(Index bytes) {
    const Index count = bytes / 12 / 16 * 16;
    return least_seconds(ordinary_->bind({floats(0, {count}), floats(count, {count})}, {floats(2 * count, {count})})) * 16 / 3 / static_cast<double>(count);
  }
  // Of sixteen roots, by the instruction.
  double square_root() {
    constexpr Index count = 4096;
    return least_seconds(roots_->bind({floats(0, {count})}, {floats(count, {count})})) * 16 / static_cast<double>(count);
  }
  // Of sixteen quotients, by the instruction: a lone one is not made from estimates.
  double quotient() {
    constexpr Index count = 4096;
    return least_seconds(quotients_->bind({floats(0, {count}), floats(count, {count})}, {floats(2 * count, {count})})) * 16 / static_cast<double>(count);
  }
  // How many times as long as a neighbour an element takes that is one of every five: of fewer, whole vectors are loaded.
  double gather() {
    constexpr Index count = 4096;
    const Array fifths(floats(0, {5 * count}).slice(0, 0, count, 5)), result(f32, {count});
    return least_seconds(doubles_->bind({fifths}, {result})) / least_seconds(doubles_->bind({floats(0, {count})}, {result}));
  }

 private:
  bool stream(Index bytes, const Function& past, const Function& through) {
    const Index count = bytes / 8 / 16 * 16;
    const Array here = floats(0, {count}), there = floats(count, {count});
    const auto both_ways = [&](const Function& f) {
      const Call out = f.bind({here}, {there}), back = f.bind({there}, {here});
      return least_seconds([&] { out(); back(); });
    };
    return both_ways(past) < both_ways(through);
  }
  static constexpr Index beyond_all = Index{1} << 60;      // bytes
  static constexpr int all_threads = 0;
  static Function compile_one(const Expr& output, const std::vector<Expr>& inputs, Index cache_bytes = beyond_all, Machine machine = {}, int threads = 1) {
    machine.square_root = 1;                     // the instruction is what is measured
    return compile_for(machine, {output}, inputs, {.threads = threads, .cache_bytes = cache_bytes});
  }
  static Machine fetching(Index bytes) {
    Machine machine;
    machine.fetch_bytes = static_cast<double>(bytes);
    return machine;
  }
  static Machine on_rows(double blocks, double ahead) {
    Machine machine;
    machine.third_level_bytes = 1;
    machine.blocks_in_memory = blocks;
    machine.row_bytes_ahead = ahead;
    return machine;
  }
  static Machine fetching_tiles(Index bytes) {
    Machine machine;
    machine.tile_fetch_bytes = static_cast<double>(bytes);
    return machine;
  }
  static Machine in_tiles(double block) {
    Machine machine;
    machine.tile_block = block;
    return machine;
  }
  Array floats(Index from, Dims shape) const { return Array::borrow(View(static_cast<float*>(memory_.get()) + from, f32, std::move(shape)), memory_); }

  std::shared_ptr<void> memory_;
  Graph g_;
  std::optional<Function> reads_, writes_, doubles_, streams_, shared_doubles_, shared_streams_, ordinary_, roots_, quotients_, fetched_, unfetched_, in_blocks_, one_by_one_, to_next_, to_after_next_, in_short_blocks_, in_long_blocks_, fetched_tiles_, unfetched_tiles_;
};

// From the call until a worker that slept has begun: both units wait for each other, but not for ever. Three of four may be disturbed.
double wake_seconds() {
  const ThreadPool pool(2);
  std::vector<double> samples;
  for (int k = 0; k < 200; ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));                  // workers look for the next loop for .2
    std::atomic<int> begun{0};
    const auto start = Clock::now();
    pool.run(2, {.threads = 2}, [&](Index, Index) { for (++begun; begun < 2 && seconds_since(start) < 1e-3;) {} });
    samples.push_back(seconds_since(start));
  }
  std::nth_element(samples.begin(), samples.begin() + 50, samples.end());
  return samples[50];
}

// The bytes of the second level as the system tells; the default where it does not.
double second_level_bytes() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index2/size");
  double kibibytes = 0;
  char unit = 0;
  return file >> kibibytes >> unit && unit == 'K' && kibibytes > 0 ? kibibytes * 1024 : Machine().second_level_bytes;
}

}  // namespace

Machine measure_machine() {
  Meter meter;
  Machine machine;
  machine.second_level_bytes = second_level_bytes();
  const Index near = static_cast<Index>(machine.second_level_bytes / 4), middle = static_cast<Index>(machine.second_level_bytes * 2);
  const double instruction = meter.vector_instruction(Index{12} << 10);          // in the first level, as ops are counted
  const auto cost = [&](double seconds, double at_least) { return std::max(at_least, rounded(seconds / instruction)); };
  machine.vector_ps = rounded(instruction * 1e12);
  machine.second_level_read = cost(meter.read(near), 0.1);
  machine.second_level_write = cost(meter.write(near), 0.1);
  machine.third_level_read = cost(meter.read(middle), machine.second_level_read);
  machine.third_level_write = cost(meter.write(middle), machine.second_level_write);
  machine.memory_read = cost(meter.read(most_bytes), machine.third_level_read);
  machine.memory_write = cost(meter.write(most_bytes), machine.third_level_write);
  // The third level ends where reading is nearer to memory's cost than to its own. It is shared: its size says less.
  machine.third_level_bytes = static_cast<double>(middle);
  const double between = std::sqrt(machine.third_level_read * machine.memory_read);
  for (Index bytes = 2 * middle; bytes < most_bytes && meter.read(bytes) / instruction < between; bytes *= 2) machine.third_level_bytes = static_cast<double>(bytes);
  machine.stream_bytes = static_cast<double>(near);
  for (Index bytes = 2 * near; bytes <= most_bytes && !meter.stream(bytes); bytes *= 2) machine.stream_bytes = static_cast<double>(bytes);
  machine.shared_stream_bytes = machine.stream_bytes;
  for (Index bytes = 2 * static_cast<Index>(machine.stream_bytes); bytes <= most_bytes && !meter.stream_shared(bytes); bytes *= 2) machine.shared_stream_bytes = static_cast<double>(bytes);
  machine.fetch_bytes = static_cast<double>(middle);
  for (Index bytes = 2 * middle; bytes <= most_bytes && !meter.fetch(bytes); bytes *= 2) machine.fetch_bytes = static_cast<double>(bytes);
  meter.rows_in_memory(machine);
  meter.transposes(machine);
  machine.tile_fetch_bytes = 1;
  for (Index length = 800; length <= largest_turned && !meter.fetch_tiles(length); length += length / 2 / 16 * 16) machine.tile_fetch_bytes = static_cast<double>(4 * length * length);
  machine.gather = std::max(1.0, rounded(meter.gather()));
  machine.square_root = cost(meter.square_root(), 1);
  machine.quotient = cost(meter.quotient(), 1);
  if (const double wake = hardware_threads() > 1 ? wake_seconds() : 1; wake < 5e-4) machine.wake_ns = rounded(wake * 1e9);     // else nothing woke
  return machine;
}

void calibrate(bool write, std::ostream& out) {
  const std::filesystem::path path = machine_file();
  WEFT_REQUIRE(!write || !path.empty(), usage, "weft calibrate --write: there is no place for the file\n  set WEFT_MACHINE to a path");
  const std::string text = "# What loops cost on this machine, measured by weft calibrate. Without this file weft takes defaults.\n" + to_text(measure_machine());
  out << text;
  if (!write) return;
  std::error_code ignored;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  std::ofstream file(path);
  WEFT_REQUIRE(file << text << std::flush, usage, "cannot write ", path.string(), "\n  set WEFT_MACHINE to another path");
  out << "# written to " << path.string() << "\n";
}

}  // namespace weft
