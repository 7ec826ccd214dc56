// Random differentiable graphs: gradients against differences, forward mode against reverse mode. WEFT_PROPERTY_GRADIENTS=20000
// runs that many; every eighth has second derivatives too (WEFT_PROPERTY_TWICE=1: every one). WEFT_PROPERTY_SEED=k starts at
// seed k; WEFT_PROPERTY_JOBS=n uses n processes.
#include <doctest/doctest.h>

#include "gradient_property.h"
#include "seed_batches.h"

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

// What was counted, as one line and back.
std::string to_note(const GradientCount& count) {
  std::string note = weft::concat(count.checked, " ", count.skipped, " ", count.transposed, " ", count.hessians);
  for (const std::string& key : count.keys) note += "|" + key;
  return note;
}
void add_note(const std::string& note, GradientCount& total, std::map<std::string, int>& keys) {
  std::istringstream parts(note);
  std::string part;
  std::getline(parts, part, '|');
  GradientCount one;
  std::istringstream(part) >> one.checked >> one.skipped >> one.transposed >> one.hessians;
  total.checked += one.checked, total.skipped += one.skipped, total.transposed += one.transposed, total.hessians += one.hessians;
  while (std::getline(parts, part, '|')) ++keys[part];
}

// The keys of a graph, unchecked.
std::set<std::string> keys_of(std::uint64_t seed) {
  RandomCase c = smooth_case(seed);
  SeededSource random(seed ^ 0x97ad);
  const weft::Expr loss = random_loss(c.graph, random);
  std::vector<weft::NodeId> wrt;
  for (weft::NodeId id : c.graph.inputs)
    if (c.graph.node(id).dtype == weft::f64) wrt.push_back(id);
  return gradient_keys(c, c.graph, loss.id(), wrt);
}

}  // namespace

TEST_CASE("gradients of random graphs agree with central differences, those of gradients too, and forward mode with reverse mode") {
  const std::uint64_t count = from_environment("WEFT_PROPERTY_GRADIENTS", 200), first = from_environment("WEFT_PROPERTY_SEED", 1);
  const std::uint64_t jobs = from_environment("WEFT_PROPERTY_JOBS", 2), twice = from_environment("WEFT_PROPERTY_TWICE", 8);
  const SeedCheck check = [&](std::uint64_t seed, std::string& note) {
    GradientCount counted;
    std::string failure = check_gradient(smooth_case(seed), seed, seed % twice == 0, seed % 4 == 0, counted);
    if (!failure.empty()) return failure + "\n" + to_text(smooth_case(seed).graph);
    note = to_note(counted);
    return failure;
  };
  GradientCount total;
  std::map<std::string, int> seen;
  const auto run = [&](std::uint64_t from, std::uint64_t seeds) {
    const SeedRun results = run_seeds(from, seeds, jobs, 20, 60, check);
    for (const Finding& finding : results.findings) FAIL_CHECK(weft::concat("seed ", finding.seed, ": ", finding.failure));
    for (const std::string& note : results.notes) add_note(note, total, seen);
    return results.findings.size();
  };
  std::size_t failures = run(first, count);
  // What the run has not compared is looked for in further seeds, unless some seeds only are to be seen again.
  std::uint64_t graphs = count;
  std::set<std::string> missing;
  for (const std::string& key : count < 100 ? std::vector<std::string>() : expected_gradient_keys())
    if (!seen.contains(key)) missing.insert(key);
  for (std::uint64_t seed = first + count; seed < first + count + 6000 && !missing.empty(); ++seed) {
    const std::set<std::string> keys = keys_of(seed);
    if (std::none_of(keys.begin(), keys.end(), [&](const std::string& key) { return missing.contains(key); })) continue;
    failures += run(seed, 1);
    ++graphs;
    std::erase_if(missing, [&](const std::string& key) { return seen.contains(key); });
  }
  std::string text;
  for (const auto& [key, times] : seen) text += weft::concat("  ", key, " ", times, "\n");
  MESSAGE("compared\n", text);
  MESSAGE(graphs, " graphs from seed ", first, ": ", total.checked, " derivatives agree, ", total.skipped, " at kinks or beyond what differences can tell; ", total.transposed,
          " times forward mode is the transpose of reverse mode; ", total.hessians, " Hessians; ", failures, " failures");
  CHECK(total.checked > 8 * total.skipped);
  for (const std::string& key : missing) FAIL_CHECK("no gradient through ", key, " was compared");
}
