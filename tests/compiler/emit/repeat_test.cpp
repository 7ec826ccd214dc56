// Operands that follow a thin innermost axis alone, such as a gain for each channel of an image, repeat along one loop over pixels and
// channels; those that follow the pixels alone stay for all channels: every extent up to 17, all dtypes, tails, threads, strides, layouts, against
// the interpreter.
#include "bits.h"
#include "code/features.h"

using namespace weft;

namespace {

Array counted(DType dtype, const Dims& shape) {
  return counted_by(dtype, shape, [](Index k) { return static_cast<double>(k * 7919 % 101) / 4; });
}

bool repeats(const Function& f) { return f.program().find(" mod ") != std::string::npos; }
bool stays(const Function& f) { return f.program().find(" div ") != std::string::npos; }

}  // namespace

TEST_CASE("a gain for each channel repeats along one loop, whatever the number of channels and pixels") {
  for (Index channels = 2; channels <= 17; ++channels)
    for (Index pixels : {2, 5, 16, 47, 700}) {
      Graph g;
      const Expr x = g.input("x", f32, {"n", channels}), gain = g.input("gain", f32, {channels}), bias = g.input("bias", f64, {channels});
      const Function f = check_bits({x * gain + 1.0f, cast(x, f64) / bias}, {x, gain, bias}, {counted(f32, {pixels, channels}), counted(f32, {channels}), counted(f64, {channels})});
      const bool few = channels <= 8 || (channels <= 16 && channels % 2 == 0);
      CHECK(repeats(f) == few);
    }
}

TEST_CASE("repeating operands of every dtype, in registers of every width") {
  for (DType dtype : loop_dtypes)
    for (int lanes : {4, 8, 16}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"h", "w", 3}), gain = g.input("gain", dtype, {3});
      CHECK(repeats(check_bits({where(equal(x, gain), gain, x), equal(x, gain)}, {x, gain}, {counted(dtype, {7, 13, 3}), counted(dtype, {3})}, 2, lanes)));
    }
}

TEST_CASE("repeating operands of any stride, and results of cheap ops on them") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 6}), gain = g.input("gain", f32, {6}), bias = g.input("bias", f32, {6});
  const Array data = counted(f32, {300, 6}), wide = counted(f32, {12}), other = counted(f32, {6});
  for (const Array& strided : {Array(wide.slice(0, 0, 6)), Array(wide.slice(0, 1, 6, 2)), Array(wide.slice(0, 0, 6).flip(0)), Array(other.slice(0, 2, 1).broadcast_to({6}))})
    CHECK(repeats(check_bits({x * (gain + bias * 2.0f)}, {x, gain, bias}, {data, strided, other})));
  // a dear op is made once for each channel, and its results repeat
  CHECK(repeats(check_bits({x * exp(gain)}, {x, gain}, {data, other})));
}

TEST_CASE("repeating operands beside large bodies, transposed operands and folds") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 3}), gain = g.input("gain", f32, {3}), t = g.input("t", f32, {3, "n"});
  Expr large = x * gain;
  for (int k = 0; k < 12; ++k) large = sin(large + gain);
  const std::vector<Array> arrays{counted(f32, {501, 3}), counted(f32, {3}), counted(f32, {3, 501})};
  CHECK(repeats(check_bits({large}, {x, gain}, {arrays[0], arrays[1]})));
  check_bits({x * gain + transpose(t)}, {x, gain, t}, arrays);
  check_bits({sum(x * gain), sum(x * gain, 0), sum(x * gain, 1)}, {x, gain}, {arrays[0], arrays[1]});
  check_bits({x * gain, softmax(x * gain)}, {x, gain}, {arrays[0], arrays[1]});
}

TEST_CASE("a mean for each pixel stays for its channels, whatever their number") {
  for (Index channels = 2; channels <= 17; ++channels)
    for (Index pixels : {2, 5, 16, 47, 700}) {
      Graph g;
      const Expr x = g.input("x", f32, {"n", channels}), mean = g.input("mean", f32, {"n"}), scale = g.input("scale", f64, {"n"});
      const Function f = check_bits({x - expand_dims(mean, 1), cast(x, f64) / expand_dims(scale, 1)}, {x, mean, scale},
                                    {counted(f32, {pixels, channels}), counted(f32, {pixels}), counted(f64, {pixels})});
      CHECK(stays(f) == (channels <= 8 || (channels <= 16 && channels % 2 == 0)));
    }
}

