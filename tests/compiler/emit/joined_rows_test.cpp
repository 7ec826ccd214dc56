// Rows of a few elements that follow each other without a gap, such as the channels of pixels, are read and written by whole vectors: the
// interpreter's bits, no byte beyond the array, and row by row where they do have gaps.
#include <weft/weft.h>

#if defined(__linux__)
#include "bits.h"
#include "code/features.h"
#include "guarded.h"

using namespace weft;

namespace {

Array counted(DType dtype, const Dims& shape) {
  return counted_by(dtype, shape, [](Index k) { return static_cast<double>(k * 37 % 113); });
}

bool has_rows_of(const Function& f, Index few) { return f.llvm().find(concat("store <", few, " x ")) != std::string::npos || f.llvm().find(concat("load <", few, " x ")) != std::string::npos; }

}  // namespace

TEST_CASE("planes to pixels and back, for every element size, number of channels and width of registers") {
  for (const DType dtype : {u8, f16, f32, f64})
    for (const Index few : {2, 3, 4, 5, 7, 8, 9})
      for (const bool to_planes : {false, true})
        for (const int lanes : {0, 8, 4}) {
          CAPTURE(dtype);
          CAPTURE(few);
          CAPTURE(to_planes);
          CAPTURE(lanes);
          Graph g;
          const Expr x = g.input("x", dtype, to_planes ? Shape{"n", few} : Shape{few, "n"}), y = transpose(x) + x.graph().constant(dtype, {}, {1});
          const Function f = compile({y}, {x}, {.threads = 2, .lanes = lanes, .verify = true});
          for (const Index n : {4096, 1, 15, 16, 17, 100, 1040}) {
            const Array values = counted(dtype, to_planes ? Dims{n, few} : Dims{few, n});
            for (const bool at_end : {false, true}) same_bits(f, {guarded(values, at_end)});
          }
        }
}

TEST_CASE("rows of three are whole vectors where they have no gaps, and rows where they have") {
  Graph g;
  const Expr x = g.input("x", f32, {3, "n"}), y = transpose(x) * 2;
  const Function f = compile({y}, {x}, {.threads = 1, .verify = true});
  const Array values = counted(f32, {3, 1024});
  Array joined(f32, {1024, 3}), gaps(f32, {1024, 5});
  f.run({values}, {joined});
  CHECK_FALSE(has_rows_of(f, 3));
  gaps.fill(Scalar::of(f32, 77.0));
  const Array within = gaps.slice(1, 1, 3);
  f.run({values}, {within});
  CHECK(has_rows_of(f, 3));
  CHECK(difference(within, joined) == "");
  for (Index row = 0; row < 1024; ++row)
    for (const Index beside : {0, 4}) CHECK(gaps.at<float>({row, beside}) == 77);
}

TEST_CASE("ops over whole rows run along them, and only what is folded is transposed") {
  for (const DType dtype : {f32, f64, i32})
    for (const Index few : {2, 3, 4, 8, 13})
      for (const int lanes : {0, 8}) {
        CAPTURE(dtype);
        CAPTURE(few);
        CAPTURE(lanes);
        Graph g;
        const Expr x = g.input("x", dtype, {"n", few}), y = g.input("y", dtype, {"n", few}), a = g.input("a", dtype, {}), row = g.input("row", dtype, {few}),
                   each = g.input("each", dtype, {"n"}), difference = x - y, scaled = a * x + y;
        Options options{.threads = 2, .lanes = lanes, .verify = true};
        std::vector<Function> functions{compile({sum(difference * difference, 1), max(abs(difference), 1)}, {x, y, a, row, each}, options),      // a fold for each operand
                                        compile({scaled, sum(scaled, 1) + each, min(x, 1)}, {x, y, a, row, each}, options),              // results beside
                                        compile({sum(x * y), prod(x, 1), any(x > y, 1)}, {x, y, a, row, each}, options),
                                        compile({sum(x * row, 1), sum(y * expand_dims(each, 1), 1)}, {x, y, a, row, each}, options),     // the same for each row, or all of it
                                        compile({sum(x * row, 1) + each, sum(x * expand_dims(each, 1), 0)}, {x, y, a, row, each}, options),
                                        compile({sum(x, 0), prod(y, 0), sum(x * y * row)}, {x, y, a, row, each}, options)};              // down the columns
        if (is_floating(dtype)) functions.push_back(compile({sum(x / row, 1), sum(difference / expand_dims(each, 1) + row, 0), max(x, 0)}, {x, y, a, row, each}, options));
        options.cache_bytes = 1;
        functions.push_back(compile({scaled, sum(difference, 1)}, {x, y, a, row, each}, options));
        for (const Index n : {4096, 15, 16, 17, 1040})
          for (const bool at_end : {false, true}) {
            const Array rows = guarded(counted(dtype, {n, few}), at_end), others = guarded(near_one(dtype, {n, few}), at_end);
            for (const Function& f : functions) same_bits(f, {rows, others, near_one(dtype, {}), near_one(dtype, {few}), near_one(dtype, {n})});
          }
      }
}

