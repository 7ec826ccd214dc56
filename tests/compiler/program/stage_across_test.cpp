// Rows whose arrays lie across, with loops too large for tiles: sixteen rows are transposed into scratch. The bits of the interpreter for
// all sizes about sixteen, with folds along rows and over them, several loops in a row, three axes.
#include "bits.h"
#include "layouts.h"

using namespace weft;

namespace {

Array wavy(DType dtype, const Dims& shape, Order order) {
  Array array(dtype, shape, order);
  Index k = 0;
  for_each_element(shape, [&](const Dims& index) { Scalar::of(dtype, static_cast<double>(k++ * 7919 % 1009 - 400) / 150).store(element_address(array, index)); });
  return array;
}

// Into these results, or arrays of that order.
void check_into(const Function& f, const std::vector<Array>& arrays, std::vector<Array> results) {
  const Graph& graph = f.final_graph(arrays);
  const std::vector<Array> expected = interpret(graph, graph.outputs, graph.inputs, arrays, {}, compiled_math);
  f.run(arrays, results);
  for (std::size_t k = 0; k < results.size(); ++k) CHECK(difference(results[k], expected[k]) == "");
}
void check_into(const Function& f, const std::vector<Array>& arrays, Order order) {
  const Graph& graph = f.final_graph(arrays);
  std::vector<Array> results;
  for (const Array& each : interpret(graph, graph.outputs, graph.inputs, arrays, {}, compiled_math)) results.emplace_back(each.dtype(), each.shape(), order);
  check_into(f, arrays, results);
}

// One of the inputs lies in layout F, or all, or the results do.
void check_layouts(const std::vector<Expr>& outputs, const std::vector<Expr>& inputs, DType dtype, const Dims& shape, int threads = 1) {
  const Function f = compile(outputs, inputs, checked(threads));
  for (const auto& [first, count, order] : std::vector<std::tuple<std::size_t, std::size_t, Order>>{{0, 0, Order::c}, {0, 1, Order::c}, {1, 1, Order::c}, {0, 2, Order::c}, {0, 0, Order::f}, {0, 1, Order::f}}) {
    CAPTURE(first);
    CAPTURE(count);
    CAPTURE(order == Order::f);
    std::vector<Array> arrays;
    for (std::size_t k = 0; k < inputs.size(); ++k) arrays.push_back(wavy(dtype, shape, k >= first && k < first + count ? Order::f : Order::c));
    check_into(f, arrays, order);
  }
}

const std::vector<std::pair<Index, Index>> sizes{{1, 40}, {15, 40}, {16, 16}, {17, 33}, {32, 15}, {50, 131}, {1030, 20}};

}  // namespace

TEST_CASE("large bodies with folds along the rows and over all of them, one operand across") {
  for (DType dtype : {f32, f64})
    for (const auto& [n, m] : sizes) {
      CAPTURE(n);
      CAPTURE(m);
      Graph g;
      const Expr x = g.input("x", dtype, {"n", "m"}), y = g.input("y", dtype, {"n", "m"});
      const Expr s = softplus(0.7 * x - 1.3 * y) * sigmoid(x * y + 0.1);
      check_layouts({s, sum(s), sum(s * x, 1), sum(s * y)}, {x, y}, dtype, {n, m}, n == 50 ? 3 : 1);
      check_layouts({sum(s, 1) + exp(max(x, 1))}, {x, y}, dtype, {n, m});
    }
}

TEST_CASE("several loops in a row, and rows that are read again") {
  for (const auto& [n, m] : sizes) {
    Graph g;
    const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"n", "m"});
    const Expr z = x + tanh(y);
    check_layouts({softmax(z, 1), z - logsumexp(z * y, 1, true)}, {x, y}, f32, {n, m}, 2);
    const Expr e = exp(z - max(z, 1, true)), s = sum(e, 1, true);
    check_layouts({e, e / s, s * y}, {x, y}, f32, {n, m});
  }
}

TEST_CASE("three axes: rows of rows across, reversed and part of a larger array") {
  Graph g;
  const Expr x = g.input("x", f32, {"a", "b", "c"}), y = g.input("y", f32, {"a", "b", "c"});
  const Expr s = sigmoid(x) * tanh(y) + exp(-(x * x)) + log1p(x * x) * erf(y);
  const Function f = compile({sum(s, 2), s}, {x, y}, checked());
  for (const Dims& shape : {Dims{18, 3, 20}, Dims{3, 18, 20}, Dims{33, 2, 17}, Dims{20, 20, 4}, Dims{16, 1, 16}, Dims{17, 0, 5}}) {
    CAPTURE(to_text(shape));
    const Array a = wavy(f32, shape, Order::c), b = wavy(f32, shape, Order::c);
    const Graph& graph = f.final_graph({a, b});
    const std::vector<Array> expected = interpret(graph, graph.outputs, graph.inputs, {a, b}, {}, compiled_math);
    for (const auto& [name, view] : layouts(f32, shape)) {
      CAPTURE(name);
      const std::vector<Array> got = f({filled_like(a, view), b});
      for (std::size_t k = 0; k < got.size(); ++k) CHECK(difference(got[k], expected[k]) == "");
    }
  }
}