TEST_CASE("staying operands of every dtype, in registers of every width") {
  for (DType dtype : loop_dtypes)
    for (int lanes : {4, 8, 16})
      for (Index channels : {3, 4, 16}) {
        Graph g;
        const Expr x = g.input("x", dtype, {"n", channels}), mean = g.input("mean", dtype, {"n"}), own = expand_dims(mean, 1);
        CHECK(stays(check_bits({where(equal(x, own), own, x), equal(x, own)}, {x, mean}, {counted(dtype, {91, channels}), counted(dtype, {91})}, 2, lanes)));
      }
}

TEST_CASE("what stays for several elements of short rows is not gathered, whatever they leave of whole steps") {
  for (const auto& [m, c] : std::vector<std::pair<Index, Index>>{{7, 10}, {15, 3}, {15, 5}, {9, 12}, {20, 6}, {3, 14}})
    for (const int lanes : {8, 16}) {
      CAPTURE(m);
      CAPTURE(c);
      Graph g;
      const Expr x = g.input("x", f32, {"n", "m", c}), w = g.input("w", f32, {"m"});
      const Function f = check_bits({x * expand_dims(w, 1) + 1}, {x, w}, {counted(f32, {57, m, c}), counted(f32, {m})}, 1, lanes);
      CHECK(stays(f));
      if (lanes == 16 && has_feature(host_features(0), "+avx512f")) CHECK(f.llvm().find("masked.gather") == std::string::npos);
      for (const Index other : {m + 1, m - 1, Index{1}, 2 * m, Index{70}})
        same_bits(f, {counted(f32, {9, other, c}), counted(f32, {other})});
    }
}

TEST_CASE("staying operands by steps do not merge loops; larger bodies, what repeats beside, and channels of images do") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 6}), mean = g.input("mean", f32, {"n"}), gain = g.input("gain", f32, {6}), own = expand_dims(mean, 1);
  const Array data = counted(f32, {300, 6}), wide = counted(f32, {600}), gains = counted(f32, {6});
  CHECK(!stays(check_bits({x * own}, {x, mean}, {data, Array(wide.slice(0, 1, 300, 2))})));
  CHECK(!stays(check_bits({x * own}, {x, mean}, {data, Array(wide.slice(0, 0, 300).flip(0))})));
  const Function outer = check_bits({sqrt(square(own - gain) + 1.0f)}, {mean, gain}, {Array(wide.slice(0, 7, 300)), gains});
  CHECK((stays(outer) && repeats(outer)));
  Expr large = x * own;
  for (int k = 0; k < 12; ++k) large = sin(large + own * gain);
  for (Index n : {1, 7, 300, 1111}) CHECK(stays(check_bits({large, exp(x - own)}, {x, mean, gain}, {counted(f32, {n, 6}), counted(f32, {n}), gains})) == (n > 1));
  const Expr image = g.input("image", f32, {"h", "w", 3}), light = g.input("light", f32, {"h", "w"}), row = g.input("row", f32, {"h"}), column = g.input("column", f32, {"w"});
  const std::vector<Expr> scaled{image * expand_dims(light, 2), image + expand_dims(column, 1), image - expand_dims(expand_dims(row, 1), 2)};
  const std::vector<Expr> inputs{image, light, row, column};
  const std::vector<Array> arrays{counted(f32, {37, 21, 3}), counted(f32, {37, 21}), counted(f32, {37}), counted(f32, {21})};
  for (std::size_t k = 0; k < scaled.size(); ++k) CHECK(stays(check_bits({scaled[k]}, inputs, arrays)) == (k < 2));
  check_bits(scaled, inputs, arrays);
}

