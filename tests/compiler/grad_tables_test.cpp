// The gradients of tests/support/gradient_tables.h after all passes and compiled.
#include <weft/grad.h>

#include <gradient_tables.h>

#include "compiled.h"

using namespace weft;

TEST_CASE("the table of gradients at singular points holds in compiled functions") {
  for (const GradientRow& row : gradient_tables::all()) {
    CAPTURE(row.name);
    const gradient_tables::RowGraph made(row);
    const Function f = compile(made.outputs(), made.inputs, checked());
    CHECK(made.compare(f(made.arrays)) == "");
  }
}
