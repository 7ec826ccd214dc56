// Function::report(): what was decided, and what the decision compared.
#include <regex>

#include <doctest/doctest.h>

#include "compiled.h"
#include "softmax_text.h"

using namespace weft;

namespace {

// Compiled for arrays of these sizes.
Function called(const std::string& text, const Bindings& sizes, const Options& options = checked()) {
  const Graph graph = parse(text);
  const Function f = compile(graph, options);
  std::vector<Array> inputs;
  for (NodeId id : graph.inputs) inputs.push_back(uniform(graph.node(id).dtype, evaluate(graph.node(id).shape(), sizes)));
  f(inputs);
  return f;
}

// Blanks between words count as one.
bool says(const Function& f, const std::string& text) {
  static const std::regex blanks(" +");
  const std::string report = std::regex_replace(f.report(), blanks, " ");
  const bool found = report.find(text) != std::string::npos;
  if (!found) MESSAGE(report);
  return found;
}

}  // namespace

TEST_CASE("a softmax: rows are split over threads, run as vectors, and are kept in scratch") {
  const Function f = called(softmax_rows, {{"n", 300}, {"m", 1000}}, checked(2));
  CHECK(says(f, "sizes: m = 1000, n = 300; code relies on m not 0, m at most 1024\n"));
  CHECK(says(f, " i n = 300 "));
  CHECK(says(f, " 0, chosen\n"));                                                     // nothing speaks against rows
  CHECK(says(f, " chosen no: not all values run along it, or one folded over it is read\n"));   // the vector axis is j
  CHECK(says(f, " loops i, j as vectors\n"));
  CHECK(says(f, " memory reads 1.2 MB in 1 array, writes 1.2 MB in 1 array\n"));
  CHECK(says(f, " row %2 4000 bytes\n"));
  CHECK(says(f, " threads up to 2: "));
  CHECK(says(f, "results go through the caches: 2.4 MB of arguments, limit "));
  CHECK(says(f, "; this variant: passes "));
}

TEST_CASE("too little work, or one thread, is not split, and the report says which") {
  CHECK(says(called(softmax_rows, {{"n", 4}, {"m", 20}}, checked(2)), " us in 4 units, others help from 4 us on\n"));
  CHECK(says(called(softmax_rows, {{"n", 300}, {"m", 1000}}), " us in 300 units, and there is one\n"));
}

TEST_CASE("a transpose is read in tiles; rows that are added up are worked on together") {
  const Function turned = called("graph t(%x: f32[m,n], %y: f32[n,m]) -> (%0) {\n  %0: f32[i:n,j:m] = add(%x[j,i], %y[i,j])\n}\n", {{"n", 200}, {"m", 300}});
  CHECK(says(turned, "1 vector, tiles of 16 elements of i transposed in registers\n"));
  const Function sums = called("graph s(%x: f32[n,m]) -> (%0) {\n  %0: f32[i:m] = sum(j:n) copy(%x[j,i])\n}\n", {{"n", 100}, {"m", 8192}});
  CHECK(says(sums, ", 4 elements of j together\n"));
  CHECK(says(sums, "vector axis 2.5"));
}

TEST_CASE("axes without a gap merge; a column of values along the root runs as vectors over blocks") {
  const Function merged = called("graph a(%x: f32[n,m]) -> (%0) {\n  %0: f32[i:n,j:m] = exp(%x[i,j])\n}\n", {{"n", 20}, {"m", 30}});
  CHECK(says(merged, " merged an axis of n and one of m: no array has a gap between them\n"));
  const Function block = called(R"(graph b(%x: f32[n,m], %y: f32[n]) -> (%3) {
  %0: f32[i:n] = sum(j:m) copy(%x[i,j])
  %1: f32[i:n] = exp(%0[i])
  %2: f32[i:n] = log1p(%1[i])
  %3: f32[i:n] = multiply(%2[i], %y[i])
})", {{"n", 5000}, {"m", 20}});
  CHECK(says(block, " blocks what rows have once costs 49 beside "));
  CHECK(says(block, ": as vectors over 64 rows\n"));
  CHECK(says(block, ", 4 elements of i together\n"));
}

TEST_CASE("results past the caches are counted, and the report says why there are none") {
  Options streaming = checked();
  streaming.cache_bytes = 1000;
  const std::string text = "graph a(%x: f32[n]) -> (%0) {\n  %0: f32[i:n] = add(%x[i], 1)\n}\n";
  const Function past = called(text, {{"n", 1024}}, streaming);
  CHECK(says(past, ", 1 result past the caches\n"));
  CHECK(says(past, "results are stored past the caches: 8192 bytes of arguments, limit 1000 bytes\n"));
  const std::string rows = "graph a(%x: f32[n,m], %y: f32[n]) -> (%0) {\n  %0: f32[i:n,j:m] = add(%x[i,j], %y[i])\n}\n";
  CHECK(says(called(rows, {{"n", 10}, {"m", 99}}, streaming), "results go through the caches: no loop writes whole lines of them: "));
  const std::string one = "graph a(%x: f32[n,m]) -> (%0) {\n  %0: f32[i:n,j:m] = add(%x[i,j], 1)\n}\n";
  CHECK(says(called(one, {{"n", 10}, {"m", 99}}, streaming), "results are stored past the caches: "));
}

TEST_CASE("arrays between nests have a reason; values that several nests read have two costs") {
  const Function shifted = called(R"(graph s(%x: f32[n]) -> (%2) {
  %0: f32[i:n] = sqrt(%x[i])
  %1: f32[] = sum(i:n) copy(%0[i])
  %2: f32[i:n] = divide(%0[i], %1[])
})", {{"n", 1 << 20}});
  CHECK(says(shifted, "arrays between nests, and why these are two\n %1 4 bytes nest 0 to 1 %2 reads it: no axis is left to be the root"));
  CHECK(says(shifted, " %0 made again in 1 nest: making it again costs 10, an array 16\n"));
  const Function reversed = called(R"(graph r(%x: f32[n]) -> (%0, %1) {
  %0: f32[i:n] = exp(%x[i])
  %1: f32[i:n] = add(%0[n-1-i], %x[i])
})", {{"n", 64}});
  CHECK(says(reversed, "reads it: at other indices than it is made at, along every axis that could be the root\n"));
  const Function long_rows = called(R"(graph l(%x: f32[n,m]) -> (%0, %1) {
  %0: f32[i:n,j:m] = exp(%x[i,j])
  %1: f32[i:n,j:m] = add(%0[i,m-1-j], %x[i,j])
})", {{"n", 4}, {"m", 100000}});
  CHECK(says(long_rows, "reads it: at other indices than it is made at, and rows of it would be too long\n"));
}
