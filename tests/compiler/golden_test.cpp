// tests/golden/*.weft: a graph, and the whole text of the levels made from it. WEFT_UPDATE_GOLDEN=1 rewrites them.
//
//   ; sizes n=100000 m=64        the call that compiles; 64 for symbols that are not named
//   ; grad %4: %w                adds the gradients of an output in inputs to the outputs
//   graph logistic(..) -> (%4) { .. }
//   --- graph
//   the graph after all passes
//   --- schedule
//   --- program
//
// fail_*.weft have one section, `--- error`: what parsing, compiling or binding throws. Sections stand in any number and order.
#include <weft/function.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <error_text.h>

#include "compiled.h"

using namespace weft;

namespace {

struct Golden {
  std::string source;                                                  // directives and graph
  std::vector<std::pair<std::string, std::string>> sections;           // title, expected text
};

Golden split(const std::string& text) {
  Golden golden;
  std::string* part = &golden.source;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("--- ")) part = &golden.sections.emplace_back(line.substr(4), "").second;
    else *part += line + "\n";
  }
  return golden;
}

// The words after "; <name> ", or none.
std::vector<std::string> directive(const std::string& source, const std::string& name) {
  std::vector<std::string> words;
  std::istringstream lines(source);
  for (std::string line, word; std::getline(lines, line);)
    if (std::istringstream rest(line); line.starts_with("; " + name + " "))
      for (rest.ignore(static_cast<std::streamsize>(name.size()) + 3); rest >> word;) words.push_back(word);
  return words;
}

// "%4:" or "%w" among the outputs or the inputs.
Expr find(Graph& graph, std::string name, const std::vector<NodeId>& among) {
  if (name.ends_with(':')) name.pop_back();
  for (NodeId id : among)
    if (name_of(graph, id) == name) return Expr(graph, id);
  fail(ErrorKind::usage, "golden: no " + name);
}

void add_gradients(Graph& graph, const std::vector<std::string>& words) {
  std::vector<Expr> wrt;
  for (std::size_t k = 1; k < words.size(); ++k) wrt.push_back(find(graph, words[k], graph.inputs));
  if (words.empty()) return;
  for (const Expr& each : grad(find(graph, words[0], graph.outputs), wrt)) graph.outputs.push_back(each.id());
}

// Compiles for the sizes named; arrays are in each node's preferred order.
Function compile_for_sizes(const Golden& golden) {
  Graph graph = parse(golden.source);
  add_gradients(graph, directive(golden.source, "grad"));
  const Function f = compile(graph, checked());
  Bindings sizes;
  for (const std::string& word : directive(golden.source, "sizes")) sizes[word.substr(0, word.find('='))] = std::stoll(word.substr(word.find('=') + 1));
  auto arrays_of = [&](const std::vector<NodeId>& ids) {
    std::vector<Array> arrays;
    for (NodeId id : ids) {
      const Node& node = f.final_graph().node(id);
      std::vector<std::string> symbols;
      for (const Extent& extent : node.shape()) extent.collect_symbols(symbols);
      for (const std::string& symbol : symbols) sizes.emplace(symbol, 64);
      arrays.push_back(Array::empty(node.dtype, evaluate(node.shape(), sizes), node.order));
    }
    return arrays;
  };
  const std::vector<Array> inputs = arrays_of(f.final_graph().inputs);
  f.bind(inputs, arrays_of(f.final_graph().outputs));
  return f;
}

std::string section(const Golden& golden, const std::string& title) {
  if (title == "error") return error_text([&] { compile_for_sizes(golden); }) + "\n";
  const Function f = compile_for_sizes(golden);
  if (title == "graph") return f.graph();
  if (title == "schedule") return f.schedule();
  if (title == "program") return f.program();
  fail(ErrorKind::usage, "golden: no section " + title);
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> goldens() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(WEFT_TEST_DIR) / "golden"))
    if (entry.path().extension() == ".weft") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

TEST_CASE("every level of the golden graphs has the text written down") {
  const bool update = std::getenv("WEFT_UPDATE_GOLDEN") != nullptr;
  CHECK(goldens().size() >= 14);
  for (const auto& path : goldens()) {
    Golden golden = split(read(path));
    CAPTURE(path.filename().string());
    const bool fails = path.filename().string().starts_with("fail_");
    if (golden.sections.empty() && fails) golden.sections = {{"error", ""}};
    if (golden.sections.empty()) golden.sections = {{"graph", ""}, {"schedule", ""}, {"program", ""}};
    std::string rewritten = golden.source;
    for (const auto& [title, expected] : golden.sections) {
      CHECK((title == "error") == fails);
      const std::string text = section(golden, title);
      if (!update) CHECK(text == expected);
      rewritten += "--- " + title + "\n" + text;
    }
    if (update) std::ofstream(path) << rewritten;
  }
}

TEST_CASE("golden graphs compute what the interpreter computes") {
  for (const auto& path : goldens()) {
    if (path.filename().string().starts_with("fail_")) continue;
    CAPTURE(path.filename().string());
    Golden golden = split(read(path));
    Graph graph = parse(golden.source);
    add_gradients(graph, directive(golden.source, "grad"));
    const Function f = compile(graph, checked());
    std::vector<Array> inputs;
    Bindings sizes;
    for (NodeId id : f.final_graph().inputs) {
      Dims dims;
      for (const Extent& extent : f.final_graph().node(id).shape()) {
        std::vector<std::string> symbols;
        extent.collect_symbols(symbols);
        for (const std::string& symbol : symbols) sizes.emplace(symbol, 20 + 7 * static_cast<Index>(sizes.size()));
        dims.push_back(extent.evaluate(sizes));
      }
      inputs.push_back(uniform(f.final_graph().node(id).dtype, dims, 1 + inputs.size()));
    }
    const auto got = f(inputs), expected = expected_of(f, inputs);
    for (std::size_t k = 0; k < got.size(); ++k)
      for_each_element(got[k].shape(), [&](const Dims& index) {
        const double a = got[k].get(index).as_double(), b = expected[k].get(index).as_double();
        CHECK(std::abs(a - b) <= 1e-4 * (1 + std::abs(b)));
      });
  }
}
