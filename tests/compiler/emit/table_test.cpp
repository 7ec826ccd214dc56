// Functions of bytes: one code makes their tables and what is left over.
#include "bits.h"
#include "occurrences.h"

using namespace weft;

TEST_CASE("the body of a function of bytes is emitted once, for its tables and for what is left over, in any number of channels") {
  for (const DType dtype : {DType::u8, DType::i8})
    for (const Index channels : {1, 2, 3, 4, 7}) {
      CAPTURE(dtype);
      CAPTURE(channels);
      Graph g;
      const Expr x = g.input("x", dtype, {"n", channels}), gain = g.input("gain", f32, {channels});
      const Expr curve = cast(minimum(floor(pow(abs(cast(x, f32)) / 255.0f, 0.45f) * gain + 0.5f), 127.0f), dtype);
      for (const int lanes : {0, 8, 4}) {
        CAPTURE(lanes);
        const Function f = compile({curve}, {x, gain}, {.threads = 1, .lanes = lanes, .verify = true});
        for (const Index n : {2000, 1031, 511, 100, 3}) {
          const Array pixels = counted_by(dtype, {n, channels}, [&](Index k) { return static_cast<double>(k * 37 % 251) - (dtype == DType::i8 ? 125 : 0); });
          const Array gains = counted_by(f32, {channels}, [](Index k) { return 100 + 20 * static_cast<double>(k); });
          same_bits(f, {pixels, gains});
          if (n == 2000 && channels <= 4) CHECK(occurrences(f.llvm(), "call <16 x float> @llvm.floor.v16f32") == 1);
        }
      }
    }
}