TEST_CASE("sums down a few columns end in vectors of all columns, and take what is left of sixteen rows with masks, to the last byte of memory") {
  for (const DType dtype : {f32, f64, DType::i32, DType::i64})
    for (const Index few : {2, 3, 5, 7, 8, 11, 15, 16})
      for (const int lanes : {0, 8}) {
        CAPTURE(dtype);
        CAPTURE(few);
        CAPTURE(lanes);
        Graph g;
        const Expr x = g.input("x", dtype, {"n", few}), y = g.input("y", dtype, {"n", few}), row = g.input("row", dtype, {"n"}), column = g.input("column", dtype, {few});
        const Expr shifted = x - column;
        const Function f = compile({sum(x, 0), sum(shifted * shifted, 0), sum(x * y, 0)}, {x, y, column}, {.threads = 2, .lanes = lanes, .verify = true});
        const Function weighted = compile({sum(x * expand_dims(row, 1), 0), sum(shifted, 0)}, {x, row, column}, {.threads = 2, .lanes = lanes, .verify = true});
        for (const Index n : {2048, 0, 1, 15, 16, 17, 31, 1023, 1025, 2050})
          for (const bool at_end : {false, true}) {
            CAPTURE(n);
            const auto matrix = [&] { return guarded(uniform(dtype, {n, few}, 5), at_end); };
            same_bits(f, {matrix(), matrix(), uniform(dtype, {few}, 6)});
            same_bits(weighted, {matrix(), guarded(uniform(dtype, {n}, 7), at_end), uniform(dtype, {few}, 6)});
          }
      }
}

TEST_CASE("sums of more than a leaf of rows of a few elements, of several matrices, with NaN and infinities") {
  for (const DType dtype : {f32, f64})
    for (const Index few : {3, 6, 15}) {
      CAPTURE(dtype);
      CAPTURE(few);
      Graph g;
      const Expr x = g.input("x", dtype, {"b", "n", few});
      const Function f = compile({sum(x, 1), var(x, 1)}, {x}, {.threads = 2, .verify = true});
      for (const Index n : {3000, 1, 1024, 1030, 2048, 5}) same_bits(f, {uniform(dtype, {3, n, few}, 8)});
      const Expr y = g.input("y", dtype, {"n", few});
      const Function special_too = compile({sum(y, 0), max(y, 0), prod(y, 0)}, {y}, {.threads = 2, .verify = true});
      for (const Index n : {2048, 37}) same_bits(special_too, {special(dtype, {n, few}, 7)});
    }
}

TEST_CASE("columns of sums are not taken from vectors of rows lane by lane") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 15});
  const Function f = compile({sum(x, 0)}, {x}, {.threads = 1, .verify = true});
  same_bits(f, {counted(f32, {65536, 15})});
  const std::string code = f.llvm();
  std::size_t shuffles = 0;
  for (std::size_t at = 0; (at = code.find("shufflevector", at)) != std::string::npos; ++at) ++shuffles;
  CHECK(shuffles <= 8 + 4 + 2 + 1 + 1);         // halves of 15 vectors, and the end; each column by itself would take thirteen
}

