// The weft command: runs, shows, times and checks graphs written as text.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>
#include <weft/npy.h>
#include <weft/weft.h>

#include "calibrate.h"
#include "self_check.h"
#include "passes/pipeline.h"
#include "program/pipeline.h"

namespace weft {
namespace {

struct Arguments {
  std::string file;
  std::vector<std::string> arrays, outs, grads, sizes;
  std::vector<std::string> levels;
  Options options;
  bool interpret = false;
};

std::pair<std::string, std::string> split(const std::string& text, char at, const char* form) {
  const auto place = text.find(at);
  WEFT_REQUIRE(place != text.npos && place > 0 && place + 1 < text.size(), usage, "expected ", form, ", got ", text);
  return {text.substr(0, place), text.substr(place + 1)};
}

// A graph with a name for each output: as in the text, and d(loss)/d(x) for gradients that were asked for.
struct Loaded {
  Graph graph;
  TextNames ids;                        // lines of a file may have any names, in any order
  std::vector<std::string> names;
};

std::string bare(const std::string& name) { return name.starts_with("%") ? name.substr(1) : name; }

Expr find(Loaded& loaded, const std::string& name) {
  const auto found = loaded.ids.find(bare(name));
  WEFT_REQUIRE(found != loaded.ids.end(), usage, "graph ", loaded.graph.name, " has no %", bare(name));
  return {loaded.graph, found->second};
}

std::vector<std::string> output_names(const Loaded& loaded) {
  std::vector<std::string> names;
  for (NodeId output : loaded.graph.outputs) {
    const auto named = std::find_if(loaded.ids.begin(), loaded.ids.end(), [&](const auto& each) { return each.second == output; });
    names.push_back(named != loaded.ids.end() ? named->first : bare(name_of(loaded.graph, output)));
  }
  return names;
}

void add_gradients(Loaded& loaded, const std::string& request) {
  const auto [loss, list] = split(request, ':', "LOSS:WRT,..");
  std::vector<Expr> wrt;
  std::vector<std::string> names;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    wrt.push_back(find(loaded, word));
    names.push_back("d" + bare(loss) + "/d" + bare(word));
  }
  for (const Expr& gradient : grad(find(loaded, loss), wrt)) loaded.graph.outputs.push_back(gradient.id());
  loaded.names.insert(loaded.names.end(), names.begin(), names.end());
}

Loaded load(const Arguments& arguments) {
  std::ifstream file(arguments.file);
  WEFT_REQUIRE(file && std::filesystem::is_regular_file(arguments.file), usage, "cannot open ", arguments.file, " as a file");
  std::stringstream text;
  text << file.rdbuf();
  Loaded loaded;
  loaded.graph = parse(text.str(), loaded.ids);
  loaded.names = output_names(loaded);
  for (const std::string& request : arguments.grads) add_gradients(loaded, request);
  return loaded;
}

// ---- weft run

// At most a dozen elements of each array, and how many there are.
void print(const std::string& name, const Array& array) {
  std::cout << name << ": " << array.dtype() << to_text(array.shape()) << " =";
  const Array dense = array.copy();
  const auto* bytes = static_cast<const std::byte*>(static_cast<const void*>(dense.View::data()));
  for (Index k = 0; k < std::min<Index>(dense.size(), 12); ++k) {
    const Scalar value = Scalar::load(dense.dtype(), bytes + static_cast<std::size_t>(k) * size_of(dense.dtype()));
    std::cout << ' ';
    if (is_floating(value.dtype())) std::cout << value.real();
    else if (value.dtype() == u64) std::cout << value.unsigned_integer();
    else std::cout << value.integer();
  }
  std::cout << (dense.size() > 12 ? " ..\n" : "\n");
}

int run(const Arguments& arguments) {
  const Loaded loaded = load(arguments);
  std::map<std::string, std::string> files, outs;
  const auto add = [](auto& to, const std::string& word, const char* form) {
    auto [name, file] = split(word, '=', form);
    WEFT_REQUIRE(to.emplace(bare(name), file).second, usage, name, " is given twice, the second time in ", word);
  };
  for (const auto& word : arguments.arrays) add(files, word, "NAME=ARRAY.npy");
  for (const auto& word : arguments.outs) add(outs, word, "NAME=FILE.npy");
  std::vector<Array> inputs;
  for (NodeId id : loaded.graph.inputs) {
    const std::string name = bare(name_of(loaded.graph, id));
    WEFT_REQUIRE(files.contains(name), usage, "%", name, " is not given\n  add ", name, "=FILE.npy");
    inputs.push_back(read_npy(files.extract(name).mapped()));
  }
  WEFT_REQUIRE(files.empty(), usage, "graph ", loaded.graph.name, " has no input %", files.begin()->first);
  for (const auto& [name, file] : outs)
    WEFT_REQUIRE(std::find(loaded.names.begin(), loaded.names.end(), name) != loaded.names.end(), usage, "graph ", loaded.graph.name, " has no output ", name,
                 "\n  it has ", fmt::format("{}", fmt::join(loaded.names, ", ")));
  const auto results = arguments.interpret ? interpret(loaded.graph, loaded.graph.outputs, loaded.graph.inputs, inputs)
                                           : compile(loaded.graph, arguments.options)(inputs);
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (outs.contains(loaded.names[k])) write_npy(outs[loaded.names[k]], results[k]);
    else print(loaded.names[k], results[k]);
  }
  return 0;
}

