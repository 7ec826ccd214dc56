// Stores past the caches: the same bits, only where whole lines are written, and only for calls that exceed the caches.
#include <doctest/doctest.h>

#include <cstring>

#include <weft/memory.h>
#include <weft/weft.h>

#include <error_text.h>

#include "bits.h"
#include "function/compile_for.h"

using namespace weft;

namespace {

Options streaming(int threads = 1) { return {.threads = threads, .cache_bytes = 1, .verify = true}; }

bool stores_past_caches(const Function& f) { return f.assembly().find("vmovntp") != std::string::npos || f.assembly().find("movntp") != std::string::npos; }

Array counted_of(DType dtype, const Dims& shape) {
  return counted_by(dtype, shape, [](Index k) { return static_cast<double>(k % 1013) - 500; });
}
Array counted(const Dims& shape) { return counted_of(f32, shape); }

}  // namespace

TEST_CASE("stores past the caches give the same bits, whatever is left over at the end and on any threads") {
  for (Index n : {1, 15, 16, 1024, 5000, 100003})
    for (int threads : {1, 3}) {
      Graph g;
      const Expr x = g.input("x", f32, {"n"}), y = x * 1.5f + exp(x);
      const Function f = compile({y}, {x}, streaming(threads));
      const Array a = counted({n});
      const Array past = f({a})[0], plain = compile({y}, {x}, {.threads = 1})({a})[0];
      CHECK(std::memcmp(past.data<float>(), plain.data<float>(), static_cast<std::size_t>(n) * 4) == 0);
      CHECK(stores_past_caches(f));
    }
}

TEST_CASE("they are not used within the caches, for results that do not start lines, nor for rows that do not") {
  Graph g;
  const Expr x = g.input("x", f32, {"m", "n"}), y = x + 1.0f;
  const Array a = counted({8, 100}), wide = counted({8, 128});
  const Function within = compile({y}, {x}, {.threads = 1, .cache_bytes = 1 << 20});
  within({wide});
  CHECK_FALSE(stores_past_caches(within));

  const Function whole = compile({y}, {x}, streaming());
  whole({wide});
  CHECK(stores_past_caches(whole));

  // A row of 100 floats is no whole number of lines; as one row of 800, the contiguous array is.
  const Array all = counted({8, 104});
  const Function rows = compile({y}, {x}, streaming());
  Array result = counted({8, 104});
  rows.run({a}, {Array(result.slice(1, 0, 100))});
  CHECK_FALSE(stores_past_caches(rows));
  for (Index i = 0; i < 8; ++i)
    for (Index j = 0; j < 104; ++j) CHECK(result.at<float>({i, j}) == (j < 100 ? a.at<float>({i, j}) + 1 : static_cast<float>((i * 104 + j) % 1013) - 500));
}

TEST_CASE("a result that begins within a line, and is one row, is stored past the caches from the next line on") {
  for (const DType dtype : {f32, f64})
    for (const int lanes : {0, 8}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"n", 3}), gain = g.input("gain", dtype, {3});
      for (const Expr& y : {x * gain + x, exp(x) * gain}) {            // a body with masked ends, and one that is emitted once
        const Function f = compile({y}, {x, gain}, {.threads = 3, .lanes = lanes, .cache_bytes = 1, .verify = true}), plain = compile({y}, {x, gain}, {.threads = 1, .lanes = lanes});
        const Array gains = counted_of(dtype, {3});
        for (const Index n : {0, 1, 5, 21, 100, 2111})
          for (const Index before : {1, 4, 7, 15, 16}) {
            CAPTURE(n);
            CAPTURE(before);
            const Array input = counted_of(dtype, {n, 3}), all = counted_of(dtype, {3 * n + 32}), kept = all.copy();
            const Array result = Array::borrow(View(static_cast<std::byte*>(all.data()) + before * item_bytes(dtype), dtype, {n, 3}), all.owner());
            f.run({input, gains}, {result});
            const Array expected = plain({input, gains})[0];
            const auto bytes = [&](Index count) { return static_cast<std::size_t>(count) * size_of(dtype); };
            CHECK(std::memcmp(result.data(), expected.data(), bytes(3 * n)) == 0);
            CHECK(std::memcmp(all.data(), kept.data(), bytes(before)) == 0);
            CHECK(std::memcmp(static_cast<std::byte*>(all.data()) + bytes(before + 3 * n), static_cast<std::byte*>(kept.data()) + bytes(before + 3 * n), bytes(32 - before)) == 0);
            if (n >= 21) CHECK(stores_past_caches(f));
          }
      }
    }
}

TEST_CASE("where several results begin within lines, or elements within elements, none is stored past the caches") {
  Graph g;
  const Expr v = g.input("v", f32, {"n"});
  const Function two = compile({v * 2.0f, v + 1.0f}, {v}, streaming()), one = compile({v * 2.0f}, {v}, streaming());
  Array a = counted({201}), b = counted({201});
  two.run({counted({200})}, {Array(a.slice(0, 1, 200)), Array(b.slice(0, 1, 200))});
  CHECK_FALSE(stores_past_caches(two));
  CHECK(a.at<float>({200}) == 2 * (199.0f - 500));
  CHECK(b.at<float>({200}) == 199.0f - 499);
  std::vector<std::byte> bytes(4 * 201);
  one.run({counted({200})}, {Array::borrow(View(bytes.data() + 2, f32, {200}))});
  CHECK_FALSE(stores_past_caches(one));
  float last = 0;
  std::memcpy(&last, bytes.data() + 2 + 4 * 199, 4);
  CHECK(last == 2 * (199.0f - 500));
}