TEST_CASE("sixteen rows at a time, in blocks where values are folded over the rows, if they are enough and not too long") {
  const auto program = [](bool fold_all, const Dims& shape, Order order) {
    Graph g("staged");
    const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"n", "m"});
    const Expr s = softplus(0.7 * x - 1.3 * y) * sigmoid(x * y + 0.1);
    const Function f = compile({s, fold_all ? sum(s) : sum(s, 1)}, {x, y}, checked());
    f({Array(f32, shape, order), Array(f32, shape)});
    return f.program();
  };
  const auto is_staged = [](const std::string& text) { return text.find("row") != std::string::npos && text.find("(%x)[i,j] = t") != std::string::npos; };
  CHECK(program(false, {200, 300}, Order::f).find("parallel i in n by 16 {") != std::string::npos);
  CHECK(program(true, {200, 300}, Order::f).find("blocks i in n by 16, folds") != std::string::npos);
  for (const bool all : {false, true}) {
    CHECK(is_staged(program(all, {200, 300}, Order::f)));
    CHECK(!is_staged(program(all, {200, 300}, Order::c)));
    CHECK(!is_staged(program(all, {15, 300}, Order::f)));
    CHECK(!is_staged(program(all, {16, 100000}, Order::f)));
  }
}

TEST_CASE("rows in blocks, which several loops read: transposed once for all of a block") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"n", "m"});
  const Expr centred = x - mean(x, 1, true), spread = sqrt(mean(square(centred), 1, true) + 1e-5);
  const std::vector<Expr> outputs{centred / spread, sum(y / spread, 0), sum(x * y / spread)};
  for (const auto& [n, m] : sizes) {
    CAPTURE(n);
    CAPTURE(m);
    check_layouts({outputs[0]}, {x, y}, f32, {n, m}, 2);
    check_layouts(outputs, {x, y}, f32, {n, m});
  }
  const auto program = [&](std::size_t count, Order order) {
    const Function f = compile({outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(count)}, {x, y}, checked());
    f({Array(f32, {1024, 40}, order), Array(f32, {1024, 40})});
    return f.program();
  };
  for (const std::size_t count : {1, 3}) {
    CHECK(program(count, Order::f).find("(%x)[i,j] = t") != std::string::npos);
    CHECK(program(count, Order::f).find("within block") != std::string::npos);
    CHECK(program(count, Order::c).find("(%x)[i,j] = t") == std::string::npos);
  }
}

TEST_CASE("a result that lies across and is read again by a later loop of the row") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"n", "m"});
  const Expr e = exp(x - max(x, 1, true)), s = sum(e, 1, true);
  const Function f = compile({e, e / s, e * y + s}, {x, y}, checked());
  const std::vector<Array> arrays{wavy(f32, {40, 50}, Order::c), wavy(f32, {40, 50}, Order::c)};
  const Graph& graph = f.final_graph(arrays);
  const std::vector<Array> expected = interpret(graph, graph.outputs, graph.inputs, arrays, {}, compiled_math);
  const std::vector<Array> results{Array(f32, {40, 50}, Order::f), Array(f32, {40, 50}), Array(f32, {40, 50})};
  f.run(arrays, results);
  for (std::size_t k = 0; k < results.size(); ++k) CHECK(difference(results[k], expected[k]) == "");
}

// 16 rows of two arrays, as far apart as says how many of their lines are of one set.
TEST_CASE("operands go by way of scratch where all arrays along the vectors crowd a set of the first level together") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"n", "m"});
  const auto is_staged = [&](const Expr& result, Index columns) {
    const Function f = compile({result}, {x, y}, {.threads = 1, .lanes = 16, .verify = true});
    same_bits(f, {wavy(f32, {80, columns}, Order::f), wavy(f32, {80, columns}, Order::c)});
    return f.program().find("store row") != std::string::npos;
  };
  for (const Index columns : {1024, 1028, 1030, 512, 513}) CHECK(is_staged(x + y, columns));
  for (const Index columns : {1040, 1008, 520, 777}) CHECK_FALSE(is_staged(x + y, columns));
}

