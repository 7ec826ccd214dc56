// Ops as emitted for processors that this one need not be: whatever registers and instructions they have, the code is valid and has the result's type.
#include "emit/emit_op.h"

#include <doctest/doctest.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

using namespace weft;

namespace {

constexpr const char* processors[] = {"+sse2", "+avx,+sse4.1", "+avx,+avx2,+fma,+f16c", "+avx,+avx2,+fma,+f16c,+avx512f,+avx512dq,+avx512vl",
                                      "+avx,+avx2,+fma,+f16c,+avx512f,+avx512dq,+avx512vl,+avx512bw,+avx512vbmi"};

// What LLVM's verifier says of a function of the op alone: nothing, of code that is right.
std::string faults_of(const OpInfo& row, DType dtype, int width, const char* features, bool fast) {
  llvm::LLVMContext context;
  llvm::Module module("op", context);
  llvm::IRBuilder<> b(context);
  const std::vector<DType> dtypes(static_cast<std::size_t>(row.arity), dtype);
  const DType result = result_dtype(row.op, dtypes, dtype).value();
  const std::vector<llvm::Type*> types(dtypes.size(), register_type(context, dtype, width));
  auto* type = llvm::FunctionType::get(register_type(context, result, width), types, false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "op", module);
  function->addFnAttr("target-features", features);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  std::vector<llvm::Value*> operands;
  for (llvm::Argument& argument : function->args()) operands.push_back(&argument);
  b.CreateRet(emit_op(b, row.op, operands, dtypes, result, fast));
  std::string faults;
  llvm::raw_string_ostream out(faults);
  llvm::verifyModule(module, &out);
  return faults;
}

}  // namespace

TEST_CASE("every op of every dtype is valid code for every kind of registers, in any number of lanes") {
  for (const char* features : processors)
    for (const OpInfo& row : op_table())
      for (DType dtype : {f16, f32, f64, u8, i32, i64, DType::bool_})
        for (int width : {1, 2, 4, 8, 16, 32, 64})
          for (bool fast : {false, true}) {
            if (row.rule == DTypeRule::conversion || row.rule == DTypeRule::select || (fast && !is_floating(dtype))) continue;
            const std::vector<DType> dtypes(static_cast<std::size_t>(row.arity), dtype);
            if (!result_dtype(row.op, dtypes, dtype)) continue;
            CAPTURE(row.name);
            CAPTURE(to_text(dtype));
            CAPTURE(width);
            CAPTURE(std::string(features));
            CAPTURE(fast);
            CHECK(faults_of(row, dtype, width, features, fast) == "");
          }
}
