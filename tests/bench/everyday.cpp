#include "everyday.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include <weft/compiled_math.h>
#include <weft/interpret.h>
#include <weft/rearrange.h>
#include <weft/recurrence.h>
#include <weft/weft.h>

#include "race.h"

namespace bench {
namespace {

using namespace weft;
using Exprs = std::vector<Expr>;

struct Input {
  Dims shape;
  DType dtype = f32;
};
struct Task {
  const char* name;
  std::vector<Input> inputs;
  std::function<Exprs(const Exprs&)> graph;
};

constexpr Index rows = 512, columns = 768, height = 480, width = 640, many = 200000;

Expr channel(const Expr& x, Index k) { return x.slice({{}, k}); }
Exprs with_gradient(const Expr& y, const Expr& weights, const Exprs& of) {
  Exprs all = grad(sum(y * weights), of);
  all.insert(all.begin(), y);
  return all;
}
Expr transformed(const Expr& points, const Expr& matrix) { return sum(expand_dims(points, 1) * matrix, 2); }

// Sums of neighbours times weights along an axis, as far as all of them are there.
Expr along(const Expr& x, std::size_t axis, const std::vector<float>& weights) {
  Expr result;
  const auto count = static_cast<Index>(weights.size());
  for (Index k = 0; k < count; ++k) {
    std::vector<Slice> at(axis + 1);
    at[axis] = Slice(k, k + 1 < count ? std::optional<Index>(k + 1 - count) : std::nullopt);
    const Expr term = x.slice(at) * weights[static_cast<std::size_t>(k)];
    result = result ? result + term : term;
  }
  return result;
}
Expr padded(const Expr& x, Index by) { return pad(x, {{by, by}, {by, by}}); }
Expr heat_step(const Expr& u) {
  const Expr p = padded(u, 1);
  const Slice before{{}, -2}, at{1, -1}, behind{2, {}};
  return u + 0.1f * (p.slice({before, at}) + p.slice({behind, at}) + p.slice({at, before}) + p.slice({at, behind}) - 4.0f * u);
}
Expr mean_5x5(const Expr& x) { return along(along(padded(x, 2), 1, {1, 1, 1, 1, 1}), 0, {1, 1, 1, 1, 1}) * 0.04f; }
Expr filter_3x3(const Expr& x) {
  Expr result;
  for (Index row = 0; row < 3; ++row) {
    const Expr part = padded(x, 1).slice({Slice(row, row < 2 ? std::optional<Index>(row - 2) : std::nullopt)});
    const Expr sum = along(part, 1, {0.1f + static_cast<float>(row), 0.2f, 0.3f});
    result = result ? result + sum : sum;
  }
  return result;
}
Expr corners(const Expr& x) {
  const Expr across = along(along(x, 0, {1, 2, 1}), 1, {-1, 0.5f, 1}), down = along(along(x, 1, {1, 2, 1}), 0, {-1, 0.5f, 1});
  const auto box = [](const Expr& of) { return along(along(of, 1, {1, 1, 1}), 0, {1, 1, 1}); };
  const Expr xx = box(across * across), yy = box(down * down), xy = box(across * down), trace = xx + yy;
  return xx * yy - xy * xy - 0.04f * trace * trace;
}

Expr game_of_life(const Expr& x) {
  Expr neighbours;
  for (Index row = -1; row < 2; ++row)
    for (Index column = -1; column < 2; ++column) {
      if (row == 0 && column == 0) continue;
      const Expr neighbour = roll(x, {row, column}, {0, 1});
      neighbours = neighbours ? neighbours + neighbour : neighbour;
    }
  return cast((neighbours == 3) | ((neighbours == 2) & (x == 1)), u8);
}
// Of hares and foxes.
Exprs runge_kutta(Expr u, Expr v, int steps) {
  constexpr float step = 0.05f;
  const auto slope = [](const Expr& x, const Expr& y) { return std::pair{x * (1.1f - 0.4f * y), y * (0.1f * x - 0.4f)}; };
  for (int k = 0; k < steps; ++k) {
    const auto [a1, b1] = slope(u, v);
    const auto [a2, b2] = slope(u + step / 2 * a1, v + step / 2 * b1);
    const auto [a3, b3] = slope(u + step / 2 * a2, v + step / 2 * b2);
    const auto [a4, b4] = slope(u + step * a3, v + step * b3);
    u = u + step / 6 * (a1 + 2.0f * a2 + 2.0f * a3 + a4), v = v + step / 6 * (b1 + 2.0f * b2 + 2.0f * b3 + b4);
  }
  return {u, v};
}

std::vector<Task> tasks() {
  const Input image{{height, width, 3}}, bytes{{height, width, 3}, u8}, matrix{{rows, columns}}, large{{2160, 3840}};
  return {
      {"planes to pixels", {{{3, height, width}}}, [](const Exprs& x) { return Exprs{permute_dims(x[0], {1, 2, 0}) * 2}; }},
      {"pixels to planes", {image}, [](const Exprs& x) { return Exprs{permute_dims(x[0], {2, 0, 1}) * 2}; }},
      {"bytes, planes to pixels", {{{3, height, width}, u8}}, [](const Exprs& x) { return Exprs{~permute_dims(x[0], {1, 2, 0})}; }},
      {"pixels of bytes to normalized planes", {bytes, {{3, 1, 1}}}, [](const Exprs& x) { return Exprs{permute_dims(cast(x[0], f32), {2, 0, 1}) / 255 - x[1]}; }},
      {"a picture turned", {image}, [](const Exprs& x) { return Exprs{flip(permute_dims(x[0], {1, 0, 2}), 0) * 2}; }},
      {"a picture of bytes turned", {bytes}, [](const Exprs& x) { return Exprs{~flip(permute_dims(x[0], {1, 0, 2}), 0)}; }},
      {"planes of bytes by columns to pixels", {{{3, width, height}, u8}}, [](const Exprs& x) { return Exprs{~permute_dims(x[0], {2, 1, 0})}; }},
      {"half the size, pixels of bytes", {bytes},
       [](const Exprs& x) { return Exprs{cast(mean(cast(reshape(x[0], {height / 2, 2, width / 2, 2, 3}), f32), {1, 3}), u8)}; }},
      {"bytes over others by their alpha", {{{height, width, 4}, u8}, bytes},
       [](const Exprs& x) {
         const Expr alpha = cast(x[0].slice({{}, {}, Slice{3, 4}}), f32) / 255;
         return Exprs{cast(cast(x[0].slice({{}, {}, Slice{0, 3}}), f32) * alpha + cast(x[1], f32) * (1 - alpha), u8)};
       }},
      {"game of life", {{{512, 512}, u8}}, [](const Exprs& x) { return Exprs{game_of_life(x[0])}; }},
      {"shortest paths of two steps", {{{256, 256}}, {{256, 256}}}, [](const Exprs& x) { return Exprs{min(expand_dims(x[0], 2) + x[1], 1)}; }},
      {"largest differences between rows", {{{500, 32}}, {{500, 32}}}, [](const Exprs& x) { return Exprs{max(abs(expand_dims(x[0], 1) - x[1]), 2)}; }},
      {"Runge-Kutta, 20 steps", {{{many}}, {{many}}}, [](const Exprs& x) { return runge_kutta(x[0], x[1], 20); }},
      {"means of 2 x 2 in planes", {{{8, 64, 56, 56}}}, [](const Exprs& x) { return Exprs{mean(reshape(x[0], {8, 64, 28, 2, 28, 2}), {3, 5})}; }},
      {"largest of 2 x 2, by channels", {{{8, 56, 56, 64}}}, [](const Exprs& x) { return Exprs{max(reshape(x[0], {8, 28, 2, 28, 2, 64}), {2, 4})}; }},
      {"means over channels in planes", {{{8, 64, 56, 56}}}, [](const Exprs& x) { return Exprs{mean(x[0], 1)}; }},
      {"relu and means of 2 x 2, by reshape", {{{8, 112, 112, 16}}}, [](const Exprs& x) { return Exprs{mean(reshape(relu(x[0]), {8, 56, 2, 56, 2, 16}), {2, 4})}; }},
      {"twice the size, planes", {{{8, 16, 56, 56}}}, [](const Exprs& x) { return Exprs{repeat(repeat(x[0], 2, 2), 2, 3)}; }},
      {"pixels of 2 x 2 planes", {{{8, 64, 56, 56}}},
       [](const Exprs& x) { return Exprs{reshape(permute_dims(reshape(x[0], {8, 16, 2, 2, 56, 56}), {0, 1, 4, 2, 5, 3}), {8, 16, 112, 112})}; }},
      {"patches of 8 x 8 pixels", {{{8, 224, 224, 3}}, {{3}}},
       [](const Exprs& x) { return Exprs{reshape(permute_dims(reshape(x[0] - x[1], {8, 28, 8, 28, 8, 3}), {0, 1, 3, 2, 4, 5}), {8, 784, 192})}; }},
      {"heads apart", {{{4, 512, 512}}}, [](const Exprs& x) { return Exprs{permute_dims(reshape(x[0] * 0.5f, {4, 512, 8, 64}), {0, 2, 1, 3})}; }},
      {"heads together", {{{4, 8, 512, 64}}}, [](const Exprs& x) { return Exprs{reshape(permute_dims(x[0] * 0.5f, {0, 2, 1, 3}), {4, 512, 512})}; }},
      {"cubes and roots", {{{many}}}, [](const Exprs& x) { return Exprs{pow(x[0], 3) + pow(abs(x[0]), 1.5)}; }},
      {"mean of each channel", {image}, [](const Exprs& x) { return Exprs{mean(x[0], {0, 1})}; }},
      {"colours times a 3 x 3 matrix", {image, {{3, 3}}}, [](const Exprs& x) { return Exprs{sum(expand_dims(x[0], 2) * x[1], 3)}; }},
      {"points times a 3 x 3 matrix", {{{many, 3}}, {{3, 3}}}, [](const Exprs& x) { return Exprs{transformed(x[0], x[1])}; }},
      {"points times an 8 x 8 matrix", {{{many / 4, 8}}, {{8, 8}}}, [](const Exprs& x) { return Exprs{transformed(x[0], x[1])}; }},
      {"determinants of 3 x 3 matrices", {{{many / 2, 3, 3}}},
       [](const Exprs& x) {
         const auto at = [&](Index i, Index j) { return x[0].slice({{}, i, j}); };
         const auto minor = [&](Index i, Index j) { return at(1, i) * at(2, j) - at(1, j) * at(2, i); };
         return Exprs{at(0, 0) * minor(1, 2) - at(0, 1) * minor(0, 2) + at(0, 2) * minor(0, 1)};
       }},
      {"4 x 4 matrices times others", {{{many / 4, 4, 4}}, {{many / 4, 4, 4}}},
       [](const Exprs& x) { return Exprs{sum(expand_dims(x[0], 3) * expand_dims(x[1], 1), 2)}; }},
      {"unit vectors", {{{many, 3}}}, [](const Exprs& x) { return Exprs{x[0] / sqrt(sum(x[0] * x[0], 1, true))}; }},
      {"cross products", {{{many, 3}}, {{many, 3}}},
       [](const Exprs& x) {
         const auto part = [&](Index a, Index b) { return channel(x[0], a) * channel(x[1], b) - channel(x[0], b) * channel(x[1], a); };
         return Exprs{stack({part(1, 2), part(2, 0), part(0, 1)}, 1)};
       }},
      {"complex products", {{{many, 2}}, {{many, 2}}},
       [](const Exprs& x) {
         const Expr a = channel(x[0], 0), b = channel(x[0], 1), c = channel(x[1], 0), d = channel(x[1], 1);
         return Exprs{stack({a * c - b * d, a * d + b * c}, 1)};
       }},
      {"rows joined", {matrix, matrix}, [](const Exprs& x) { return Exprs{weft::concat({x[0], x[1]}, 0) * 2}; }},
      {"columns joined", {matrix, matrix}, [](const Exprs& x) { return Exprs{weft::concat({x[0], x[1]}, 1) * 2}; }},
      {"padding", {matrix}, [](const Exprs& x) { return Exprs{pad(x[0], {{1, 1}, {1, 1}})}; }},
      {"gradient of differences", {matrix},
       [](const Exprs& x) { return Exprs{grad(sum(square(x[0].slice({{}, {1, {}}}) - x[0].slice({{}, {{}, -1}}))), {x[0]})[0]}; }},
      {"running sums of x / 2", {matrix}, [](const Exprs& x) { return Exprs{cumulative_sum(x[0] * 0.5f, 1)}; }},
      {"exp of running sums", {{{many}}}, [](const Exprs& x) { return Exprs{exp(cumulative_sum(x[0], 0) * 0.001f)}; }},
      {"drawdown: largest so far less x", {{{many}}}, [](const Exprs& x) { return Exprs{cumulative_max(x[0], 0) - x[0]}; }},
      {"places of a condition", {matrix}, [](const Exprs& x) { return Exprs{cumulative_sum(cast(x[0] > 0, DType::i32), 1)}; }},
      {"softmax of rows of five", {{{many / 2, 5}}}, [](const Exprs& x) { return Exprs{softmax(x[0], 1)}; }},
      {"moving averages of rows", {matrix},
       [](const Exprs& x) {
         const Expr sums = cumulative_sum(x[0], 1);
         return Exprs{(sums.slice({{}, {20, {}}}) - sums.slice({{}, {{}, -20}})) * 0.05f};
       }},
      {"batch normalization and gradient, 16 channels", {{{8, 56, 56, 16}}, {{8, 56, 56, 16}}},
       [](const Exprs& x) {
         const Expr centred = x[0] - mean(x[0], {0, 1, 2}, true);
         return with_gradient(centred * rsqrt(var(x[0], {0, 1, 2}, true) + 1e-5f), x[1], {x[0]});
       }},
      {"largest of 2 x 2, by reshape", {matrix}, [](const Exprs& x) { return Exprs{max(reshape(x[0], {rows / 2, 2, columns / 2, 2}), {1, 3})}; }},
      {"neighbours on a torus", {matrix},
       [](const Exprs& x) { return Exprs{roll(x[0], 1, 0) + roll(x[0], -1, 0) + roll(x[0], 1, 1) + roll(x[0], -1, 1) - 4 * x[0]}; }},
      {"squared differences around a ring", {matrix}, [](const Exprs& x) { return Exprs{sum(square(roll(x[0], 1, 1) - x[0]))}; }},
      {"four computed parts joined", {matrix}, [](const Exprs& x) { return Exprs{weft::concat({x[0], x[0] * 2, x[0] + 1, exp(x[0])}, 1)}; }},
      {"3 x 3 filter of a padded picture", {{{height, width}}},
       [](const Exprs& x) {
         const Expr padded = pad(x[0], {{1, 1}, {1, 1}});
         const Slice at[] = {Slice{{}, -2}, Slice{1, -1}, Slice{2, {}}};
         Expr result = padded.slice({at[0], at[0]}) * 0.1;
         for (int k = 1; k < 9; ++k) result = result + padded.slice({at[k / 3], at[k % 3]}) * (0.1 * k);
         return Exprs{result};
       }},
      {"quotients of integers", {{{rows, columns}, i32}, {{rows, columns}, i32}}, [](const Exprs& x) { return Exprs{floor_divide(x[0], x[1])}; }},
      {"blur 3 x 3", {{{height, width}}},
       [](const Exprs& x) {
         const auto along = [](const Expr& of, const auto& part) { return part(of, Slice{{}, -2}) + part(of, Slice{1, -1}) * 2 + part(of, Slice{2, {}}); };
         const Expr across = along(x[0], [](const Expr& of, const Slice& s) { return of.slice({{}, s}); });
         return Exprs{along(across, [](const Expr& of, const Slice& s) { return of.slice({s}); })};
       }},
      {"ten steps of heat", {{{height, width}}},
       [](const Exprs& x) {
         Expr u = x[0];
         for (int step = 0; step < 10; ++step) u = heat_step(u);
         return Exprs{u};
       }},
      {"four steps of heat, 2160 x 3840", {large}, [](const Exprs& x) { return Exprs{heat_step(heat_step(heat_step(heat_step(x[0]))))}; }},
      {"corners (Harris), 2160 x 3840", {large}, [](const Exprs& x) { return Exprs{corners(x[0])}; }},
      {"local contrast 5 x 5, 2160 x 3840", {large},
       [](const Exprs& x) {
         const Expr mean = mean_5x5(x[0]);
         return Exprs{(x[0] - mean) / sqrt(mean_5x5(x[0] * x[0]) - mean * mean + 1e-3f)};
       }},
      {"two 3 x 3 filters with a relu, loss and gradient", {{{height, width}}},
       [](const Exprs& x) {
         const Expr loss = sum(square(filter_3x3(relu(filter_3x3(x[0])))));
         return Exprs{loss, grad(loss, {x[0]})[0]};
       }},
      {"causal attention, 8 heads of 64", {{{8, 256, 64}}, {{8, 256, 64}}, {{8, 256, 64}}},
       [](const Exprs& x) {
         const Expr scores = sum(expand_dims(x[0], 2) * expand_dims(x[1], 1), 3) * 0.125f, at = iota(x[0].graph(), 256);
         const Expr weights = softmax(where(expand_dims(at, 1) < at, -INFINITY, scores), 2);
         return Exprs{sum(expand_dims(weights, 3) * expand_dims(x[2], 1), 2)};
       }},
      {"silu and gradient", {matrix, matrix}, [](const Exprs& x) { return with_gradient(silu(x[0]), x[1], {x[0]}); }},
      {"softmax and gradient", {matrix, matrix}, [](const Exprs& x) { return with_gradient(softmax(x[0], 1), x[1], {x[0]}); }},
      {"Adam", {matrix, matrix, matrix, matrix},
       [](const Exprs& x) {
         const Expr m = x[1] * 0.9f + x[3] * 0.1f, v = x[2] * 0.999f + x[3] * x[3] * 0.001f;
         return Exprs{x[0] - m * 0.001f / (sqrt(v) + 1e-8f), m, v};
       }},
      {"angles within a turn", {matrix}, [](const Exprs& x) { return Exprs{remainder(x[0] * 10, 2 * std::numbers::pi)}; }},
      {"layer norm of bf16", {{{rows, columns}, bf16}, {{columns}, bf16}, {{columns}, bf16}}, [](const Exprs& x) { return Exprs{layer_norm(x[0], x[1], x[2])}; }},
      {"softmax of bf16", {{{rows, columns}, bf16}}, [](const Exprs& x) { return Exprs{softmax(x[0], 1)}; }},
      {"gelu of f16", {{{rows, columns}, f16}}, [](const Exprs& x) { return Exprs{gelu(x[0])}; }},
      {"product of matrices of f16", {{{256, 256}, f16}, {{256, 256}, f16}}, [](const Exprs& x) { return Exprs{sum(expand_dims(x[0], 2) * x[1], 1)}; }},
  };
}

Array filled(const Input& input) {
  Array numbers(f64, input.shape);
  for (Index k = 0; k < numbers.size(); ++k) numbers.data<double>()[k] = static_cast<double>(k * 7919 % 1009) / (is_floating(input.dtype) ? 512 : 4);
  Graph g;
  const Expr x = g.input("x", f64, Shape(input.shape.begin(), input.shape.end()));
  return interpret({cast(x, input.dtype)}, {x}, {numbers})[0];
}

bool is_right(const Function& f, const std::vector<Array>& inputs, const std::vector<Array>& outputs) {
  const Graph& graph = f.final_graph(inputs);
  const std::vector<Array> expected = interpret(graph, graph.outputs, graph.inputs, inputs, {}, compiled_math);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const Array result = outputs[k].copy(), wanted = expected[k].copy();
    if (std::memcmp(result.data(), wanted.data(), static_cast<std::size_t>(result.size()) * size_of(result.dtype())) != 0) return false;
  }
  return true;
}

}  // namespace

