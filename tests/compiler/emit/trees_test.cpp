// Short rows that are folded side by side: their trees over sixteen slots run as one, and give the bits of each row's own.
#include "bits.h"

using namespace weft;

TEST_CASE("rows side by side have the bits of each one's own tree") {
  for (const DType dtype : {f32, f64, f16})
    for (const int lanes : {0, 4, 8}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"n", "d"}), w = g.input("w", dtype, {"d"});
      const Function sums = compile({sum(x, 1), sum(x * w, 1) + 1}, {x, w}, {.threads = 1, .lanes = lanes, .verify = true});
      const Function products = compile({sqrt(abs(prod(x, 1)))}, {x, w}, {.threads = 2, .lanes = lanes, .verify = true});
      sums({uneven(dtype, {2048, 50}), uneven(dtype, {50})});
      products({near_one(dtype, {2048, 50}), uneven(dtype, {50})});
      for (const Function* f : {&sums, &products}) CHECK(f->report().find("elements of i together") != std::string::npos);
      for (const Index d : {1, 15, 16, 17, 32, 50, 64, 100, 1000})
        for (const Index n : {1, 3, 4, 63, 64, 66, 130}) {
          CAPTURE(dtype);
          CAPTURE(lanes);
          CAPTURE(n);
          CAPTURE(d);
          for (const Function* f : {&sums, &products})
            same_bits(*f, {f == &sums ? uneven(dtype, {n, d}) : near_one(dtype, {n, d}), uneven(dtype, {d})});
        }
    }
}

// Rows of pixels: slots of all channels lie one after the other in the vectors of a row.
TEST_CASE("sums of each of a few columns, along rows of any length, have the bits of each one's own tree") {
  for (const DType dtype : {f32, f64, f16})
    for (const int lanes : {0, 4, 8})
      for (const Index channels : {2, 3, 4, 5, 7, 8, 12, 15}) {
        CAPTURE(dtype);
        CAPTURE(lanes);
        CAPTURE(channels);
        Graph g;
        const Expr x = g.input("x", dtype, {"h", "w", channels});
        const Options options{.threads = 2, .lanes = lanes, .verify = true};
        const Function rows = compile({sum(x, 1), prod(abs(x) + 0.5, 1)}, {x}, options), all = compile({mean(x, {0, 1}), max(x, {0, 1}) - min(x, 1)}, {x}, options);
        rows({uneven(dtype, {40, 64, channels})});
        all({uneven(dtype, {40, 64, channels})});
        for (const Dims& size : {Dims{9, 64}, Dims{3, 16}, Dims{5, 17}, Dims{2, 1}, Dims{1, 15}, Dims{4, 33}, Dims{20, 100}}) {
          CAPTURE(to_text(Dims(size)));
          for (const Function* f : {&rows, &all}) same_bits(*f, {uneven(dtype, {size[0], size[1], channels})});
        }
      }
}

TEST_CASE("NaN, infinities and zeros of either sign in rows side by side") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"});
  for (const double special : {std::nan(""), HUGE_VAL, -HUGE_VAL, -0.0}) {
    const Array values = counted_by(f32, {66, 20}, [&](Index k) { return special == 0 ? -0.0 : k % 37 == 5 ? special : static_cast<double>(k % 11); });
    check_bits({sum(x, 1), sum(x * 2, 1)}, {x}, {values});
    if (special == 0)
      for (Index k = 0; k < 66; ++k) CHECK(std::signbit(compile({sum(x, 1)}, {x})({values})[0].data<float>()[k]));
  }
}
