// The parts of printed schedules and programs that the goldens do not show.
#include <weft/function.h>

#include "compiled.h"

using namespace weft;

namespace {

// Compiled for contiguous arrays of extent 64.
Function shown(const std::string& text) { return compile_text(text); }

}  // namespace

TEST_CASE("work on scalars runs once") {
  const Function f = shown("graph g(%a: f64[], %b: f64[]) -> (%1) {\n%0: f64[] = exp(%a)\n%1: f64[] = subtract(%0, %b)\n}");
  CHECK(f.schedule() == "schedule g {\n  once { %0 %1 }\n}\n");
  CHECK(f.program() ==
        "program g_0 {\n  once {\n    t1 = load %a[]\n    t0 = exp t1\n"
        "    t3 = load %b[]\n    t2 = subtract t0 t3\n    store %1[] = t2\n  }\n}\n");
}

TEST_CASE("subscripts show where an operand starts and how it steps") {
  const Function f = shown("graph g(%x: f64[3*n], %y: f64[n]) -> (%0) { %0: f64[i:n] = fma(%x[3*i+1], %x[2*n-1-2*i], %y[i]) }");
  CHECK(f.program() ==
        "program g_0 {\n  parallel i in n by 1024, one unit {\n    lanes i in n within unit {\n      t1 = load %x[1+3*i]\n      t2 = load %x[2*n-1-2*i]\n"
        "      t3 = load %y[i]\n      t0 = fma t1 t2 t3\n      store %0[i] = t0\n    }\n  }\n}\n");
}

TEST_CASE("constants, indices and extents stand where they are used") {
  const Function f = shown("graph g(%x: i64[n]) -> (%2) {\n%0: i64[i:n] = iota(i)\n%1: i64[] = extent(n)\n%2: i64[i:n] = clip(%0[i], -3, %1)\n}");
  CHECK(f.program() ==
        "program g_0 {\n  parallel i in n by 1024, one unit {\n    t2 = load extent(n)[]\n    lanes i in n within unit {\n      t1 = load index[i]\n"
        "      t0 = clip t1 -3 t2\n      store %2[i] = t0\n    }\n  }\n}\n");
}

TEST_CASE("a window written into zeros is a load where it is written") {
  const Function f = shown("graph g(%x: f64[n]) -> (%0) { %0: f64[3*n] = update(%x[i]) at [3*i+1] }");
  CHECK(f.program().find(" = load %x[") != std::string::npos);
  CHECK(f.program().find("] where written\n") != std::string::npos);
}

TEST_CASE("one program for each nest, numbered from 0, whatever was compiled before") {
  const std::string text = "graph two(%x: f64[n]) -> (%1) {\n%0: f64[] = sum(i:n) exp(%x[i])\n%1: f64[i:n] = divide(%x[i], %0)\n}";
  for (int round = 0; round < 2; ++round) {
    const Function f = shown(text);
    CHECK(f.program().starts_with("program two_0 {\n  merges %0 by sum over i\n"));
    CHECK(f.program().find("}\nprogram two_1 {\n") != std::string::npos);
    CHECK(f.schedule().ends_with("  arrays %0\n}\n"));
  }
}

TEST_CASE("texts are the same for equal graphs") {
  const std::string text = "graph g(%x: f32[n,m]) -> (%1, %2) {\n%0: f32[i:n,j:m] = sin(%x[i,j])\n%1: f32[i:n] = sum(j:m) copy(%0[i,j])\n"
                           "%2: f32[i:m] = max(j:n) copy(%0[j,i])\n}";
  const Function a = shown(text), b = shown(text);
  CHECK(a.graph() == b.graph());
  CHECK(a.schedule() == b.schedule());
  CHECK(a.program() == b.program());
}
