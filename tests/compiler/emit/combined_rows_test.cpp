// Results whose rows begin within lines and are larger than the caches: the same bits, nothing beside them, and put together into lines only where that pays.
#include <doctest/doctest.h>

#include <cstring>

#include <weft/memory.h>
#include <weft/weft.h>

#include "bits.h"
#include "code/features.h"

using namespace weft;

namespace {

Options streaming(int threads = 1) { return {.threads = threads, .cache_bytes = 1, .verify = true}; }

Array counted(DType dtype, const Dims& shape) {
  return counted_by(dtype, shape, [](Index k) { return static_cast<double>(k % 1013) / 64 - 5; });
}

bool combines_rows(const Function& f) { return f.llvm().find("@weft_flush_lines") != std::string::npos; }

// In memory that begins `before` elements into what is there, and is followed by as much.
struct Placed {
  Placed(DType dtype, const Dims& shape, Index before) : before_(before), all_(counted(dtype, {element_count(shape) + before + 40})), kept_(all_.copy()) {
    array = Array::borrow(View(static_cast<std::byte*>(all_.data()) + before * item_bytes(dtype), dtype, shape), all_.owner());
  }
  bool is_alone() const {
    const std::size_t item = size_of(array.dtype()), begin = static_cast<std::size_t>(before_) * item, end = begin + static_cast<std::size_t>(array.size()) * item;
    const auto *now = static_cast<const std::byte*>(all_.data()), *was = static_cast<const std::byte*>(kept_.data());
    return std::memcmp(now, was, begin) == 0 && std::memcmp(now + end, was + end, static_cast<std::size_t>(all_.size()) * item - end) == 0;
  }
  Array array;

 private:
  Index before_;
  Array all_, kept_;
};

}  // namespace

TEST_CASE("rows that begin within lines have the same bits when lines are put together of them, on any threads, and nothing beside them is written") {
  for (const DType dtype : {f32, f64, DType::f16})
    for (const int threads : {1, 3}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"n", "m"}), w = g.input("w", dtype, {"m"});
      const Expr scaled = x / sqrt(sum(square(x), 1, true) + 1), centred = (x - mean(x, 1, true)) * w, affine = x * w + w;
      for (const std::vector<Expr>& results : {std::vector<Expr>{scaled}, {centred, affine}, {softmax(x, 1)}}) {
        const Function f = compile(results, {x, w}, streaming(threads)), plain = compile(results, {x, w}, {.threads = 1});
        for (const Index m : {67, 100, 129, 1001})
          for (const Index n : {1, 5, 160}) {
            CAPTURE(m);
            CAPTURE(n);
            const std::vector<Array> inputs{counted(dtype, {n, m}), counted(dtype, {m})};
            const std::vector<Array> expected = plain(inputs);
            for (const Index before : {0, 3, 16}) {
              std::vector<Placed> placed;
              std::vector<Array> arrays;
              for (std::size_t k = 0; k < results.size(); ++k) placed.emplace_back(dtype, Dims{n, m}, before), arrays.push_back(placed.back().array);
              f.run(inputs, arrays);
              for (std::size_t k = 0; k < results.size(); ++k) {
                CHECK(std::memcmp(arrays[k].data(), expected[k].data(), static_cast<std::size_t>(n * m) * size_of(dtype)) == 0);
                CHECK(placed[k].is_alone());
              }
            }
          }
        CAPTURE(dtype);
        CHECK(combines_rows(f));
      }
    }
}

TEST_CASE("bytes, integers and conditions are put together as they are") {
  for (const DType dtype : {DType::u8, DType::i16, DType::i64}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"n", "m"}), w = g.input("w", dtype, {"m"}), v = g.input("v", dtype, {"n"});
    const std::vector<Expr> inputs{x, w, v}, results{x * w + expand_dims(v, 1), x < w, maximum(x, expand_dims(v, 1))};
    const Function f = compile(results, inputs, streaming(2)), plain = compile(results, inputs, {.threads = 1});
    for (const Index m : {131, 150, 1003}) {
      const auto small = [&](const Dims& shape) { return counted_by(dtype, shape, [](Index k) { return static_cast<double>(k * 7 % 11); }); };
      const std::vector<Array> arrays{small({90, m}), small({m}), small({90})}, expected = plain(arrays);
      std::vector<Placed> placed;
      std::vector<Array> into;
      for (const Array& each : expected) placed.emplace_back(each.dtype(), Dims{90, m}, 5), into.push_back(placed.back().array);
      f.run(arrays, into);
      for (std::size_t k = 0; k < expected.size(); ++k) {
        CHECK(std::memcmp(into[k].data(), expected[k].data(), static_cast<std::size_t>(90 * m) * size_of(expected[k].dtype())) == 0);
        CHECK(placed[k].is_alone());
      }
    }
    CHECK(combines_rows(f));
  }
}

