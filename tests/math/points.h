// Arguments at which functions of double are measured.
#pragma once
#include <array>
#include <random>

#include "functions.h"

namespace weft::math_test {

using Random = std::mt19937_64;

// The k-th of them: of every binade, of usual ranges, near multiples of pi/2, near 1, 2 and the zero of digamma, subnormal, special.
double point(uint64_t k, Random& random);

// The k-th pair: as sample_pair, or with x near 1, with integral y, of like sizes, of extreme sizes, of any bits.
template <class T> std::array<T, 2> pair(uint64_t k, Random& random);

// Zeros, infinities, NaN, powers of two, what lies halfway, and their neighbours: 16 in every binade of either sign, 2^13 in all.
std::vector<float> special_floats();

}  // namespace weft::math_test
