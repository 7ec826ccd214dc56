// Values that are read in part are made in that part: the graph, and the same bits.
#include <pass_text.h>

#include "pass_bits.h"
#include "passes/pipeline.h"

using namespace weft;

TEST_CASE("every second exponential") {
  CHECK(text_after(narrow, "graph g(%x: f32[n]) -> (%1) {\n%0: f32[i:n] = exp(%x[i])\n%1: f32[i:(n+1)/2] = negative(%0[2*i])\n}") ==
        "graph g(%x: f32[n]) -> (%1) {\n  %0: f32[i:(n+1)/2] = exp(%x[2*i])\n  %1: f32[i:(n+1)/2] = negative(%0[i])\n}\n");
}

TEST_CASE("through several ops, a transpose, a window and a fold") {
  CHECK(text_after(narrow, "graph g(%x: f32[n,m]) -> (%2) {\n%0: f32[n+2,m+2] = update(%x[i,j]) at [i+1,j+1]\n%1: f32[i:n+2,j:m+2] = exp(%0[i,j])\n%2: f32[i:m] = sum(j:n) copy(%1[j+1,i+1])\n}") ==
        "graph g(%x: f32[n,m]) -> (%2) {\n"
        "  %0: f32[n,m] = update(%x[i,j]) within [i,j]\n"
        "  %1: f32[i:n,j:m] = exp(%0[i,j])\n"
        "  %2: f32[i:m] = sum(j:n) copy(%1[j,i])\n}\n");
}

TEST_CASE("one column, one element from the end, and few of two values that others make too") {
  CHECK(text_after(narrow, "graph g(%x: f32[n,m]) -> (%1) {\n  %0: f32[i:n,j:m] = exp(%x[i,j])\n  %1: f32[i:n] = negative(%0[i,0])\n}\n") ==
        "graph g(%x: f32[n,m]) -> (%1) {\n  %0: f32[i:n,j:1] = exp(%x[i,j+0])\n  %1: f32[i:n] = negative(%0[i,0])\n}\n");
  CHECK(text_after(narrow, "graph g(%x: f32[n], %y: f32[m]) -> (%1) {\n  %0: f32[i:n] = exp(%x[i])\n  %1: f32[i:m] = multiply(%0[n-1], %y[i])\n}\n") ==
        "graph g(%x: f32[n], %y: f32[m]) -> (%1) {\n  %0: f32[i:1] = exp(%x[i+n-1])\n  %1: f32[i:m] = multiply(%0[0], %y[i])\n}\n");
  CHECK(text_after(narrow, "graph g(%x: f32[n]) -> (%3, %4, %5) {\n  %0: f32[i:n] = exp(%x[i])\n  %1: f32[i:n] = log(%x[i])\n  %2: f32[i:n] = add(%0[i], %1[i])\n  %3: f32[i:2] = negative(%2[i+1])\n"
                           "  %4: f32[] = sum(i:n) copy(%0[i])\n  %5: f32[] = sum(i:n) copy(%1[i])\n}\n").find("%2: f32[i:2] = add(%0[i+1], %1[i+1])") != std::string::npos);
}

TEST_CASE("what readers take different parts of, outputs, scans and two values of others stay whole") {
  const char* texts[] = {
      "graph g(%x: f32[n]) -> (%1) {\n  %0: f32[i:n] = exp(%x[i])\n  %1: f32[i:n-1] = subtract(%0[i+1], %0[i+0])\n}\n",
      "graph g(%x: f32[n]) -> (%0, %1) {\n  %0: f32[i:n] = exp(%x[i])\n  %1: f32[i:n-1] = negative(%0[i+1])\n}\n",
      "graph g(%x: f32[n,m]) -> (%2) {\n  %0: f32[i:n,j:m] = exp(%x[i,j])\n  %1: f32[i:n] = negative(%0[i,0])\n  %2: f32[i:n] = add(%0[i,1], %1[i])\n}\n",
      "graph g(%x: f32[n]) -> (%1) {\n  %0: f32[2*n] = update(%x[i]) at [2*i]\n  %1: f32[i:n] = negative(%0[2*i+1])\n}\n",
      ("graph g(%x: f32[n]) -> (%3, %4, %5) {\n  %0: f32[i:n] = exp(%x[i])\n  %1: f32[i:n] = log(%x[i])\n  %2: f32[i:n] = add(%0[i], %1[i])\n  %3: f32[i:n-1] = negative(%2[i+1])\n"
      "  %4: f32[] = sum(i:n) copy(%0[i])\n  %5: f32[] = sum(i:n) copy(%1[i])\n}\n"),
  };
  for (const char* text : texts) CHECK(text_after(narrow, text) == text);
}

TEST_CASE("the same bits: slices by steps, backwards, of windows and of what is broadcast") {
  const char* texts[] = {
      "graph g(%x: f32[n,m], %b: f32[m]) -> (%2) {\n%0: f32[i:n,j:m] = add(%x[i,j], %b[j])\n%1: f32[i:n,j:m] = exp(%0[i,j])\n%2: f32[i:m,j:n] = negative(%1[n-1-j,m-1-i])\n}",
      "graph g(%x: f32[n,m], %b: f32[m]) -> (%1) {\n%0: f32[i:n,j:m] = multiply(%x[i,m-1-j], %b[j])\n%1: f32[i:(n+1)/2,j:m-1] = sqrt(%0[2*i,j+1])\n}",
      "graph g(%x: f32[n,m], %b: f32[m]) -> (%2) {\n%0: f32[n+3,m] = update(%x[i,j]) at [n-i,j]\n%1: f32[i:n+3,j:m] = fma(%0[i,j], %b[j], 1)\n%2: f32[i:n,j:m] = negative(%1[i+2,j])\n}",
      "graph g(%x: f32[n,m], %b: f32[m]) -> (%2) {\n%0: f32[i:n,j:m] = add(%x[i,j], %b[j])\n%1: f32[i:n,j:m] = exp(%0[i,j])\n%2: f32[i:m] = negative(%1[n-1,m-1-i])\n}",
      "graph g(%x: f32[n,m], %b: f32[m]) -> (%2) {\n%0: i64[i:m] = iota(i)\n%1: i64[i:m] = multiply(%0[i], 3)\n%2: i64[i:m-1] = add(%1[i+1], %1[i+1])\n}",
  };
  same_bits_after(narrow, texts);
}