TEST_CASE("staying operands where results go past the caches, or an array does not begin a line") {
  for (Index channels : {3, 4, 5, 8})
    for (Index first : {0, 1}) {
      Graph g;
      const Expr x = g.input("x", f32, {"n", channels}), mean = g.input("mean", f32, {"n"});
      const Function f = compile({(x - expand_dims(mean, 1)) * 2.0f}, {x, mean}, {.threads = 2, .cache_bytes = 1, .verify = true});
      const Array data = counted(f32, {5000, channels}), means = counted(f32, {5000});
      const Array room(f32, {5001 * channels}), out = room.slice(0, first, 5000 * channels).reshape_view({5000, channels});
      f.run({data, means}, {out});
      CHECK(stays(f));
      CHECK(difference(out, interpret(f.final_graph(), f.final_graph().outputs, f.final_graph().inputs, {data, means}, {}, compiled_math)[0]) == "");
    }
}

TEST_CASE("operands that follow any axes of a small block of known extents, arrays between nests too") {
  const Dims extents{2, 3, 4, 2};
  for (unsigned axes = 1; axes < 16; ++axes) {
    Dims shape;
    for (std::size_t d = 0; d < extents.size(); ++d)
      if (axes >> d & 1) shape.push_back(extents[d]);
    for (bool between : {false, true}) {
      CAPTURE(axes);
      Graph g;
      const Expr x = g.input("x", f32, {"n", 2, 3, 4, 2}), y = g.input("y", f32, Shape(shape.begin(), shape.end()));
      const Expr t = g.input("t", f32, {element_count(shape)});
      Expr operand = between ? reshape(exp(t * 0.1f), Shape(shape.begin(), shape.end())) : y;   // what a reshape names lies in memory
      for (int d = 0; d < 4; ++d)
        if (!(axes >> d & 1)) operand = expand_dims(operand, d);
      for (Index n : {5, 200})
        check_bits({x * operand + 1.0f}, {x, between ? t : y}, {counted(f32, {n, 2, 3, 4, 2}), counted(f32, between ? Dims{element_count(shape)} : shape)});
    }
  }
}

TEST_CASE("an image of bytes with a curve for each channel") {
  Graph g;
  const Expr x = g.input("x", u8, {"h", "w", 3}), gain = g.input("gain", f32, {3}), bias = g.input("bias", f32, {3});
  const Expr toned = cast(minimum(floor(pow(cast(x, f32) / 255.0, 2.2) * gain + bias + 0.5), 255.0), u8);
  CHECK(repeats(check_bits({toned}, {x, gain, bias}, {counted(u8, {31, 17, 3}), counted(f32, {3}), counted(f32, {3})})));
}

TEST_CASE("functions of bytes, by tables where the array is long enough") {
  const auto wave = [](const Expr& x) { return 100.0f * sin(cast(x, f32) * 0.11f) + 100.0f; };
  for (DType dtype : {u8, i8})
    for (Index channels : {1, 2, 3, 4, 5})
      for (Index pixels : {1, 63, 300, 1000, 2500}) {
        Graph g;
        const Expr x = g.input("x", dtype, {"n", channels}), gain = g.input("gain", f32, {channels});
        const Array data = counted(dtype, {pixels, channels}), gains = counted(f32, {channels});
        check_bits({cast(wave(x) * gain, u8)}, {x, gain}, {data, gains});
        check_bits({cast(wave(x), i8)}, {x}, {data});
        check_bits({greater(wave(x), 120.0f)}, {x}, {data}, 2, 8);
        check_bits({cast(wave(x), u8)}, {x}, {Array(data.flip(0))});
        check_bits({cast(wave(x) + cast(x, f32) * 0.5f, u8), x}, {x}, {data});
      }
  // all bytes, past the caches, and in the memory of the operand
  Graph g;
  const Expr x = g.input("x", u8, {"n"});
  Array all(u8, {1 << 16}), out(u8, {1 << 16});
  for (Index k = 0; k < all.size(); ++k) all.data<std::uint8_t>()[k] = static_cast<std::uint8_t>(k * 37);
  const Function f = compile({cast(wave(x), u8)}, {x}, {.threads = 2, .cache_bytes = 1});
  const Array expected = interpret(f.final_graph(), f.final_graph().outputs, f.final_graph().inputs, {all}, {}, compiled_math)[0];
  f.run({all}, {out});
  CHECK(difference(out, expected) == "");
  f.run({all}, {all});
  CHECK(difference(all, expected) == "");
}
