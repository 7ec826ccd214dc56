// What compile refuses, in whole texts.
#include <weft/function.h>

#include <error_text.h>

#include "compiled.h"

using namespace weft;

namespace {

struct Demo {
  Graph g{"demo"}, other{"other"};
  Expr x = g.input("x", f32, {"n", "m"}), w = g.input("w", f32, {"m"}), o = other.input("o", f32, {"n"});
};
std::string compile_error(const std::vector<Expr>& outputs, const std::vector<Expr>& inputs) {
  return error_text([&] { compile(outputs, inputs); });
}

}  // namespace

TEST_CASE("every input that the outputs need must be listed") {
  Demo d;
  CHECK(compile_error({d.x * d.w}, {d.x}) == "usage: compile: the outputs need input %w, which is not listed\n  add it to the inputs");
  CHECK(compile_error({d.x * d.w}, {}) == "usage: compile: the outputs need input %w, which is not listed\n  add it to the inputs");
}

TEST_CASE("only inputs may be listed, each once") {
  Demo d;
  const Expr y = d.x * d.w;
  CHECK(compile_error({y}, {d.x, d.w, d.x}) == "usage: compile: input %x is listed twice");
  CHECK(compile_error({y}, {d.x, d.w, y}) == "usage: compile: %0 is listed as an input but it is computed");
}

TEST_CASE("all Exprs must be of one graph") {
  Demo d;
  CHECK(compile_error({d.x * d.w}, {d.x, d.w, d.o}) == "usage: compile: input %o belongs to graph \"other\", not to \"demo\"");
  CHECK(compile_error({d.x * d.w, d.o}, {d.x, d.w}) == "usage: compile: output %o belongs to graph \"other\", not to \"demo\"");
}

TEST_CASE("there must be an output, and no Expr may be empty") {
  Demo d;
  CHECK(compile_error({}, {d.x}) == "usage: compile: expected at least one output");
  CHECK(error_text([&] { compile(parse("graph g(%x: f64[n]) -> () {\n}")); }) == "usage: compile: expected at least one output");
  CHECK(compile_error({Expr()}, {d.x}) == "usage: compile: an output is an empty Expr");
  CHECK(compile_error({d.x + 1}, {d.x, Expr()}) == "usage: compile: an input is an empty Expr");
  CHECK(compile_error({d.x + 1, Expr()}, {d.x}) == "usage: compile: an output is an empty Expr");
}

TEST_CASE("every symbol must be bound by an input, as an extent of its own") {
  Graph g;
  const Expr w = g.input("w", f32, {"m"}), y = g.input("y", f32, {parse_extent("2*n+1")}), z = g.input("z", f32, {"n"});
  CHECK(compile_error({broadcast_to(w, {"q", "m"})}, {w}) ==
        "shape: symbol q is not bound by any input\n  %0: f32[i:q,j:m] = copy(%w[j])\n"
        "  add an input with an axis of extent q, or write a number");
  CHECK(compile_error({sum(w) + cast(g.extent("zz"), f32)}, {w}).starts_with("shape: symbol zz is not bound by any input\n"));
  CHECK(compile_error({y + 1}, {y}) ==
        "shape: symbol n is not bound by any input\n  %y: f32[2*n+1]\n  add an input with an axis of extent n, or write a number");
  CHECK(compile_error({y + 1}, {y, z}) == "no error");
}

TEST_CASE("a number of threads is not negative") {
  Demo d;
  CHECK(error_text([&] { compile({d.x + 1}, {d.x}, {.threads = -1, .executor = nullptr, .verify = false, .trace = ""}); }) ==
        "usage: threads must be 0 (one for each processor that the caller may run on) or more, got -1");
}

TEST_CASE("a failed compile leaves the graph as it was") {
  Demo d;
  const Expr y = d.x * d.w;
  const std::size_t size = d.g.size();
  CHECK(compile_error({y}, {d.x}) != "no error");
  CHECK(d.g.size() == size);
  CHECK(compile_error({y}, {d.x, d.w}) == "no error");
  CHECK(d.g.size() == size);
}
