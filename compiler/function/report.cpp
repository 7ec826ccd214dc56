// What was decided for a variant, and why. The decisions are kept as numbers where they are made (AxisChoice, BlockChoice, Again,
// Parting, LoopCode); text is made of them here, when somebody asks.
#include "report.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <set>

#include <weft/text.h>

#include "program/visit.h"
#include "schedule/readers.h"

namespace weft {
namespace {

std::string digits(double value) {
  std::ostringstream out;
  out << std::setprecision(3) << value;
  return out.str();
}

std::string bytes_text(double bytes) {
  if (bytes < 1e4) return concat(static_cast<Index>(bytes), " bytes");
  return bytes < 1e6 ? digits(bytes / 1e3) + " kB" : bytes < 1e9 ? digits(bytes / 1e6) + " MB" : digits(bytes / 1e9) + " GB";
}

using Row = std::vector<std::string>;

// Columns as wide as they need to be; nothing follows the last one.
std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], row[k].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line = "   ";
    for (std::size_t k = 0; k < row.size(); ++k) line += " " + row[k] + std::string(k + 1 < row.size() ? widths[k] - row[k].size() + 1 : 0, ' ');
    text += line + "\n";
  }
  return text;
}

std::string letter(int axis) { return {axis_letter(axis)}; }

std::string text_of(const RootCost& cost) {
  const std::pair<double, const char*> parts[] = {{cost.vectors, "vector axis"}, {cost.folded, "folded"}, {cost.large_results, "large results"},
                                                  {cost.parts_product, "parts a product"}, {cost.few_leaves, "few leaves"}, {cost.few_elements, "few elements"},
                                                  {cost.shared_lines, "shared lines"}, {cost.idle_threads, "idle threads"}, {cost.short_runs, "short runs"}};
  std::string text = digits(cost.total()), list;
  for (const auto& [part, name] : parts)
    if (part > 0) list += concat(list.empty() ? ": " : ", ", name, " ", digits(part));
  return text + list;
}

bool runs_as_vectors(const Level& level) {
  return level.lanes || std::any_of(level.body.begin(), level.body.end(), [](const auto& item) {
    auto* inner = std::get_if<Level>(&item);
    return inner && runs_as_vectors(*inner);
  });
}

// Which arrays a nest reads and writes.
struct Traffic {
  std::set<int> reads, writes;          // buffers
};
Traffic traffic_of(const Program& program) {
  Traffic traffic;
  each_item(program.root, [&](const Item& item, const Loop&) {
    each_access(item, [&](int buffer, const std::vector<Subscript>&, bool is_written) { (is_written ? traffic.writes : traffic.reads).insert(buffer); });
  });
  return traffic;
}

class Report {
 public:
  Report(const Function::State& state, const Variant& variant) : graph_(state.graph), variant_(variant), threads_(state.executor->threads()), limit_(state.cache_limit()) {}

  std::string run() const {
    std::string text;
    if (!variant_.bindings.empty()) text += "  sizes: " + sizes() + "\n";
    for (std::size_t n = 0; n < variant_.plan.programs.size(); ++n) text += nest_text(n);
    return text + values_made_again() + arrays() + slides() + caches();
  }

 private:
  Index value(const Extent& extent) const { return extent.evaluate(variant_.bindings); }
  Index size_at(int number) const {
    const SizeSpec& spec = variant_.plan.sizes.specs()[static_cast<std::size_t>(number)];
    return std::max(spec.at_least, value(spec.extent));
  }
  double bytes_of(DType dtype, const Shape& shape) const {
    double bytes = static_cast<double>(size_of(dtype));
    for (const Extent& extent : shape) bytes *= static_cast<double>(value(extent));
    return bytes;
  }
  double bytes_of(NodeId id) const { return bytes_of(graph_.node(id).dtype, graph_.node(id).shape()); }

  std::string sizes() const {
    std::string text;
    for (const auto& [symbol, size] : variant_.bindings) text += concat(text.empty() ? "" : ", ", symbol, " = ", size);
    return text + (variant_.facts.empty() ? "" : "; code relies on " + to_text(variant_.facts));
  }

