// Random graphs through the whole compiler. WEFT_PROPERTY=20000 runs that many graphs instead of the few of the normal
// run; WEFT_PROPERTY_SEED=k starts at seed k; WEFT_PROPERTY_JOBS=n uses n processes.
#include <doctest/doctest.h>
#include <weft/verify.h>

#include "compiled_property.h"
#include "seed_batches.h"
#include "shrink.h"

namespace {

SmallCase case_of(std::uint64_t seed, const Recipe& recipe) {
  SeededSource random(seed);
  RandomCase c = random_case(random, recipe);
  return {std::move(c.graph), std::move(c.inputs)};
}

// Folds in leaves, rows in whole steps, blocks of registers: what the compiler decides by extents that it knows.
Recipe long_extents() {
  Recipe recipe;
  recipe.dtypes = {weft::f32, weft::f32, weft::f32, weft::f64, weft::f64, weft::i32, weft::f16, weft::u8};
  recipe.nodes = 7;
  recipe.max_volume = 150000;
  recipe.long_extents = true;
  return recipe;
}

// Loops over a few elements know each index, and so which windows have one there.
Recipe thin_windows() {
  Recipe recipe;
  recipe.nodes = 6;
  recipe.thin_windows = true;
  return recipe;
}

// Images: windows of them, their channels along vectors, and turned.
Recipe pixels() {
  Recipe recipe;
  recipe.dtypes = {weft::f32, weft::f32, weft::f32, weft::f64, weft::i32, weft::i16, weft::u8, weft::u8};
  recipe.nodes = 6;
  recipe.max_volume = 30000;
  recipe.pixels = true;
  return recipe;
}

std::string described(const SmallCase& c) {
  std::string text = to_text(c.graph);
  for (std::size_t k = 0; k < c.inputs.size(); ++k) {
    const weft::Array& input = c.inputs[k];
    text += weft::concat("  ", name_of(c.graph, c.graph.inputs[k]), " ", weft::to_text(input.shape()), ":");
    weft::Index count = 0;
    for_each_element(input.shape(), [&](const weft::Dims& index) {
      if (++count <= 24) text += " " + to_text(input.get(index));
    });
    text += count > 24 ? " ..\n" : "\n";
  }
  return text;
}

// The failure, shrunk, as text.
std::string report(std::uint64_t seed, const Recipe& recipe, const std::string& failure) {
  const auto first_line = [](const std::string& text) { return text.substr(0, std::min<std::size_t>(18, text.find('\n'))); };
  const auto check = [seed](const SmallCase& c) { return isolated([&] { return check_compiled(c.graph, c.inputs, seed); }, 30); };
  const auto is_graph = [](const SmallCase& c) { return isolated([&] { weft::verify(c.graph); return std::string(); }, 10).empty(); };       // what is left may be none
  SmallCase small;
  const std::string made = isolated([&] { case_of(seed, recipe); return std::string(); }, 10);
  if (!made.empty()) return weft::concat("seed ", seed, ": making the graph ", made);
  small = shrunk(case_of(seed, recipe), [&](const SmallCase& c) { return is_graph(c) && first_line(check(c)) == first_line(failure); });
  return weft::concat("seed ", seed, ": ", check(small), "\nshrunk to\n", described(small));
}

void check_random_graphs(const Recipe& recipe, std::uint64_t count_by_default, unsigned seconds) {
  const std::uint64_t count = from_environment("WEFT_PROPERTY", count_by_default), first = from_environment("WEFT_PROPERTY_SEED", 1);
  const SeedRun run = run_seeds(first, count, from_environment("WEFT_PROPERTY_JOBS", 2), 50, seconds, [&](std::uint64_t seed, std::string&) {
    const SmallCase c = case_of(seed, recipe);
    return check_compiled(c.graph, c.inputs, seed);
  });
  const std::vector<Finding>& findings = run.findings;
  const std::uint64_t shown = from_environment("WEFT_PROPERTY_SHOW", 5);
  for (std::size_t k = 0; k < findings.size(); ++k) {
    if (k < shown) FAIL_CHECK(report(findings[k].seed, recipe, findings[k].failure));
    else FAIL_CHECK(weft::concat("seed ", findings[k].seed, ": ", findings[k].failure.substr(0, 160)));
  }
  MESSAGE(count, " graphs from seed ", first, ", ", findings.size(), " failures");
  CHECK(findings.empty());
}

}  // namespace

TEST_CASE("compiled random graphs give the interpreter's bits for every layout, order of units and number of threads") {
  check_random_graphs(Recipe(), 600, 60);
}

TEST_CASE("compiled random graphs of long known extents give the interpreter's bits") { check_random_graphs(long_extents(), 300, 120); }

TEST_CASE("compiled random graphs of windows along known thin axes give the interpreter's bits") { check_random_graphs(thin_windows(), 1500, 60); }

TEST_CASE("compiled random graphs of images and windows of them give the interpreter's bits") { check_random_graphs(pixels(), 400, 60); }