TEST_CASE("rows of four floats without gaps are loaded as whole vectors for their sums, those with gaps are not") {
  Graph g;
  const Expr x = g.input("x", f32, {1024, 4}), y = g.input("y", f32, {1024, 4});
  const Function f = compile({sum(square(x - y), 1)}, {x, y}, {.threads = 1, .verify = true});
  same_bits(f, {counted(f32, {1024, 4}), near_one(f32, {1024, 4})});
  CHECK(f.llvm().find("load <4 x float>") == std::string::npos);
  Array gaps(f32, {1024, 6});
  gaps.fill(Scalar::of(f32, 5.0));
  same_bits(f, {gaps.slice(1, 1, 4), near_one(f32, {1024, 4})});
  CHECK(f.llvm().find("load <4 x float>") != std::string::npos);
  const auto backwards = [](const Expr& of) { return flip(of, {1}); };
  const Function turned = compile({sum(square(backwards(x) - y), 1)}, {x, y}, {.threads = 1, .verify = true});
  same_bits(turned, {counted(f32, {1024, 4}), near_one(f32, {1024, 4})});
}

TEST_CASE("some channels of more, channels backwards and pixels backwards are read row by row") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 4});
  for (const Expr& part : {x.slice({{}, {0, 3}}), x.slice({{}, {1, {}}}), flip(x, {1}), flip(x, {0}), x.slice({{{}, {}, 2}})}) {
    const Function f = compile({transpose(part) * 2}, {x}, {.threads = 2, .verify = true});
    for (const Index n : {2048, 30, 1}) same_bits(f, {counted(f32, {n, 4})});
  }
}

TEST_CASE("single channels of pixels come from whole pixels, whose loads they share") {
  for (const DType dtype : {u8, f16, f32, f64})
    for (const Index few : {2, 3, 4, 5})
      for (const int lanes : {0, 8}) {
        CAPTURE(dtype);
        CAPTURE(few);
        Graph g;
        const Expr x = g.input("x", dtype, {"n", few}), y = g.input("y", dtype, {"n", few});
        const auto channel = [](const Expr& of, Index k) { return of.slice({{}, k}); };
        const Function f = compile({channel(x, few - 1) + channel(y, 0), channel(x, 0) * channel(y, 1), stack({channel(x, 1), channel(y, few - 1)}, 1)}, {x, y},
                                   {.threads = 2, .lanes = lanes, .verify = true});
        for (const Index n : {4096, 1, 15, 16, 17, 100})
          for (const bool at_end : {false, true}) same_bits(f, {guarded(counted(dtype, {n, few}), at_end), guarded(counted(dtype, {n, few}), at_end)});
      }
  Graph g;
  const Expr x = g.input("x", f32, {"n", 3}), sum = x.slice({{}, 0}) * 0.25f + x.slice({{}, 2});
  const Function f = compile({sum}, {x}, {.threads = 1, .verify = true});
  same_bits(f, {counted(f32, {1024, 3})});
  CHECK(f.llvm().find("gather") == std::string::npos);
}

TEST_CASE("means of an image for each channel run along its rows") {
  for (const DType dtype : {f32, u8}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"h", "w", 3});
    const Function f = compile({mean(cast(x, f32), {0, 1}), max(x, {0, 1})}, {x}, {.threads = 2, .verify = true});
    for (const Dims& shape : {Dims{48, 64, 3}, Dims{1, 1, 3}, Dims{37, 51, 3}}) same_bits(f, {counted(dtype, shape)});
    same_bits(f, {counted(dtype, {48, 64, 3})});
    CHECK(f.llvm().find("gather") == std::string::npos);
  }
}

