// Which axis runs as vectors, and which loops are right outside of it.
#include "bits.h"
#include "code/features.h"

using namespace weft;

TEST_CASE("folds of a middle axis beside rows of a few elements run along these, if vectors have masks; of two elements across them") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m", "c"});
  const bool masks = has_feature(host_features(0), "+avx512f");
  const std::vector<std::pair<Expr, std::vector<Dims>>> cases{
      {sum(x, 1), {{266, 15, 15}, {2000, 3, 10}, {1875, 8, 4}}}, {max(x, 1), {{937, 8, 8}}}, {x - mean(x, 1, true), {{266, 15, 15}, {937, 8, 8}}}, {softmax(x, 1), {{266, 15, 15}}}};
  for (const auto& [result, shapes] : cases)
    for (const Dims& shape : shapes) {
      CAPTURE(to_text(shape));
      const Function f = compile({result}, {x}, {.threads = 1, .verify = true});
      same_bits(f, {uneven(f32, shape)});
      if (masks) CHECK(f.program().find("lanes j in " + std::to_string(shape[2])) != std::string::npos);
    }
  for (const Expr& result : {sum(x, 1), max(x, 1), softmax(x, 1)}) {
    const Function f = compile({result}, {x}, {.threads = 1, .verify = true});
    same_bits(f, {uneven(f32, {6000, 5, 2})});
    CHECK(f.program().find(" in 2 within") == std::string::npos);
    CHECK(f.program().find("lanes i in n within unit") != std::string::npos);
  }
  for (const DType dtype : {f64, u8, f16})
    for (const Dims& shape : {Dims{40, 5, 3}, Dims{70, 17, 4}, Dims{9, 100, 15}, Dims{300, 2, 9}}) {
      const Expr y = g.input(concat("y", to_text(dtype), shape[1]), dtype, {"a", "b", "d"});
      same_bits(compile({max(y, 1), argmax(y, 1), sum(y, 1), cast(y, f32) - mean(cast(y, f32), {0, 1})}, {y}, {.threads = 1, .verify = true}), {uneven(dtype, shape)});
    }
}

TEST_CASE("rows of eight and more elements are vectors where what lies between others would be read one by one: exchanged axes, running sums") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m", "c"});
  const bool masks = has_feature(host_features(0), "+avx512f");
  for (const Expr& result : {permute_dims(x, {0, 2, 1}) * 2, permute_dims(x, {1, 0, 2}) + 1, cumulative_sum(x, 1)})
    for (const Dims& shape : {Dims{750, 8, 10}, Dims{23, 256, 8}, Dims{33, 100, 15}, Dims{7, 9, 3}}) {
      CAPTURE(to_text(shape));
      const Function f = compile({result}, {x}, {.threads = 1, .verify = true});
      same_bits(f, {uneven(f32, shape)});
      if (masks && shape[2] >= 8) CHECK(f.program().find(" in " + std::to_string(shape[2]) + " ") != std::string::npos);
      if (masks && shape[2] >= 8) CHECK(f.program().find("lanes i in n") == std::string::npos);
    }
}

// A window of a picture shares nothing: its vectors, of one row of channels each, would be folded one at a time.
TEST_CASE("sums over a few elements go right outside the vectors that rows share, whatever their length") {
  for (const auto& [rows, sums, columns] : std::vector<std::array<Index, 3>>{{8, 8, 12}, {15, 15, 9}, {2, 2, 15}, {5, 7, 33}, {3, 31, 20}}) {
    CAPTURE(rows);
    CAPTURE(sums);
    CAPTURE(columns);
    Graph g;
    const Expr x = g.input("x", f32, {"n", rows, sums}), y = g.input("y", f32, {"n", sums, columns});
    const Function f = compile({matmul(x, y)}, {x, y}, {.threads = 2, .verify = true});
    for (const Index n : {60, 0, 1, 3}) same_bits(f, {uneven(f32, {n, rows, sums}), uneven(f32, {n, sums, columns})});
    if (has_feature(host_features(0), "+avx512f")) CHECK(f.schedule().find(concat("serial j:", rows, " {\n      serial l:", sums, " {\n        lanes k:", columns)) != std::string::npos);
  }
  Graph g;
  const Expr picture = g.input("picture", f32, {"h", 2, "w", 3, 16});
  const Function largest = compile({max(picture, {1, 3})}, {picture}, {.threads = 2, .verify = true});
  same_bits(largest, {uneven(f32, {10, 2, 9, 3, 16})});
  CHECK(largest.schedule().find("serial l:3 {\n          lanes") == std::string::npos);
}

TEST_CASE("what few elements run along is no vector axis: samples of variances down many rows") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m", "c"}), w = g.input("w", f32, {"c"}), y = log(abs(x - mean(x, 0, true)) + 1.0f) * w;
  const Function f = compile({var(y, 0)}, {x, w}, {.threads = 1, .verify = true});
  for (const Dims& shape : {Dims{300, 2, 100}, Dims{300, 1, 200}, Dims{300, 200, 1}}) {
    same_bits(f, {uneven(f32, shape), uneven(f32, {shape[2]})});
    for (const char axis : {'j', 'k', 'l'}) CHECK(f.program().find(concat("lanes ", axis, " in (n+15)/16")) == std::string::npos);
    CHECK(f.program().find("in (n+15)/16") != std::string::npos);
  }
}