// ---- weft show

int show(const Arguments& arguments) {
  const Function f = compile(load(arguments).graph, arguments.options);
  for (const std::string& level : arguments.levels) {
    if (level == "schedule") std::cout << f.schedule();
    else if (level == "program") std::cout << f.program();
    else if (level == "llvm") std::cout << f.llvm();
    else if (level == "asm") std::cout << f.assembly();
    else if (level == "report") std::cout << f.report();
    else if (level == "dot") std::cout << to_dot(f.final_graph());
    else std::cout << f.graph();
  }
  return 0;
}

// ---- weft bench

Bindings sizes(const Arguments& arguments) {
  Bindings bindings;
  for (const auto& word : arguments.sizes) {
    const auto [symbol, value] = split(word, '=', "SYMBOL=NUMBER");
    const auto extent = parse_extent(value).number();
    WEFT_REQUIRE(extent && *extent >= 0, usage, "expected SYMBOL=NUMBER, got ", word);
    bindings[symbol] = *extent;
  }
  return bindings;
}

int bench(const Arguments& arguments) {
  const Loaded loaded = load(arguments);
  std::mt19937 generator(1);
  const auto inputs = random_inputs(loaded.graph, sizes(arguments), 1024, generator);
  const Function f = compile(loaded.graph, arguments.options);
  const auto outputs = f(inputs);
  const Call call = f.bind(inputs, outputs);
  double bytes = 0;
  for (const auto* arrays : {&inputs, &outputs})
    for (const Array& array : *arrays) bytes += static_cast<double>(array.size()) * static_cast<double>(size_of(array.dtype()));
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  for (const auto start = Clock::now(); seconds.size() < 5 || (Clock::now() - start < std::chrono::seconds(1) && seconds.size() < 100000);) {
    const auto begin = Clock::now();
    call();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
  const double median = seconds[seconds.size() / 2];
  for (std::size_t k = 0; k < inputs.size(); ++k)
    std::cout << name_of(loaded.graph, loaded.graph.inputs[k]) << " " << inputs[k].dtype() << to_text(inputs[k].shape()) << "  ";
  std::cout << "\n" << median * 1e6 << " us a call (median of " << seconds.size() << "), " << bytes / median * 1e-9
            << " GB/s of arguments, compiled in " << f.compile_seconds() * 1e3 << " ms\n" << f.report();
  return 0;
}

// ---- weft check

int check(const Arguments& arguments) {
  Loaded loaded = load(arguments);
  verify(loaded.graph);
  WEFT_ASSERT(same(parse(to_text(loaded.graph)), loaded.graph), "the text of a graph parses back to it");
  const int wrong = check_results(loaded.graph, loaded.names, sizes(arguments), arguments.options, std::cout);
  return wrong + check_gradient(loaded.graph, sizes(arguments), std::cout) == 0 ? 0 : 1;
}

int passes() {
  std::size_t longest = 0;
  const auto measure = [&](const auto& pass) { longest = std::max(longest, std::string_view(pass.name).size()); };
  const auto list = [&](const auto& pass) { std::cout << fmt::format("{:<{}}{}\n", pass.name, longest + 2, pass.purpose); };
  std::for_each(graph_passes().begin(), graph_passes().end(), measure);
  std::for_each(program_passes().begin(), program_passes().end(), measure);
  std::cout << "graphs:\n";
  std::for_each(graph_passes().begin(), graph_passes().end(), list);
  std::cout << "programs of loops:\n";
  std::for_each(program_passes().begin(), program_passes().end(), list);
  return 0;
}

int command(int count, char** words) {
  CLI::App app("Runs, shows, times and checks weft graphs.", "weft");
  app.require_subcommand(1);
  Arguments arguments;
  auto add = [&](const char* name, const char* purpose) {
    CLI::App* sub = app.add_subcommand(name, purpose);
    sub->add_option("FILE", arguments.file, "a graph as text")->required();
    sub->add_option("--grad", arguments.grads, "LOSS:WRT,.. adds gradients to the outputs")->allow_extra_args(false);
    sub->add_option("--threads", arguments.options.threads, "0: one per processor that it may run on")->check(CLI::Range(0, 4096));
    sub->add_option("--lanes", arguments.options.lanes, "f32 lanes of the registers used: 4, 8, 16, or 0 for all")->check(CLI::IsMember({0, 4, 8, 16}));
    sub->add_option("--cache", arguments.options.cache_dir, "a directory that keeps machine code for the next run");
    sub->add_flag("--fast-math", arguments.options.fast_math, "faster and less exact: see weft/options.h");
    sub->add_option("--trace", arguments.options.trace, "passes whose changes to print, or all");
    return sub;
  };
  CLI::App* run_command = add("run", "compute the outputs");
  run_command->add_option("ARRAYS", arguments.arrays, "NAME=ARRAY.npy for each input");
  run_command->add_option("--out", arguments.outs, "NAME=FILE.npy: write an output instead of printing it")->allow_extra_args(false);
  run_command->add_flag("--interpret", arguments.interpret, "by the reference interpreter, without compiling");
  CLI::App* show_command = add("show", "print one or more levels; the graph if none is named");
  for (const char* level : {"graph", "schedule", "program", "llvm", "asm", "report", "dot"})
    show_command->add_flag_callback("--" + std::string(level), [&arguments, level] { arguments.levels.push_back(level); },
                                    level == std::string("dot") ? "the graph, for Graphviz" : level == std::string("report") ? "what was decided, and why" : "");
  CLI::App* bench_command = add("bench", "time calls on random arrays");
  CLI::App* check_command = add("check", "verify every level; compiled against interpreted; the gradient against differences");
  for (CLI::App* sub : {bench_command, check_command}) sub->add_option("--size", arguments.sizes, "SYMBOL=NUMBER")->allow_extra_args(false);
  CLI::App* calibrate_command = app.add_subcommand("calibrate", "measure what loops cost on this machine");
  bool write = false;
  calibrate_command->add_flag("--write", write, "to the file that weft reads: $WEFT_MACHINE, or weft/machine where configurations are");
  CLI::App* passes_command = app.add_subcommand("passes", "list the passes in order");
  CLI11_PARSE(app, count, words);
  if (arguments.levels.empty()) arguments.levels.push_back("graph");
  if (*passes_command) return passes();
  if (*calibrate_command) return calibrate(write, std::cout), 0;
  if (*run_command) return run(arguments);
  if (*show_command) return show(arguments);
  if (*bench_command) return bench(arguments);
  return check(arguments);
}

}  // namespace
}  // namespace weft

int main(int count, char** words) {
  try {
    return weft::command(count, words);
  } catch (const weft::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
