// The derivative of trigamma, as the sum of -2 / (x + k)^3 that it is: the first eight terms, and the asymptotic series for the
// rest. Made of ops that have derivatives, so that lgamma can be differentiated any number of times.
// Source: recurrence, reflection and asymptotic series, Abramowitz and Stegun 6.4.
#include <numbers>

#include "local.h"

namespace weft {
namespace {

constexpr int shift = 8;

// For a >= 0: -inf at 0, 0 at inf.
Local at_positive(const Local& a) {
  // (2k + 1) times the Bernoulli number 2k
  constexpr double series[] = {3.0 / 6, -5.0 / 30, 7.0 / 42, -9.0 / 30, 11 * 5.0 / 66, -13 * 691.0 / 2730, 15 * 7.0 / 6, -17 * 3617.0 / 510,
                               19 * 43867.0 / 798, -21 * 174611.0 / 330, 23 * 854513.0 / 138, -25 * 236364091.0 / 2730};
  const Local inverse = call(Op::reciprocal, a + shift), square = inverse * inverse;
  Local tail = series[11];
  for (int k = 10; k >= 0; --k) tail = tail * square + series[k];
  Local sum = square * (tail * square + inverse + 1);
  for (int k = shift - 1; k >= 0; --k) {                     // the smallest first
    const Local each = call(Op::reciprocal, a + k);
    sum = sum + 2 * (each * each * each);
  }
  return -sum;
}

}  // namespace

// By reflection: tetragamma(x) = tetragamma(1 - x) - 2 pi^3 cos(pi x) / sin(pi x)^3.
Local tetragamma(const Local& x) {
  const Local negative = x < 0;
  const Local angle = (x - call(Op::round, x)) * std::numbers::pi, sine = sin(angle);
  const Local cubed = sine * sine * sine, reflected = cos(angle) / cubed * (-2 * std::numbers::pi * std::numbers::pi * std::numbers::pi);
  return at_positive(select(negative, 1 - x, x)) + select(negative, reflected, 0);
}

}  // namespace weft
