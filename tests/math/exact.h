// Errors against MPFR with 160 bits, for finite results other than zero; the kinds of other results are left to ulp_error.
#pragma once

namespace weft::math_test {

// The distance of y from the function's value in ULP of double.
double mpfr_error(const char* function, double y, double x);
double mpfr_error(const char* function, double z, double x, double y);

}  // namespace weft::math_test