int everyday(std::string_view filter, bool csv, const Options& options) {
  bool right = true;
  std::printf(csv ? "task,threads,us,copy_us,times_a_copy\n" : "| task | us | GB/s | times a copy |\n|---|---|---|---|\n");
  for (const Task& task : tasks()) {
    if (std::string_view(task.name).find(filter) == std::string_view::npos) continue;
    Graph g;
    Exprs operands;
    std::vector<Array> inputs;
    double bytes = 0;
    for (const Input& input : task.inputs) {
      operands.push_back(g.input("x" + std::to_string(operands.size()), input.dtype, Shape(input.shape.begin(), input.shape.end())));
      inputs.push_back(filled(input));
      bytes += static_cast<double>(inputs.back().size()) * static_cast<double>(size_of(input.dtype));
    }
    const Function f = weft::compile(task.graph(operands), operands, options);
    const std::vector<Array> outputs = f(inputs);
    for (const Array& output : outputs) bytes += static_cast<double>(output.size()) * static_cast<double>(size_of(output.dtype()));
    const Array from(f32, {static_cast<Index>(bytes / 8)}), to(f32, from.shape());
    const Expr x = g.input("from", f32, {"n"});
    const Call call = f.bind(inputs, outputs), copy = weft::compile({x * 2}, {x}, options).bind({from}, {to});
    const auto times = race({[&] { call(); }, [&] { copy(); }}, options.threads, 0.2);
    if (csv) std::printf("%s,%d,%.5g,%.5g,%.4g\n", task.name, options.threads, times[0] * 1e6, times[1] * 1e6, times[0] / times[1]);
    else std::printf("| %s | %.1f | %.1f | %.2f |\n", task.name, times[0] * 1e6, bytes / times[0] * 1e-9, times[0] / times[1]);
    std::fflush(stdout);
    if (is_right(f, inputs, outputs)) continue;
    right = false;
    std::fprintf(stderr, "%s differs from the interpreter\n", task.name);
  }
  return right ? 0 : 1;
}

}  // namespace bench
