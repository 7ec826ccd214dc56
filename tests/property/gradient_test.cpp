// Random differentiable graphs: gradients against differences. WEFT_PROPERTY_GRADIENTS=2000 runs that many.
#include <doctest/doctest.h>

#include <cstdlib>

#include "gradient_property.h"
#include "isolate.h"

namespace {

RandomCase smooth_case(std::uint64_t seed) {
  SeededSource random(seed + 1000000);
  Recipe recipe;
  recipe.dtypes = {weft::f64};
  recipe.nodes = 8;
  recipe.max_rank = 3;
  recipe.max_volume = 60;
  recipe.long_chains = false;
  recipe.smooth = true;
  return random_case(random, recipe);
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace

TEST_CASE("gradients of random graphs agree with central differences, those of gradients too") {
  const std::uint64_t count = from_environment("WEFT_PROPERTY_GRADIENTS", 150), first = from_environment("WEFT_PROPERTY_SEED", 1);
  GradientCount total;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string text = isolated([&] {
      GradientCount counted;
      std::string failure = check_gradient(smooth_case(seed), seed, seed % 8 == 0, seed % 4 == 0, counted);
      if (!failure.empty()) return "seed " + std::to_string(seed) + ": " + failure + "\n" + to_text(smooth_case(seed).graph);
      return "counted " + std::to_string(counted.checked) + " " + std::to_string(counted.skipped);
    }, 60);
    std::istringstream words(text);
    std::string word;
    int checked = 0, skipped = 0;
    if (words >> word >> checked >> skipped && word == "counted") total.checked += checked, total.skipped += skipped;
    else FAIL_CHECK(seed, ": ", text);
  }
  MESSAGE(count, " graphs: ", total.checked, " derivatives agree, ", total.skipped, " at kinks or beyond what differences can tell");
  CHECK(total.checked > total.skipped);
}