// Pixels of a few elements: turned images, planes to pixels and back, with what belongs to a channel, to a row, to a column, and folds beside.
TEST_CASE("a few elements side by side in arrays that lie across are copied with those of sixteen rows at once") {
  for (const DType dtype : {DType::u8, DType::i16, f32, f64})
    for (const Index channels : {2, 3, 4, 5, 8}) {
      CAPTURE(dtype);
      CAPTURE(channels);
      Graph g;
      const Expr x = g.input("x", dtype, {"h", "w", channels}), gain = g.input("gain", f32, {channels});
      const Expr turned = permute_dims(x, {1, 0, 2}), toned = cast(x, f32) * gain, rounded = cast(minimum(floor(toned + 0.5), 100.0), dtype);
      const Expr quarter = flip(turned, 0), column = expand_dims(expand_dims(cast(iota(g, "w", i64), f32), 1), 2);
      const std::vector<Function> turns{compile({turned * 2}, {x}, checked()), compile({turned + flip(turned, 1)}, {x}, checked(3)), compile({quarter * 2}, {x}, checked(2)),
                                        compile({flip(quarter, 1) * 2, cast(quarter, f32) * column, sum(cast(quarter, f32), 1)}, {x}, checked())};
      const std::vector<Function> tones{compile({rounded}, {x, gain}, checked(2)), compile({toned, sum(cast(x, f32), 1)}, {x, gain}, checked())};
      for (const Dims& size : {Dims{40, 33}, Dims{16, 16}, Dims{17, 80}, Dims{100, 15}, Dims{1, 20}, Dims{70, 1}, Dims{0, 5}}) {
        CAPTURE(to_text(size));
        const Dims shape{size[0], size[1], channels};
        const Array pixels = wavy(dtype, shape, Order::c), planes = wavy(dtype, shape, Order::f), gains = near_one(f32, {channels});
        for (const Function& f : turns) {
          check_into(f, {pixels}, Order::c);
          check_into(f, {planes}, Order::f);
        }
        for (const Function& f : tones) {
          check_into(f, {pixels, gains}, Order::f);
          check_into(f, {planes, gains}, Order::c);
        }
        for (const Function* f : {&turns[0], &turns[2], &tones[0]})
          if (size[0] == 40) CHECK(f->program().find("by 16") != std::string::npos);
      }
    }
}

TEST_CASE("pixels with gaps, of several loops, and of two sizes in one nest") {
  Graph g;
  const Expr x = g.input("x", f32, {"h", "w", 3}), y = g.input("y", f32, {"h", "w", 2}), z = g.input("z", f32, {"h", "w", 2, 3});
  const Function two = compile({sum(x, 2) + sum(y, 2), x * 2, y * 3}, {x, y}, checked(2)), four = compile({z * 2 + 1}, {z}, checked()), one = compile({x * 2}, {x}, checked());
  for (const auto& [h, w] : {std::pair<Index, Index>{50, 40}, {16, 17}, {33, 100}}) {
    CAPTURE(h);
    CAPTURE(w);
    const Dims pixels{h, w, 3}, pairs{h, w, 2}, nested{h, w, 2, 3};
    for (const Order in : {Order::c, Order::f}) {
      const Order out = in == Order::c ? Order::f : Order::c;
      check_into(two, {wavy(f32, pixels, in), wavy(f32, pairs, in)}, {Array(f32, {h, w}, out), Array(f32, pixels, out), Array(f32, pairs, out)});
      check_into(four, {wavy(f32, nested, in)}, {Array(f32, nested, out)});
      // Behind each row a gap, and one behind each pixel.
      check_into(one, {wavy(f32, pixels, Order::f)}, {Array(f32, {h, w + 3, 3}).slice(1, 0, w)});
      check_into(one, {wavy(f32, {h, w + 3, 3}, Order::c).slice(1, 2, w)}, {Array(f32, pixels, Order::f)});
      check_into(one, {wavy(f32, pixels, Order::f)}, {Array(f32, {h, w, 5}).slice(2, 1, 3)});
      check_into(one, {wavy(f32, pixels, Order::f)}, {Array(f32, pixels).flip(1)});
    }
  }
}

TEST_CASE("windows of pixels that begin anywhere, turned") {
  for (const Index channels : {2, 3}) {
    Graph g;
    const Expr x = g.input("x", f32, {"h", "w", channels});
    const Expr middle = x.slice({Slice(1, -1), Slice(2, -1)}), last = x.slice({Slice(2, {}), Slice(3, {})}), turned = permute_dims(middle + last, {1, 0, 2});
    const Function f = compile({turned}, {x}, checked());
    for (const Dims& size : {Dims{40, 53}, Dims{18, 19}, Dims{60, 20}}) {
      check_into(f, {wavy(f32, {size[0], size[1], channels}, Order::c)}, {Array(f32, {size[1] - 3, size[0] - 2, channels})});
      check_into(f, {wavy(f32, {size[0], size[1], channels}, Order::f)}, {Array(f32, {size[1] - 3, size[0] - 2, channels}, Order::f)});
    }
  }
}