TEST_CASE("rows of planes with gaps between them, and rows in the memory of an operand, are put together") {
  Graph g;
  const Expr x = g.input("x", f32, {"p", "n", "m"}), w = g.input("w", f32, {"m"}), y = x * w + exp(w);
  const Array weights = counted(f32, {75});
  const Function f = compile({y}, {x, w}, streaming(2)), plain = compile({y}, {x, w}, {.threads = 1});
  const Array operand = counted(f32, {6, 30, 75}), expected = plain({operand, weights})[0];
  Array wide = counted(f32, {6, 33, 75});
  const Array kept = wide.copy();
  f.run({operand, weights}, {Array(wide.slice(1, 2, 30))});
  CHECK(combines_rows(f));
  for (Index p = 0; p < 6; ++p)
    for (Index i = 0; i < 33; ++i)
      for (Index j = 0; j < 75; ++j) REQUIRE(wide.at<float>({p, i, j}) == (i < 2 || i >= 32 ? kept.at<float>({p, i, j}) : expected.at<float>({p, i - 2, j})));

  const Expr v = g.input("v", f32, {"n", "m"});
  const Function in_place = compile({softmax(v, 1)}, {v}, streaming());
  const Array rows = counted(f32, {50, 99}), soft = compile({softmax(v, 1)}, {v}, {.threads = 1})({rows})[0];
  in_place.run({rows}, {rows});
  CHECK(std::memcmp(rows.data(), soft.data(), 50 * 99 * 4) == 0);
}

TEST_CASE("rows are put together past the caches, if they follow each other, are neither short nor long, and are written as rows") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), w = g.input("w", f32, {"m"}), y = x * w + w;
  const auto combines = [&](const Expr& result, const Options& options, Index n, Index m, Index gap = 0) {
    const Function f = compile({result}, {x, w}, options);
    const Array all = counted(f32, {n, m + gap});
    f.run({counted(f32, {n, m}), counted(f32, {m})}, {Array(all.slice(1, 0, m))});
    return combines_rows(f);
  };
  CHECK(combines(y, streaming(), 40, 100));
  CHECK_FALSE(combines(y, {.threads = 1}, 40, 100));            // the caches hold them
  CHECK_FALSE(combines(y, streaming(), 40, 112));               // rows are whole lines: straight from registers
  CHECK_FALSE(combines(y, streaming(), 40, 100, 3));            // a gap behind each
  CHECK_FALSE(combines(y, streaming(), 40, 27));
  CHECK_FALSE(combines(y, streaming(), 40, 5001));
  CHECK_FALSE(combines(x * 2.0f, streaming(), 40, 100));        // one row
}

TEST_CASE("rows whose windows overlap are put together where each reads few rows, and go several at once elsewhere") {
  if (!has_feature(host_features(), "+avx512f")) return;
  Graph g;
  const Expr x = g.input("x", f32, {"h", "w"});
  const auto sums = [&](Index size) {
    const auto part = [&](Index from) { return Slice(from, from == size - 1 ? std::optional<Index>() : std::optional<Index>(from - size + 1)); };
    Expr sum;
    for (Index k = 0; k < size * size; ++k) sum = k == 0 ? x.slice({part(0), part(0)}) : sum + x.slice({part(k / size), part(k % size)});
    const Function f = compile({sum}, {x}, streaming());
    same_bits(f, {counted(f32, {60, 100})});
    return combines_rows(f);
  };
  CHECK(sums(3));
  CHECK_FALSE(sums(5));
}
