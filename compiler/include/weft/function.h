// A compiled graph: compile, call, run into the caller's arrays, bind.
//
//   Function f = compile({loss, gw}, {x, w, y}, {.threads = 2});
//   std::vector<Array> out = f({xa, wa, ya});                  // allocates the results, C or F (weft/passes.h, choose_layouts)
//   f.run({xa, wa, ya}, {loss_out, gw_out});                   // into the caller's arrays
//   auto call = f.bind({xa, wa, ya}, {loss_out, gw_out});      // checked once ..
//   call();                                                    // .. called for nanoseconds
//
// Results that weft allocates are C contiguous, except where an order f asks for F (weft/elemwise.h): read elements with at()
// or to_vector(), which know strides, or give arrays of your own.
//
// Machine code is made on the first call for each combination of stride classes (contiguous, reversed, zero or strided along each axis,
// and which step of two to four elements along the fastest). Sizes are run-time numbers, so a new size does not compile again, with three
// exceptions. The code of the first call relies on facts of its sizes, such as whole vectors (multiples of 16 to 128), folded axes of at most
// 1024, nothing empty, and takes about two thirds of the time to compile; the first call for which they do not hold compiles code for all
// (report() tells what code relies on). Loops are chosen for the sizes of the call that compiles them: a call of more than some 2 us whose
// sizes differ by half and more from those of all calls that compiled chooses anew, up to eight times; that takes a millisecond or two if
// the code comes out the same. In an array of 4096 elements or more, a fastest or folded axis of one to sixteen is a number in
// the code, and in an array of 65536 one of up to 64, or a fastest one of up to 255 that is no multiple of 16; for the first call of a Function
// 64 elements and 16384 are enough. Each compiles once (of the first sixteen), and later calls on small arrays run that code too. Results are the
// same bits whatever was called before. A broadcast to a shape that is an argument (weft/target_shape.h) is compiled once for each way in which its
// axes repeat; bind reads the shape. Outputs may overlap inputs or each other: results are as if all inputs were read first. Shapes of the
// caller's arrays never change.
//
// f16 and bf16 are computed in f32 and rounded where they are stored: in results, before a reshape, an update or a scan reads them, and where a
// cast to them asks for it. So a product of matrices adds exact products, exp(x) / sum(exp(x)) rounds once, and no result depends
// on which others are asked for. final_graph() has the casts; interpret() of the graph as it was built rounds every value.
//
// Cost beside compilation: arguments of new dtypes, shapes or strides are checked and arranged for in a microsecond or two; with one of the
// last four such layouts, and results apart from inputs or upon them element for element, a call into given arrays or bind takes 75 ns
// for three arrays, and one with new results .15 us. Calls that look at elements of an input, or decide how axes repeat, are always arranged for.
//
// Everything wrong with a call throws weft::Error before any output is written: number of arguments (usage), dtype,
// rank and sizes (shape), a symbol bound to two sizes (shape), a read-only or self-overlapping output (usage).
//
// A Function is immutable, cheap to copy and safe to call from several threads at once; while one of them compiles, those whose code is there
// go on. A Call may be used by one thread at a time.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <weft/array.h>
#include <weft/graph.h>
#include <weft/kernel.h>
#include <weft/options.h>

namespace weft {

class Call {
 public:
  WEFT_CALLS_GENERATED_CODE void operator()() const {
    if (kernel_) kernel_(slots_, sizes_, 0, units_, nullptr);
    else run();
  }
  Index temporary_bytes() const;                // arrays between loop nests and partial results
  Index scratch_bytes() const;                  // rows of one thread, the largest stage
  int loop_nests() const;                       // stages that run loops, merges not counted

  struct State;
  explicit Call(std::shared_ptr<State> state);

 private:
  void run() const;

  std::shared_ptr<State> state_;
  // Where the call is one kernel on this thread: no more than that, and its arguments. Else null.
  StageFn kernel_ = nullptr;
  void* const* slots_ = nullptr;
  const Index* sizes_ = nullptr;
  Index units_ = 0;
};

class Function {
 public:
  // Copies share what is compiled, and so does what was moved from.
  Function(const Function&) = default;
  Function& operator=(const Function&) = default;

  std::vector<Array> operator()(const std::vector<Array>& inputs) const;
  void run(const std::vector<Array>& inputs, const std::vector<Array>& outputs) const;
  Call bind(const std::vector<Array>& inputs, const std::vector<Array>& outputs) const;

  // Every level as text. Those below the graph show the variant of the last compilation, or of contiguous arguments of
  // extent 64 along every symbol if nothing was called yet.
  std::string graph() const;
  std::string schedule() const;
  std::string program() const;
  std::string llvm() const;
  std::string assembly() const;
  // What was decided for each nest of loops, and why: for each axis its cost as the vector axis and what speaks against it as the root,
  // blocks, merged axes, memory, rows, the code of each vector loop, threads; values that several nests read, made again or arrays;
  // which nests are apart by which rule, and which slide; stores past the caches; where compile time went. Lines and numbers may change.
  std::string report() const;
  // What the loops compute: the oracle interprets this. Where a call decides how axes repeat, what every call starts from; and
  // what the loops of a call with these inputs compute (throws as that call does).
  const Graph& final_graph() const;
  const Graph& final_graph(const std::vector<Array>& inputs) const;
  double compile_seconds() const;               // of all variants so far, graph passes included

  struct State;
  explicit Function(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

// Outputs in the order of the results; inputs in the order of the arguments, each an input of the graph. Every input the
// outputs need must be listed. Costs a few milliseconds at the first call, linear in the number of nodes.
Function compile(const std::vector<Expr>& outputs, const std::vector<Expr>& inputs, const Options& options = {});
Function compile(const Graph& graph, const Options& options = {});      // a parsed graph, with its own inputs and outputs

}  // namespace weft
