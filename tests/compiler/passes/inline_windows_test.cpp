// What an update writes is made where it writes: the graph after it, and the same bits as before.
#include <pass_text.h>

#include "pass_bits.h"
#include "passes/pipeline.h"

using namespace weft;

TEST_CASE("the window of a sum reads both of its operands, in the places of the sum") {
  CHECK(text_after(inline_windows, "graph g(%x: f32[n], %y: f32[n]) -> (%1) {\n%0: f32[i:n] = add(%x[i], %y[i])\n%1: f32[n+3] = update(%0[i]) at [i+2]\n}") ==
        "graph g(%x: f32[n], %y: f32[n]) -> (%8) {\n"
        "  %0: i64[i:n+3] = iota(i)\n"
        "  %1: bool[i:n+3] = greater_equal(%0[i], 2)\n"
        "  %2: i64[] = extent(n+2)\n"
        "  %3: bool[i:n+3] = less(%0[i], %2)\n"
        "  %4: bool[i:n+3] = logical_and(%1[i], %3[i])\n"
        "  %5: f32[n+3] = update(%x[i]) within [i+2]\n"
        "  %6: f32[n+3] = update(%y[i]) within [i+2]\n"
        "  %7: f32[i:n+3] = add(%5[i], %6[i])\n"
        "  %8: f32[i:n+3] = where(%4[i], %7[i], 0)\n}\n");
}

TEST_CASE("slices that a window holds are read where they lie") {
  CHECK(text_after(inline_windows, "graph g(%x: f32[n,m]) -> (%1) {\n%0: f32[i:n,j:m-1] = subtract(%x[i,j+1], %x[i,j+0])\n%1: f32[n,m] = update(%0[i,j]) at [i,j+1]\n}") ==
        "graph g(%x: f32[n,m]) -> (%4) {\n"
        "  %0: i64[i:m] = iota(i)\n"
        "  %1: bool[i:m] = greater_equal(%0[i], 1)\n"
        "  %2: f32[n,m] = update(%x[i,j]) within [i,j+1]\n"
        "  %3: f32[i:n,j:m] = subtract(%x[i,j], %2[i,j])\n"
        "  %4: f32[i:n,j:m] = where(%1[j], %3[i,j], 0)\n}\n");
}

TEST_CASE("a value that others read too is stored once, instead of what each window makes of it") {
  CHECK(text_after(inline_windows, "graph g(%x: f32[n]) -> (%5) {\n%0: f32[i:n] = exp(%x[i])\n%1: f32[i:n] = multiply(%0[i], 2)\n%2: f32[n+1] = update(%1[i]) at [i+1]\n"
                                   "%3: f32[i:n] = negative(%0[i])\n%4: f32[n+1] = update(%3[i]) at [i]\n%5: f32[i:n+1] = add(%2[i], %4[i])\n}") ==
        "graph g(%x: f32[n]) -> (%11) {\n"
        "  %0: i64[i:n+1] = iota(i)\n"
        "  %1: bool[i:n+1] = greater_equal(%0[i], 1)\n"
        "  %2: f32[i:n] = exp(%x[i])\n"
        "  %3: f32[n+1] = update(%2[i]) within [i+1]\n"
        "  %4: f32[i:n+1] = multiply(%3[i], 2)\n"
        "  %5: f32[i:n+1] = where(%1[i], %4[i], 0)\n"
        "  %6: i64[] = extent(n)\n"
        "  %7: bool[i:n+1] = less(%0[i], %6)\n"
        "  %8: f32[n+1] = update(%2[i]) within [i]\n"
        "  %9: f32[i:n+1] = negative(%8[i])\n"
        "  %10: f32[i:n+1] = where(%7[i], %9[i], 0)\n"
        "  %11: f32[i:n+1] = add(%5[i], %10[i])\n}\n");
}

