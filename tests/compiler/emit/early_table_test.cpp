// Functions of bytes whose tables are the same for many runs of a loop, such as for each channel of a planar image: made once, and every
// result has the bits of the interpreter.
#include "bits.h"

using namespace weft;

namespace {

Array counted(DType dtype, const Dims& shape) {
  return counted_by(dtype, shape, [](Index k) { return static_cast<double>(k * 7919 % 251); });
}

Expr curve(const Expr& bytes, const Expr& gain) { return cast(minimum(floor(pow(cast(bytes, f32) / 255.0, 2.2) * gain + 0.5), 255.0), u8); }

bool makes_early(const Function& f) { return f.llvm().find("early") != std::string::npos; }

}  // namespace

TEST_CASE("planar images have a table for each channel, batches of them too") {
  for (Index channels : {1, 2, 3, 4, 5})
    for (const auto& [height, width] : std::vector<std::pair<Index, Index>>{{1, 7}, {13, 40}, {3, 1030}, {130, 167}}) {
      Graph g;
      const Expr x = g.input("x", u8, {channels, "h", "w"}), gain = g.input("gain", f32, {channels});
      const auto by_channel = [](const Expr& value) { return expand_dims(expand_dims(value, 1), 2); };
      const Expr gains = by_channel(gain);
      const Function f = check_bits({curve(x, gains)}, {x, gain}, {counted(u8, {channels, height, width}), counted(f32, {channels})}, 3);
      check_bits({curve(x, by_channel(exp(gain * 0.01) + gain))}, {x, gain}, {counted(u8, {channels, height, width}), counted(f32, {channels})}, 3);
      if (height == 130 && channels > 1) CHECK(makes_early(f) == (channels <= 4));
      const Expr y = g.input("y", u8, {"b", channels, "h", "w"});
      check_bits({curve(y, gains)}, {y, gain}, {counted(u8, {3, channels, height, width}), counted(f32, {channels})}, 2);
    }
}

TEST_CASE("images in other orders, turned and reversed, are looked up wherever elements lie") {
  for (const auto& [height, width] : std::vector<std::pair<Index, Index>>{{1, 7}, {16, 40}, {50, 67}, {1030, 9}}) {
    Graph g;
    const Expr x = g.input("x", u8, {"h", "w", 3}), gain = g.input("gain", f32, {3});
    const Array image = counted(u8, {height, width, 3}), gains = counted(f32, {3});
    const Function f = check_bits({curve(x, gain)}, {x, gain}, {image.copy(Order::f), gains}, 2);
    if (height == 50) CHECK(makes_early(f));
    check_bits({curve(permute_dims(x, {2, 1, 0}), expand_dims(expand_dims(gain, 1), 2))}, {x, gain}, {image, gains}, 2);
    check_bits({curve(x, gain)}, {x, gain}, {Array(image.copy(Order::f).flip(1).flip(0)), gains});
  }
}

TEST_CASE("what a row decides is no table for all rows") {
  for (Index width : {40, 700}) {
    Graph g;
    const Expr x = g.input("x", u8, {"h", "w"}), gain = g.input("gain", f32, {"h"}), most = max(cast(x, f32), 1);
    const std::vector<Array> arrays{counted(u8, {37, width}), counted(f32, {37})};
    CHECK(!makes_early(check_bits({curve(x, expand_dims(gain, 1))}, {x, gain}, arrays, 2)));
    CHECK(!makes_early(check_bits({curve(x, expand_dims(most / 300.0, 1))}, {x}, {arrays[0]}, 2)));
  }
}

TEST_CASE("a loop in a function of its own takes the tables that were made before it") {
  Graph g;
  const Expr x = g.input("x", u8, {"h", "w", 3}), gain = g.input("gain", f32, {3});
  const Array image = counted(u8, {50, 67, 3}).copy(Order::f), gains = counted(f32, {3});
  const Function f = compile({curve(x, gain)}, {x, gain}, {.threads = 1, .lanes = 8});
  check_call(f, {image, gains});
  if (hardware_threads() > 1) CHECK(f.llvm().find("_piece(") != std::string::npos);       // others generate code, too
  CHECK(makes_early(f));
  CHECK(f.llvm().find("\npass:") == std::string::npos);     // makes none of its own
}