  // ---- a nest
  std::string nest_text(std::size_t n) const {
    const Program& program = variant_.plan.programs[n];
    const Nest& nest = variant_.schedule.nests[n];
    std::size_t rows = 0, temporaries = 0, merges = 0;
    for (const Buffer& buffer : program.buffers) rows += buffer.place == Place::row, temporaries += buffer.place == Place::temporary;
    for (const Fold& fold : program.folds) merges += fold.partial >= 0;
    const std::string head = concat("  nest ", n, ": ", nest.nodes.size(), " nodes, ", program.folds.size(), " folds (", merges, " merged), ", rows, " rows, ",
                                    temporaries, " arrays between nests\n");
    const StagePlan& stage = *std::find_if(variant_.plan.stages.begin(), variant_.plan.stages.end(), [&](const StagePlan& s) { return s.name == program.name; });
    std::vector<Row> lines;
    if (!nest.axes.empty()) lines.push_back({"loops", loops(nest)});
    for (const auto& [outer, inner] : nest.merged) lines.push_back({"merged", concat("an axis of ", to_text(outer), " and one of ", to_text(inner), ": no array has a gap between them")});
    if (nest.blocks.along_root > 0) lines.push_back({"blocks", blocks(nest)});
    if (nest.distribution.loops > 0)
      lines.push_back({"distributed", concat("a body of ", nest.distribution.body, " vector instructions in ", nest.distribution.loops, " loops over the same elements: long ones wait for their results")});
    lines.push_back({"memory", memory(program)});
    for (const Buffer& buffer : program.buffers)
      if (buffer.place == Place::row) lines.push_back({"row", concat(name_of(graph_, buffer.node), " ", bytes_text(bytes_of(buffer.dtype, buffer.extents)))});
    if (stage.scratch >= 0) lines.push_back({"scratch", bytes_text(static_cast<double>(size_at(stage.scratch))) + " a thread"});
    for (const LoopCode& code : stage.loops) lines.push_back({"body " + letter(code.axis), body(code)});
    if (stage.search) lines.push_back({"left out", "units without the extremes that it looks for, which the nests before have found in each"});
    lines.push_back({"threads", threads(stage)});
    return head + axes(nest) + table(lines);
  }