TEST_CASE("elements of small matrices come from whole matrices, whose loads they share") {
  for (const DType dtype : {u8, f16, f32, f64})
    for (const auto& [rows, columns] : {std::pair<Index, Index>{3, 3}, {2, 2}, {4, 4}, {2, 3}, {5, 3}, {2, 9}})
      for (const int lanes : {0, 8}) {
        CAPTURE(dtype);
        CAPTURE(rows);
        CAPTURE(columns);
        Graph g;
        const Expr x = g.input("x", dtype, {"n", rows, columns});
        const auto at = [&](Index row, Index column) { return x.slice({{}, row, column}); };
        const Expr determinant = at(0, 0) * at(1, 1) - at(0, 1) * at(1, 0), corners = at(rows - 1, columns - 1) + at(0, columns - 1);
        const Function f = compile({determinant, corners, permute_dims(x, {1, 2, 0}) + x.graph().constant(dtype, {}, {1})}, {x}, {.threads = 2, .lanes = lanes, .verify = true});
        for (const Index n : {4096, 1, 15, 16, 17, 100})
          for (const bool at_end : {false, true}) same_bits(f, {guarded(counted(dtype, {n, rows, columns}), at_end)});
      }
  Graph g;
  const Expr x = g.input("x", f32, {"n", 3, 3});
  const Function f = compile({x.slice({{}, 0, 0}) + x.slice({{}, 1, 1}) + x.slice({{}, 2, 2})}, {x}, {.threads = 1, .verify = true});
  // Without gathers that are worth it, elements are loaded one by one.
  const char* one_by_one = has_feature(host_features(0), "+avx512f") ? "gather" : "load float, ";
  const auto takes_each = [&] { return f.llvm().find(one_by_one) != std::string::npos; };
  same_bits(f, {counted(f32, {1024, 3, 3})});
  CHECK_FALSE(takes_each());
  Array padded(f32, {1024, 4, 3});                     // the fourth row is a gap
  padded.fill(Scalar::of(f32, 5.0));
  same_bits(f, {padded.slice(1, 0, 3)});
  CHECK(takes_each());
}

TEST_CASE("some channels of pixels of bytes, and means of squares of such pixels") {
  for (const Index few : {2, 3, 4, 7}) {
    Graph g;
    const Expr x = g.input("x", u8, {"h", 2, "w", 2, few});
    const Function means = compile({cast(mean(cast(x, f32), {1, 3}), u8), max(x, {1, 3})}, {x}, {.threads = 2, .verify = true});
    for (const Index w : {320, 100, 16, 3, 1})
      for (const bool at_end : {false, true}) same_bits(means, {guarded(counted(u8, {3, 2, w, 2, few}), at_end)});
  }
  for (const Index few : {2, 3, 4, 7}) {
    Graph g;
    const Expr y = g.input("y", u8, {"n", few + 1}), alpha = cast(y.slice({{}, {few, {}}}), f32) / 255;
    const Function f = compile({cast(cast(y.slice({{}, {0, few}}), f32) * alpha, u8)}, {y}, {.threads = 2, .verify = true});
    for (const Index n : {4096, 1, 15, 16, 17, 1040})
      for (const bool at_end : {false, true}) same_bits(f, {guarded(counted(u8, {n, few + 1}), at_end)});
  }
}

TEST_CASE("windows that overlap are read where they lie") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "k", 3}), fixed = g.input("y", f32, {"n", 5, 3});
  const Function f = compile({permute_dims(x, {2, 1, 0}) * 2, x.slice({{}, 0, 1}) + x.slice({{}, -1, 2})}, {x}, {.threads = 1, .verify = true});
  const Function of_five = compile({fixed.slice({{}, 4, 2}), permute_dims(fixed, {1, 2, 0}) * 2, sum(fixed, 2)}, {fixed}, {.threads = 1, .verify = true});
  for (const bool at_end : {false, true})
    for (const Index stride : {1, 2, 3, 5, 7}) {
      const Index last = 63 * stride + 4 + 2;
      const Array memory = guarded(counted(f32, {last + 1}), at_end);
      const Array windows = Array::borrow(View(memory.data(), f32, {64, 5, 3}, {stride, 1, 1}), std::make_shared<Array>(memory));
      same_bits(f, {windows});
      same_bits(of_five, {windows});
    }
}

TEST_CASE("no channels and no pixels") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 0}), y = g.input("y", f32, {"n", 3});
  const Function none = compile({x * 2, sum(x, 1)}, {x}, {.threads = 1, .verify = true}), few = compile({transpose(y) * 2, y.slice({{}, 1}), sum(y, 1)}, {y}, {.threads = 1, .verify = true});
  for (const Index n : {0, 1, 40}) same_bits(none, {Array(f32, {n, 0})});
  same_bits(few, {Array(f32, {0, 3})});
  const Function empty_inside = compile(parse("graph g(%x: f32[1,4] f, %c: bool[1,4]) -> (%0) {\n  %0: f32[i:1,j:4] = sum(k:0,l:2) where(%c[2*k,2*l], %x[0,0], %x[i,j])\n}\n"), {.threads = 1, .verify = true});
  same_bits(empty_inside, {counted(f32, {1, 4}), Array(bool_, {1, 4})});
}

