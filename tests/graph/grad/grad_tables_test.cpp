// Gradients and Hessians where others go wrong: exact values, in reverse and in forward mode.
#include <weft/grad.h>

#include <gradient_tables.h>
#include <weft/interpret.h>

using namespace weft;

TEST_CASE("the table of gradients at singular points: products with zeros, ties, branches not taken, powers at 0") {
  for (const GradientRow& row : gradient_tables::all()) {
    CAPTURE(row.name);
    const gradient_tables::RowGraph made(row);
    CHECK(made.compare(interpret(made.outputs(), made.inputs, made.arrays)) == "");
  }
}