  std::string axes(const Nest& nest) const {
    if (nest.compared.empty()) return "";
    std::vector<Row> rows{{"axis", "extent", "steps", "as vectors", "as the root"}};
    for (int axis = 0; axis < static_cast<int>(nest.axes.size()); ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      const AxisChoice& choice = nest.compared[a];
      const bool is_root = nest.vars[0].axis == axis, can_be_root = nest.roots >> axis & 1;
      const std::string extent = to_text(nest.axes[a].extent), size = std::to_string(value(nest.axes[a].extent));
      rows.push_back({letter(axis), extent == size ? size : concat(extent, " = ", size), digits(choice.steps), digits(choice.vectors) + (nest.lanes == axis ? " chosen" : ""),
                      !can_be_root ? "no: not all values run along it, or one folded over it is read" : text_of(choice.root) + (is_root ? ", chosen" : "")});
    }
    return table(rows);
  }
  static std::string loops(const Nest& nest) {
    std::string text;
    for (const LoopVar& var : nest.vars) {
      if (var.axis < 0) continue;
      const bool last = &var == &nest.vars.back();
      text += concat(text.empty() ? "" : ", ", letter(var.axis), var.part == Part::tile ? concat(" by ", nest.unit) : var.part == Part::block ? concat(" by ", nest.block) : "",
                     last && runs_as_vectors(nest.root) ? " as vectors" : "");
    }
    return nest.vars[0].axis < 0 ? text + ": recurrences carry every axis that could be split" : text;
  }
  static std::string blocks(const Nest& nest) {
    return concat("what rows have once costs ", digits(nest.blocks.along_root), " beside ", digits(nest.blocks.row), " of a row: ",
                  nest.block > 0 ? concat("as vectors over ", nest.block, " rows") : nest.blocks.stay_near ? "one by one" : "one by one, a block would not stay in the first level");
  }
  std::string memory(const Program& program) const {
    Traffic traffic = traffic_of(program);
    for (const Fold& fold : program.folds) if (fold.target >= 0) traffic.writes.insert(fold.target);
    const auto sum = [&](const std::set<int>& buffers) {
      double bytes = 0;
      int count = 0;
      for (int number : buffers) {
        const Buffer& buffer = program.buffer(number);
        if (buffer.place != Place::argument && buffer.place != Place::result && buffer.place != Place::temporary) continue;
        bytes += bytes_of(buffer.dtype, buffer.extents);
        ++count;
      }
      return concat(bytes_text(bytes), " in ", count, count == 1 ? " array" : " arrays");
    };
    return concat("reads ", sum(traffic.reads), ", writes ", sum(traffic.writes));
  }
  static std::string body(const LoopCode& code) {
    std::string text = concat(code.instructions, " vector instructions, ", code.vectors, code.vectors == 1 ? " vector" : " vectors side by side");
    if (code.searches) text += ", up to the first index";
    if (code.tables) text += ", looked up in tables of bytes";
    if (code.tiled) text += concat(code.rolled ? ", squares of " : ", tiles of ", code.elements, " elements of ", letter(code.outer), " transposed in ",
                                  code.rolled ? "memory" : "registers", code.staged ? ", in blocks that are written row by row" : code.swept ? ", in blocks" : "");
    else if (code.in_registers) text += concat(", sums of ", code.elements, " elements of ", letter(code.outer), " at once in registers");
    else if (code.columns) text += concat(", down all elements of ", letter(code.outer), ", slots in registers");
    else if (code.elements > 1) text += concat(", ", code.elements, " elements of ", letter(code.outer), " together");
    if (code.takes) text += ", with the folds before it";
    if (code.streams > 0) text += concat(", ", code.streams, code.streams == 1 ? " result" : " results", " past the caches");
    return text;
  }
  std::string threads(const StagePlan& stage) const {
    if (stage.units < 0) return "one: a single unit";
    const Index units = size_at(stage.units), work = size_at(stage.work);
    const ThreadCosts costs = thread_costs(variant_.code_options.machine);
    const Sharing sharing = sharing_of(units, work, threads_, costs, stage.slice_work);
    const std::string estimate = concat(digits(static_cast<double>(units) * static_cast<double>(work) / 1e3), " us in ", units, units == 1 ? " unit" : " units");
    if (sharing.threads > 1) return concat("up to ", sharing.threads, ": ", estimate, sharing.worth_waking ? "" : concat(", those who sleep are woken where calls follow each other, or from ", digits(costs.wake_from / 1e3), " us on"));
    return concat("one: ", estimate, threads_ == 1 ? ", and there is one" : units > 1 ? concat(", others help from ", digits(parallel_from(costs, stage.slice_work) / 1e3), " us on") : "");
  }

  // ---- between nests
  std::string values_made_again() const {
    std::vector<Row> rows;
    for (const Again& again : variant_.schedule.again) {
      const std::string cost = std::isinf(again.cost) ? concat("more than ", digits(again.as_array)) : digits(again.cost);
      rows.push_back({name_of(graph_, again.node), again.chosen ? concat("made again in ", again.nests, again.nests == 1 ? " nest:" : " nests:") : "an array:",
                      concat("making it again costs ", cost, ", an array ", digits(again.as_array))});
    }
    return rows.empty() ? "" : "  values that several nests read, in vector instructions for 64 bytes\n" + table(rows);
  }