TEST_CASE("folds over the channels read whole pixels, and what follows them has the same bits") {
  for (const DType dtype : {u8, f32, f64})
    for (const Index few : {2, 3, 6}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"h", "w", few}), gain = g.input("gain", f32, {few}), v = cast(x, f32) * gain;
      const Function f = compile({sum(v, -1), max(v, -1)}, {x, gain}, {.threads = 2, .verify = true});
      for (const Dims& shape : {Dims{64, 64, few}, Dims{1, 5, few}, Dims{7, 33, few}}) same_bits(f, {counted(dtype, shape), near_one(f32, {few})});
    }
}

TEST_CASE("pixels of floats go past the caches, those of an image and not of a part of one") {
  for (const Index few : {2, 3, 4, 8}) {
    Graph g;
    const Expr x = g.input("x", f32, {few, "h", "w"}), y = permute_dims(x, {1, 2, 0}) * 2;
    const Function f = compile({y}, {x}, {.threads = 2, .cache_bytes = 1, .verify = true});
    const auto streams = [&] { return f.llvm().find("!nontemporal") != std::string::npos; };
    for (const Dims& shape : {Dims{few, 32, 80}, Dims{few, 3, 5}, Dims{few, 31, 33}}) same_bits(f, {counted(f32, shape)});
    const Array values = counted(f32, {few, 32, 80}), image = Array::empty(f32, {32, 80, few}), large = Array::empty(f32, {32, 82, few});
    f.run({values}, {image});
    CHECK(streams());
    f.run({values}, {large.slice(1, 0, 80)});
    CHECK_FALSE(streams());
    CHECK(difference(large.slice(1, 0, 80), image) == "");
  }
}

TEST_CASE("few rows, of which all vectors are part empty, are stored side by side") {
  for (const DType dtype : {f32, f64, u8, i16})
    for (const Index channels : {2, 3, 4, 5, 7})
      for (const Index pixels : {3, 8, 15, 16, 20, 33}) {
        CAPTURE(channels);
        CAPTURE(pixels);
        Graph g;
        const Expr x = g.input("x", dtype, {2, channels, 6, pixels});
        for (const int lanes : {0, 8, 4}) {
          const Function f = compile({permute_dims(x, {0, 2, 3, 1}), flip(permute_dims(x, {0, 2, 3, 1}), 2)}, {x}, {.threads = 1, .lanes = lanes, .verify = true});
          same_bits(f, {uneven(dtype, {2, channels, 6, pixels})});
        }
      }
}

TEST_CASE("parts of pixels that are planes are put together line by line") {
  Graph g;
  const Expr x = g.input("x", f32, {3, 4, 2, 2, 20, 24});
  const Function f = compile({reshape(permute_dims(x, {0, 1, 4, 2, 5, 3}), {3, 4, 40, 48})}, {x}, {.threads = 2, .verify = true});
  same_bits(f, {uneven(f32, {3, 4, 2, 2, 20, 24})});
  CHECK(f.report().find("tiles of 2 elements of m transposed in registers") != std::string::npos);
}

TEST_CASE("pixels of mirrored rows are read whole, from the last one on") {
  for (const DType dtype : {f32, f64, u8, i16})
    for (const Index channels : {2, 3, 4, 5, 7})
      for (const Index pixels : {16, 20, 33, 64}) {
        CAPTURE(channels);
        CAPTURE(pixels);
        Graph g;
        const Expr x = g.input("x", dtype, {3, pixels, channels}), mirrored = flip(x, 1);
        const Array values = uneven(dtype, {3, pixels, channels});
        for (const int lanes : {0, 8}) {
          const Function planes = compile({permute_dims(mirrored, {2, 0, 1}), permute_dims(cast(mirrored, f32) * 2, {2, 0, 1}), sum(mirrored, 2)}, {x}, {.threads = 1, .lanes = lanes, .verify = true});
          for (const bool at_end : {false, true}) same_bits(planes, {guarded(values, at_end)});
        }
      }
}
#endif
