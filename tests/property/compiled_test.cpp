// Random graphs through the whole compiler. WEFT_PROPERTY=20000 runs that many graphs instead of the few of the normal
// run; WEFT_PROPERTY_SEED=k starts at seed k; WEFT_PROPERTY_JOBS=n uses n processes.
#include <doctest/doctest.h>

#include "compiled_property.h"
#include "seed_batches.h"
#include "shrink.h"

namespace {

SmallCase case_of(std::uint64_t seed) {
  SeededSource random(seed);
  RandomCase c = random_case(random, Recipe());
  return {std::move(c.graph), std::move(c.inputs)};
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
std::string report(std::uint64_t seed, const std::string& failure) {
  const auto first_line = [](const std::string& text) { return text.substr(0, std::min<std::size_t>(18, text.find('\n'))); };
  const auto check = [seed](const SmallCase& c) { return isolated([&] { return check_compiled(c.graph, c.inputs, seed); }, 30); };
  SmallCase small;
  const std::string made = isolated([&] { case_of(seed); return std::string(); }, 10);
  if (!made.empty()) return weft::concat("seed ", seed, ": making the graph ", made);
  small = shrunk(case_of(seed), [&](const SmallCase& c) { return first_line(check(c)) == first_line(failure); });
  return weft::concat("seed ", seed, ": ", check(small), "\nshrunk to\n", described(small));
}

}  // namespace

TEST_CASE("compiled random graphs give the interpreter's bits for every layout, order of units and number of threads") {
  const std::uint64_t count = from_environment("WEFT_PROPERTY", 600), first = from_environment("WEFT_PROPERTY_SEED", 1);
  const SeedRun run = run_seeds(first, count, from_environment("WEFT_PROPERTY_JOBS", 2), 50, 60, [](std::uint64_t seed, std::string&) {
    const SmallCase c = case_of(seed);
    return check_compiled(c.graph, c.inputs, seed);
  });
  const std::vector<Finding>& findings = run.findings;
  const std::uint64_t shown = from_environment("WEFT_PROPERTY_SHOW", 5);
  for (std::size_t k = 0; k < findings.size(); ++k) {
    if (k < shown) FAIL_CHECK(report(findings[k].seed, findings[k].failure));
    else FAIL_CHECK(weft::concat("seed ", findings[k].seed, ": ", findings[k].failure.substr(0, 160)));
  }
  MESSAGE(count, " graphs from seed ", first, ", ", findings.size(), " failures");
  CHECK(findings.empty());
}
