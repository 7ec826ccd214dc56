#include "pipeline.h"

#include "join_results.h"
#include "keep_transposed.h"
#include "narrow_folds.h"
#include "one_unit.h"
#include "partition.h"
#include "planes.h"
#include "rows_in_place.h"
#include "search_units.h"
#include "stage_across.h"
#include "stage_shared.h"
#include "trace.h"
#include "work.h"

namespace weft {
namespace {

using Context = ProgramContext;

void narrow(Program& program, const Context& context) { narrow_folds(program, context.relied); }
void planes(Program& program, const Context& context) { write_planes(program, context.classes, context.features); }
void one_unit(Program& program, const Context&) { run_as_one_unit(program); }
void rows_in_place(Program& program, const Context& context) { use_rows_in_place(program, context.classes, context.features, context.hints.machine); }
void join(Program& program, const Context& context) { join_results(program, context.classes, context.features, context.hints.machine); }
void stage(Program& program, const Context& context) {
  stage_across(program, context.classes, context.features, context.hints.machine, begin_lines(context.hints.stream));
}
void shared(Program& program, const Context& context) { stage_shared(program, context.classes, context.features, context.hints.machine, context.hints.threads); }
void keep(Program& program, const Context& context) { keep_transposed(program, context.classes, context.features, context.hints.machine); }
void partition(Program& program, const Context& context) { partition_loops(program, context.hints.bindings); }

template <void (*pass)(Program&, const Context&)> void each(std::vector<Program>& programs, const Context& context) {
  for (Program& program : programs) pass(program, context);
}
void search(std::vector<Program>& programs, const Context& context) { search_units(programs, context.graph); }
void run_times(std::vector<Program>& programs, const Context& context) { mark_run_times(programs, context.hints.bindings, context.hints.machine); }

constexpr ProgramPass passes[] = {
    {"narrow_folds", each<narrow>, "folds of 64 bits whose numbers fit 32 run in 32"},
    {"write_planes", each<planes>, "planes of results are written where they are made, not copied from rows"},
    {"mark_run_times", run_times, "vector loops that take next to none of the time, and those that run long, are marked"},
    {"run_as_one_unit", each<one_unit>, "programs of short calls have one unit, and nothing to merge"},
    {"use_rows_in_place", each<rows_in_place>, "products of others read and write arrays, where rows were copies of these"},
    {"join_results", each<join>, "results in rows of a few elements are written as whole rows"},
    {"stage_shared", each<shared>, "what all rows read across their vectors is transposed once for a unit"},
    {"stage_across", each<stage>, "what lies across several loops is transposed before them, or after"},
    {"keep_transposed", each<keep>, "what lies across and is read by several loops is transposed by the first"},
    {"partition_loops", each<partition>, "vector loops that ask for an index have bodies for where the answer is known"},
    {"search_units", search, "programs that look for extremes leave out units that have none"},
};

}  // namespace

std::span<const ProgramPass> program_passes() { return passes; }

void run_program_passes(std::vector<Program>& programs, const ProgramContext& context, const Options& options) {
  const Trace trace(options);
  for (const ProgramPass& pass : passes) {
    const bool shows = trace.names(pass.name);
    const std::string before = shows ? program_text(context.graph, programs) : "";
    pass.run(programs, context);
    if (options.verify)
      for (const Program& program : programs) verify(program);
    if (shows) Trace::show(pass.name, before, program_text(context.graph, programs));
  }
}

std::string program_text(const Graph& graph, const std::vector<Program>& programs) {
  std::string text;
  for (const Program& program : programs) text += to_text(graph, program);
  return text;
}

}  // namespace weft