  // Why a node does not stand in the nest that makes what it reads.
  const char* reason(NodeId made, NodeId reader, int position) const {
    const NodeId operand = graph_.operand(reader, position);
    if (operand != made) return "in another shape";
    if (graph_.node(reader).kind == Kind::update) return "a window, from memory";
    const Parting& parting = variant_.schedule.partings[reader.value];
    const Refusal why = parting.earlier != Refusal::none ? parting.earlier : variant_.schedule.partings[made.value].readers;
    std::vector<int> axes;                                        // an extent of 1 has no loop
    for (const Extent& extent : graph_.node(made).domain) axes.push_back(extent.is(1) ? -1 : 0);
    const bool elsewhere = !reads_in_place(graph_, reader, position, axes);
    switch (why) {
      case Refusal::none: return "made later is something else that it reads";
      case Refusal::loops: return "one has loops and the other has none";
      case Refusal::indices: return "one axis would have two indices";
      case Refusal::order: return "recurrences want their loops in another order";
      case Refusal::long_rows: return "at other indices than it is made at, and rows of it would be too long";
      case Refusal::axes: case Refusal::no_root:
        if (elsewhere) return "at other indices than it is made at, along every axis that could be the root";
        return why == Refusal::axes ? "there is no loop for its axes" : "no axis is left to be the root: one that all run along, and over which nothing is folded that is read";
      case Refusal::one_by_one: return "beside each other one of them would run one element at a time";
      case Refusal::other_product: return "of two products of matrices only one would find its vectors along the right axis";
      case Refusal::factor: return "many rows of a product read each element: it is made once";
      case Refusal::slides: return "apart from it, nests can slide";
      case Refusal::better_root: return "one of them would lose a better root";
    }
    return "";
  }
  std::string arrays() const {
    std::vector<Row> rows;
    const auto& nests = variant_.schedule.nests;
    for (std::size_t from = 0; from < nests.size(); ++from)
      for (const Placed& placed : nests[from].nodes) {
        if (!variant_.schedule.stored[placed.node.value]) continue;
        for (std::size_t to = from + 1; to < nests.size(); ++to) add_reader(placed.node, from, to, rows);
      }
    return rows.empty() ? "" : "  arrays between nests, and why these are two\n" + table(rows);
  }
  void add_reader(NodeId made, std::size_t from, std::size_t to, std::vector<Row>& rows) const {
    for (const Placed& reader : variant_.schedule.nests[to].nodes)
      for (int k = 0; k < graph_.arity(reader.node); ++k) {
        if (memory_of(graph_, graph_.operand(reader.node, k)) != made) continue;
        rows.push_back({name_of(graph_, made), bytes_text(bytes_of(made)), concat("nest ", from, " to ", to), concat(name_of(graph_, reader.node), " reads it: ", reason(made, reader.node, k))});
        return;
      }
  }
  // Nests that pass lines to each other, strip after strip.
  std::string slides() const {
    std::vector<Index> sizes;
    for (const SizeSpec& spec : variant_.plan.sizes.specs()) sizes.push_back(std::max(spec.at_least, value(spec.extent)));
    std::string text;
    for (const SlidePlan& plan : variant_.slides) {
      const auto nests = [](std::size_t first, std::size_t steps) { return concat("  nests ", first, " to ", first + steps - 1); };
      double whole = 0;
      for (const SlidePlan::Buffer& buffer : plan.buffers) whole += bytes_of(buffer.node);
      const std::vector<CallSlide> slides = slides_in(plan, variant_, variant_.bindings, sizes, threads_);
      for (const auto& [program, first, last, slide] : slides)
        text += concat(nests(program, slide.steps.size()), " slide: ", slide.strip, " of ", slide.units(), " units of the last one at a time, ", bytes_text(static_cast<double>(slide.buffer_bytes())),
                       " between them, a slice makes ", slide.lead(), " again\n");
      if (slides.empty())
        text += concat(nests(plan.first, plan.steps.size()), " could slide: ", bytes_text(whole), whole <= near_bytes(variant_.code_options.machine) ? " between them stay near\n" : " between them, but strips or slices are too long\n");
    }
    return text;
  }
  std::string caches() const {
    double bytes = 0, written = 0;
    for (NodeId id : graph_.inputs) bytes += bytes_of(id);
    for (NodeId id : graph_.outputs) written += bytes_of(id);
    bytes += written;
    const double limit = static_cast<double>(limit_.bytes(bytes, written));
    bool past = false;
    for (const StagePlan& stage : variant_.plan.stages)
      for (const LoopCode& code : stage.loops) past |= code.streams > 0 || code.tables;
    const char* how = "go through the caches";
    if (variant_.code_options.stream != PastCaches::no) how = past ? "are stored past the caches" : "go through the caches: no loop writes whole lines of them";
    else if (bytes > limit) how = "go through the caches: they do not begin lines";
    return concat("  results ", how, ": ", bytes_text(bytes), " of arguments, limit ", bytes_text(limit), "\n");
  }

  const Graph& graph_;
  const Variant& variant_;
  const int threads_;
  const CacheLimit limit_;
};

}  // namespace

std::string report_text(const Function::State& state, const Variant& variant) { return Report(state, variant).run(); }

}  // namespace weft