TEST_CASE("dear values, values that others make and results stay where they are") {
  const char* texts[] = {
      "graph g(%x: f32[n]) -> (%1, %2) {\n  %0: f32[i:n] = exp(%x[i])\n  %1: f32[n+3] = update(%0[i]) at [i+2]\n  %2: f32[i:n] = negative(%0[i])\n}\n",
      ("graph g(%x: f32[n], %y: f32[n]) -> (%3, %4, %5) {\n  %0: f32[i:n] = exp(%x[i])\n  %1: f32[i:n] = exp(%y[i])\n  %2: f32[i:n] = add(%0[i], %1[i])\n  %3: f32[n+3] = update(%2[i]) at [i+2]\n"
      "  %4: f32[] = sum(i:n) copy(%0[i])\n  %5: f32[] = sum(i:n) copy(%1[i])\n}\n"),
      "graph g(%x: f32[n]) -> (%0, %1) {\n  %0: f32[i:n] = negative(%x[i])\n  %1: f32[n+3] = update(%0[i]) at [i+2]\n}\n",
      "graph g(%x: f32[n,m]) -> (%1) {\n  %0: f32[i:n] = sum(j:m) copy(%x[i,j])\n  %1: f32[n+3] = update(%0[i]) at [i+2]\n}\n",
      "graph g(%x: f32[n]) -> (%1) {\n  %0: f32[i:n] = negative(%x[i])\n  %1: f32[2*n] = update(%0[i]) at [2*i]\n}\n",
      "graph g(%x: f32[n]) -> (%0) {\n  %0: f32[n+3] = update(%x[i]) at [i+2]\n}\n",
  };
  for (const char* text : texts) CHECK(text_after(inline_windows, text) == text);
}

TEST_CASE("the same bits: slices, flips, broadcasts, fixed places, scalars, several axes") {
  const char* texts[] = {
      "graph g(%x: f32[n,m], %b: f32[m]) -> (%1) {\n%0: f32[i:n,j:m] = fma(%x[i,j], %b[j], -0.0)\n%1: f32[n+1,m+4] = update(%0[i,j]) at [i+1,j+2]\n}",
      "graph g(%x: f32[n,m], %b: f32[m]) -> (%2) {\n%0: f32[i:n,j:m-1] = subtract(%x[i,j+1], %b[j+0])\n%1: f32[i:n,j:m-1] = negative(%0[i,j])\n%2: f32[n,m] = update(%1[i,j]) at [i,j]\n}",
      "graph g(%x: f32[n,m], %b: f32[m]) -> (%1) {\n%0: f32[i:n,j:m] = divide(%x[n-1-i,m-1-j], %b[j])\n%1: f32[n,m+2] = update(%0[i,j]) at [i,j+1]\n}",
      "graph g(%x: f32[n,m], %b: f32[m]) -> (%1) {\n%0: f32[i:m] = divide(%x[2,i], %b[i])\n%1: f32[n,m] = update(%0[i]) at [1,i]\n}",
      "graph g(%x: f32[n,m], %b: f32[m]) -> (%1) {\n%0: f32[i:m,j:n] = maximum(%x[j,i], %b[i])\n%1: f32[n+1,m+1] = update(%0[i,j]) at [j+1,i]\n}",
  };
  same_bits_after(inline_windows, texts);
}

TEST_CASE("a value read in several windows is made once in each place") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  const Expr loss = sum(square(diff(x, 1, 1))) + sum(roll(x * x, 1, 1) * x);
  g.outputs = {loss.id(), grad(loss, {x})[0].id()};
  same_bits_after(inline_windows, g, {uniform(f32, {7, 30})});
}

TEST_CASE("slices of a padded array read the array") {
  CHECK(text_after(read_through_windows, "graph g(%x: f32[n]) -> (%1) {\n%0: f32[n+2] = update(%x[i]) at [i+1]\n%1: f32[i:n] = add(%0[i+0], %0[i+2])\n}") ==
        "graph g(%x: f32[n]) -> (%2) {\n"
        "  %0: f32[n] = update(%x[i]) within [i+1]\n"
        "  %1: f32[n] = update(%x[i]) within [i-1]\n"
        "  %2: f32[i:n] = add(%0[i], %1[i])\n}\n");
}

TEST_CASE("slices of a padded value read the value, where others read it too, and where it is not made in the window") {
  const auto stencil = [](const char* value, const char* result) {
    return concat("graph g(%x: f32[n]) -> (%2", result, ") {\n%0: f32[i:n] = ", value, "(%x[i])\n%1: f32[n+2] = update(%0[i]) at [i+1]\n%2: f32[i:n] = add(%1[i+0], %1[i+2])\n%3: f32[i:n] = negative(%0[i])\n}");
  };
  const std::string after = "  %0: f32[i:n] = exp(%x[i])\n"
                            "  %1: f32[n] = update(%0[i]) within [i+1]\n"
                            "  %2: f32[n] = update(%0[i]) within [i-1]\n"
                            "  %3: f32[i:n] = add(%1[i], %2[i])\n";
  CHECK(text_after(read_through_windows, stencil("exp", ", %3")) == "graph g(%x: f32[n]) -> (%3, %4) {\n" + after + "  %4: f32[i:n] = negative(%0[i])\n}\n");
  CHECK(text_after(read_through_values, stencil("exp", "")) == "graph g(%x: f32[n]) -> (%3) {\n" + after + "}\n");
}

