// The processor's features, asked for by name.
#include "code/features.h"

#include <doctest/doctest.h>

using namespace weft;

TEST_CASE("a feature is found by its whole name, wherever it stands") {
  const std::string features = "+avx512vbmi2,-sse4a,+avx,+avx512f,+fma";
  for (const char* name : {"+avx512vbmi2", "-sse4a", "+avx", "+avx512f", "+fma"}) CHECK(has_feature(features, name));
  for (const char* name : {"+avx512vbmi", "+sse4a", "avx", "+avx51", "vbmi2", "+fm", "+fma4", "+avx512f,"}) CHECK_FALSE(has_feature(features, name));
  CHECK(has_feature("+avx", "+avx"));
  CHECK_FALSE(has_feature("", "+avx"));
  CHECK_FALSE(has_feature("+avx5,+avx51", "+avx"));
}

TEST_CASE("fewer lanes switch the features of wider registers off") {
  CHECK_FALSE(has_feature(host_features(8), "+avx512f"));
  CHECK_FALSE(has_feature(host_features(4), "+avx2"));
  CHECK_FALSE(has_feature(host_features(4), "+fma"));
}
