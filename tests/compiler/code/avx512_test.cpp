// The instructions of AVX-512 as tests emulate them (support/emulate_avx512.cpp).
#include <avx512.h>

#include <cmath>
#include <cstdlib>
#include <string_view>

#include <doctest/doctest.h>

#include "code/features.h"

namespace {

bool is_emulated() {
  const char* features = std::getenv("WEFT_EMULATE");
  return features && std::string_view(features).find("avx512f") != std::string_view::npos;
}

}  // namespace

TEST_CASE("the instructions of AVX-512 as they are emulated: examples of their description") {
  constexpr float infinity = avx512::infinity<float>;
  CHECK(avx512::getexp(10.0f) == 3);
  CHECK(avx512::getexp(-0x1p-149f) == -149);
  CHECK(avx512::getexp(0.0f) == -infinity);
  CHECK(avx512::getmant(-10.0f, 0) == -1.25f);
  CHECK(avx512::getmant(-10.0f, 4) == 1.25f);
  CHECK(avx512::getmant(10.0f, 1) == 0.625f);
  CHECK(avx512::getmant(14.0, 3) == 0.875);
  CHECK(std::isnan(avx512::getmant(-10.0f, 8)));
  CHECK(avx512::scalef(3.0f, 2.9f) == 12);
  CHECK(avx512::scalef(3.0f, -infinity) == 0);
  CHECK(avx512::scalef(1.0f, -149.0f) == 0x1p-149f);
  CHECK(avx512::range(-3.0f, 2.0f, 0b0100) == -3);
  CHECK(avx512::range(-3.0f, 2.0f, 0b0101) == 2);
  CHECK(avx512::range(-3.0f, 2.0f, 0b0111) == -3);
  CHECK(avx512::range(-3.0f, 2.0f, 0b0001) == -2);
  CHECK(avx512::fixupimm(7.0f, 0.0f, 0x00000500u) == infinity);
  CHECK(avx512::fixupimm(7.0f, 3.0f, 0x00000500u) == 7);
  CHECK(std::fabs(avx512::rcp14(3.0f) * 3 - 1) < 0x1p-14f);
  CHECK(avx512::rcp14(-0.0f) == -infinity);
  CHECK(std::fabs(avx512::rsqrt14(2.0) * std::sqrt(2.0) - 1) < 0x1p-14);
}

TEST_CASE("code is emitted for AVX-512 where it is emulated, and for no more than this processor has where it is not") {
  CHECK(weft::has_feature(weft::host_features(16), "+avx512f") == (is_emulated() || weft::has_feature(weft::true_features(), "+avx512f")));
  CHECK_FALSE(weft::has_feature(weft::host_features(8), "+avx512f"));
}
