// Values that several nests read: stored, or made again.
#include <weft/function.h>
#include <weft/grad.h>
#include <weft/rearrange.h>

#include "compiled.h"
#include "call_sizes.h"

using namespace weft;

namespace {

CallSizes sizes_of(const std::vector<Expr>& outputs, const std::vector<Expr>& inputs, const std::vector<Dims>& shapes) {
  std::vector<Array> arrays;
  for (std::size_t k = 0; k < shapes.size(); ++k) arrays.push_back(Array::empty(inputs[k].dtype(), shapes[k]));
  const Function f = compile(outputs, inputs, checked());
  return sizes_of_call(f, arrays);
}

}  // namespace

TEST_CASE("softmax over everything: exponentials of a large array are computed again, those of a small one are stored") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  const Expr e = exp(x - max(x)), y = e / sum(e);
  constexpr Index large = 5'000'000, small = 20'000;
  CHECK(sizes_of({y}, {x}, {{large}}).temporary_bytes < large);                  // partial results alone
  CHECK(sizes_of({y}, {x}, {{small}}).temporary_bytes >= small * 4);
}

TEST_CASE("the backward nest makes cheap values again and reads dear ones") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  constexpr Index n = 6'000'000;
  const auto gradient_of = [&](const Expr& y) {                    // the loss must be known before its gradient
    const Expr loss = sqrt(sum(square(y)));
    return std::vector<Expr>{loss, grad(loss, {x})[0]};
  };
  const CallSizes cheap = sizes_of(gradient_of(x * 0.5 + 1), {x}, {{n}});
  CHECK(cheap.nests == 2);
  CHECK(cheap.temporary_bytes < n);
  Expr dear = x;
  for (int k = 0; k < 8; ++k) dear = power(dear, 1.5 + 0.25 * k);
  const CallSizes stored = sizes_of({sqrt(sum(dear)), dear / sum(dear)}, {x}, {{n}});
  CHECK(stored.temporary_bytes >= n * 4);
}

TEST_CASE("values made again have the bits of those made first, over several nests and through rows") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), w = g.input("w", f32, {"m"});
  const Expr z = square(x * w), y = z / (1 + z), total = sum(y), centred = y - total, spread = sum(square(centred));
  const Expr out = centred / sqrt(spread) + max(y, 1, true);
  const std::vector<Expr> outputs{out, grad(sum(out * out * y), {w})[0]};
  for (const Dims& shape : {Dims{3, 5}, Dims{300, 700}, Dims{1700, 800}, Dims{3000, 2100}}) {
    const Function f = compile(outputs, {x, w}, checked());
    check_call(f, {uniform(f32, shape, 1), uniform(f32, {shape[1]}, 2)});
  }
}

// What its own nest would no longer do is taken off, also where making it again costs more than the array by less than that.
TEST_CASE("deviations from the mean of each channel are made where they are divided") {
  Graph g;
  const Expr x = g.input("x", f32, {"h", "w", 3}), norm = (x - mean(x, {0, 1})) / sqrt(var(x, {0, 1}) + 1e-5);
  for (const Dims& shape : {Dims{88, 226, 3}, Dims{200, 100, 3}}) CHECK(sizes_of({norm}, {x}, {shape}).temporary_bytes < shape[0] * shape[1]);
  check_call(compile({norm}, {x}, checked()), {uniform(f32, {40, 70, 3}, 1)});
}

TEST_CASE("a value that is read at another index is stored") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  const Expr y = x / (x + 1);
  constexpr Index n = 6'000'000;
  CHECK(sizes_of({y / sum(y) + flip(y, 0)}, {x}, {{n}}).temporary_bytes >= n * 4);
  check_call(compile({y / sum(y) + flip(y, 0)}, {x}, checked()), {uniform(f32, {5000})});
}

TEST_CASE("the gradient of a stencil over a padded array needs one array between its nests") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), w = g.input("w", f32, {9}), padded = pad(x, {{1, 1}, {1, 1}});
  const Slice at[] = {Slice{{}, -2}, Slice{1, -1}, Slice{2, {}}};
  Expr y = padded.slice({at[0], at[0]}) * w.slice({0});
  for (int k = 1; k < 9; ++k) y = y + padded.slice({at[k / 3], at[k % 3]}) * w.slice({k});
  const CallSizes sizes = sizes_of(grad(sum(square(y)), {x}), {x, w}, {{200, 300}, {9}});
  CHECK(sizes.nests == 2);
  CHECK(sizes.temporary_bytes <= 200 * 300 * 4 + 64);
  check_call(compile(grad(sum(square(y)), {x, w}), {x, w}, checked()), {uniform(f32, {30, 200}, 1), uniform(f32, {9}, 2)});
}

TEST_CASE("a nest makes the windows that it reads, and what is cheap of them: the gradient of two stencils and a relu has an array for each step") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  const auto stencil = [](const Expr& of) {
    const Expr padded = pad(of, {{1, 1}, {1, 1}});
    const Slice at[] = {Slice{{}, -2}, Slice{1, -1}, Slice{2, {}}};
    Expr y = padded.slice({at[0], at[0]});
    for (int k = 1; k < 9; ++k) y = y + padded.slice({at[k / 3], at[k % 3]}) * (0.1f * static_cast<float>(k));
    return y;
  };
  const std::vector<Expr> gradient = grad(sum(square(stencil(relu(stencil(x))))), {x});
  for (const Dims& shape : {Dims{100, 120}, Dims{90, 600}}) {
    const CallSizes sizes = sizes_of(gradient, {x}, {shape});
    CHECK(sizes.temporary_bytes < 7 * shape[0] * shape[1] * 4);
  }
  check_call(compile(gradient, {x}, checked()), {uniform(f32, {30, 50}, 1)});
}

TEST_CASE("a nest that loses what held its root back has more roots without it") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 5, 3});
  const Function f = compile({argmax(x, {0})}, {x}, checked());
  check_call(f, {uniform(f32, {50000, 5, 3})});
  const std::string loops = f.schedule();
  CHECK(loops.find("parallel i:15") == std::string::npos);          // the maximum walks memory once, not fifteen times
}