TEST_CASE("images are one row, if they have no gaps") {
  for (const DType dtype : {f32, f64}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"h", "w", 3}), gain = g.input("gain", dtype, {3});
    const Function f = compile({x * gain + x}, {x, gain}, streaming(2)), plain = compile({x * gain + x}, {x, gain}, {.threads = 1});
    const auto filled = [&](const Dims& shape) {
      Array array(dtype, shape);
      array.fill(Scalar::of(dtype, 3.0));
      for (Index k = 0; k < array.size(); k += 5) std::memset(static_cast<std::byte*>(array.data()) + k * item_bytes(dtype), 2, 1);
      return array;
    };
    const Array gains = filled({3});
    for (const Index w : {40, 64, 7, 333}) {
      const Array image = filled({50, w, 3}), got = f({image, gains})[0], expected = plain({image, gains})[0];
      CHECK(std::memcmp(got.data(), expected.data(), static_cast<std::size_t>(image.size()) * size_of(dtype)) == 0);
      if (w >= 40) CHECK(stores_past_caches(f));
      Array wide = filled({50, w + 4, 3});
      f.run({image, gains}, {Array(wide.slice(1, 0, w))});
      CHECK_FALSE(stores_past_caches(f));
      CHECK(std::memcmp(Array(wide.slice(1, 0, w).slice(0, 7, 1)).data(), static_cast<const std::byte*>(expected.data()) + 7 * 3 * w * item_bytes(dtype), static_cast<std::size_t>(3 * w) * size_of(dtype)) == 0);
    }
  }
}

TEST_CASE("the size of the caches is the machine's unless it is given; it is not negative") {
  CHECK(machine_cache_bytes() >= (1u << 20));
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  CHECK(error_text([&] { compile({x + 1}, {x}, {.cache_bytes = -1}); }) == "usage: Options::cache_bytes: expected a number of bytes, or 0 for what the processor has, got -1");
  const Function within = compile({x + 1}, {x});
  within({counted({4096})});
  CHECK_FALSE(stores_past_caches(within));
}

TEST_CASE("folds over long rows of more than the machine's fetch_bytes fetch ahead; not those over short rows, nor of less") {
  Graph g;
  const Expr x = g.input("x", f32, {"m", "n"}), y = g.input("y", f32, {"m", "n"});
  const auto fetches = [&](const Expr& result, const std::vector<Expr>& inputs, Index length, double fetch_bytes) {
    Machine machine;
    machine.fetch_bytes = fetch_bytes;
    const Function f = compile_for(machine, {result}, inputs, {.threads = 1, .verify = true}), plain = compile({result}, inputs, {.threads = 1});
    const std::vector<Array> arrays(inputs.size(), counted({40, length}));
    const Array got = f(arrays)[0], expected = plain(arrays)[0];
    CHECK(std::memcmp(got.data(), expected.data(), static_cast<std::size_t>(got.size()) * size_of(got.dtype())) == 0);
    return f.assembly().find("prefetch") != std::string::npos;
  };
  const Expr total = sum(square(x), 1), distance = sum(square(x - 2 * y));
  CHECK(fetches(total, {x}, 1003, 1));
  CHECK(fetches(total, {x}, 4096, 1));
  CHECK_FALSE(fetches(total, {x}, 200, 1));
  constexpr double bytes = 40 * 1003 * 4;                       // of one array
  CHECK(fetches(total, {x}, 1003, bytes - 1));
  CHECK_FALSE(fetches(total, {x}, 1003, bytes));
  CHECK(fetches(distance, {x, y}, 1003, 2 * bytes - 1));        // what the loop reads is counted together
  CHECK_FALSE(fetches(distance, {x, y}, 1003, 2 * bytes));
}

TEST_CASE("rows whole pages apart are loaded before those of the same tile are stored; others as they come") {
  Graph g;
  const Expr x = g.input("x", f32, {"m", "n"}), y = g.input("y", f32, {"n", "m"});
  const auto loads_between_stores = [&](Index rows, Index columns, const std::vector<Expr>& results) {
    const Function f = compile(results, {x, y}, streaming());
    same_bits(f, {counted({columns, rows}), counted({rows, columns})});
    const std::string code = f.llvm();
    std::size_t of_first_row = code.find("!nontemporal");
    for (std::size_t k = 1; k < results.size(); ++k) of_first_row = code.find("!nontemporal", of_first_row + 1);
    const std::size_t next = code.find("!nontemporal", of_first_row + 1);
    REQUIRE(next < code.size());
    return code.substr(of_first_row, next - of_first_row).find("load <16 x float>") != std::string::npos;
  };
  const Expr sum = transpose(x) + y;
  for (const Index rows : {32, 600}) {
    CHECK_FALSE(loads_between_stores(rows, 1024, {sum}));
    CHECK_FALSE(loads_between_stores(rows, 2048, {sum}));
    CHECK(loads_between_stores(rows, 1040, {sum}));
  }
  CHECK(loads_between_stores(32, 1024, {sum, transpose(x) * y}));
  // Numbers of elements are computed: no row of them is loaded.
  CHECK_FALSE(loads_between_stores(32, 1024, {sum + expand_dims(iota(g, y.shape()[1], f32), 0)}));
}