TEST_CASE("what is an array in any case is read by a window of something made of it and of one more value") {
  // %0 is one, since an update reads it; %2 is stored instead of the windows of %4 and %6.
  const char* text = "graph g(%x: f32[n]) -> (%1, %9) {\n%0: f32[i:n] = exp(%x[i])\n%1: f32[n+9] = update(%0[i]) at [i+4]\n%2: f32[i:n] = tanh(%x[i])\n"
                     "%3: bool[i:n] = greater(%0[i], 0.5)\n%4: f32[i:n] = where(%3[i], %2[i], 0)\n%5: f32[n+1] = update(%4[i]) at [i+1]\n"
                     "%6: f32[i:n] = multiply(%2[i], 3)\n%7: f32[i:n] = where(%3[i], %6[i], 0)\n%8: f32[n+1] = update(%7[i]) at [i]\n%9: f32[i:n+1] = add(%5[i], %8[i])\n}";
  const std::string after = text_after(inline_windows, text);
  CHECK(after.find("where") != std::string::npos);
  std::size_t updates = 0, of_arrays = 0;
  for (std::size_t at = after.find("update("); at != std::string::npos; at = after.find("update(", at + 1)) {
    ++updates;
    const std::string operand = after.substr(at + 7, after.find('[', at) - at - 7), line = "  " + operand + ": f32[i:n] = ";
    of_arrays += after.find(line + "exp") != std::string::npos || after.find(line + "tanh") != std::string::npos;
  }
  CHECK(updates >= 4);
  CHECK(of_arrays == updates);
  for (const Dims& shape : {Dims{40}, Dims{7}}) same_bits_after(inline_windows, parse(text), {special(f32, shape, 1)});
}

TEST_CASE("an update that is a result, is folded, or is read as it lies only, stays") {
  const char* texts[] = {
      "graph g(%x: f32[n]) -> (%0, %1) {\n  %0: f32[n+2] = update(%x[i]) at [i+1]\n  %1: f32[i:n] = add(%0[i+0], %0[i+2])\n}\n",
      "graph g(%x: f32[n]) -> (%1, %2) {\n  %0: f32[n+2] = update(%x[i]) at [i+1]\n  %1: f32[i:n] = add(%0[i+0], %0[i+2])\n  %2: f32[] = sum(i:n+2) exp(%0[i])\n}\n",
      "graph g(%x: f32[n]) -> (%1) {\n  %0: f32[n+2] = update(%x[i]) at [i+1]\n  %1: f32[i:n+2] = exp(%0[i])\n}\n",
      "graph g(%x: f32[n]) -> (%1) {\n  %0: f32[n+2] = update(%x[i]) at [i+1]\n  %1: f32[i:(n+2)/2] = exp(%0[2*i])\n}\n",
      "graph g(%x: f32[n,m]) -> (%1) {\n  %0: f32[n+1,m] = update(%x[i,j]) at [i+1,j]\n  %1: f32[i:m] = maximum(%0[0,i], %0[1,i])\n}\n",
  };
  for (const char* text : texts) CHECK(text_after(read_through_windows, text) == text);
}

TEST_CASE("the same bits through windows: cut ones, turned ones, of several axes, beside each other") {
  const char* texts[] = {
      "graph g(%x: f32[n,m], %b: f32[m]) -> (%1) {\n%0: f32[n+2,m+2] = update(%x[i,j]) at [i+1,j+1]\n%1: f32[i:n,j:m] = subtract(%0[i+2,j+1], %0[i+0,j+2])\n}",
      "graph g(%x: f32[n,m], %b: f32[m]) -> (%1) {\n%0: f32[m,n] = update(%x[i,j]) within [j-1,1-i]\n%1: f32[i:n,j:m-1] = subtract(%0[j+1,n-1-i], %x[i,j+0])\n}",
      "graph g(%x: f32[n,m], %b: f32[m]) -> (%2) {\n%0: f32[m+5] = update(%b[i]) at [i+5]\n%1: f32[m+5] = update(%b[i]) at [i]\n%2: f32[i:n,j:m] = fma(%0[j+2], %x[i,j], %1[j+5])\n}",
  };
  same_bits_after(read_through_windows, texts);
}
