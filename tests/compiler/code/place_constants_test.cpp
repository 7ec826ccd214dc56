#include "code/place_constants.h"

#include <doctest/doctest.h>

#include <string>

#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include "occurrences.h"

using namespace weft;

namespace {

// The text of a module after constants of its function's loops are placed.
std::string after(const std::string& text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, context);
  CAPTURE(text);
  CAPTURE(problem.getMessage().str());
  REQUIRE(module);
  llvm::PassBuilder builder;
  llvm::FunctionAnalysisManager functions;
  builder.registerFunctionAnalyses(functions);
  PlaceConstants().run(*module->getFunction("f"), functions);
  CHECK(!llvm::verifyModule(*module, &llvm::errs()));
  std::string placed;
  llvm::raw_string_ostream(placed) << *module;
  return placed;
}

// The same of the text of a loop's body, which makes %y from %x.
std::string placed(const std::string& body, const std::string& type = "<16 x float>", const std::string& features = "+avx512f") {
  return after("declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)\ndeclare <32 x i8> @llvm.x86.avx2.pshuf.b(<32 x i8>, <32 x i8>)\n"
      "define void @f(ptr %p, i64 %n) \"target-features\"=\"" + features + "\" {\nentry:\n  br label %outer\n"
      "outer:\n  %j = phi i64 [ 0, %entry ], [ %j2, %outer.end ]\n  br label %loop\n"
      "loop:\n  %k = phi i64 [ 0, %outer ], [ %k2, %loop ]\n  %a = getelementptr " + type + ", ptr %p, i64 %k\n  %x = load " + type + ", ptr %a\n" + body +
      "  store " + type + " %y, ptr %a\n  %k2 = add i64 %k, 1\n  %more = icmp slt i64 %k2, %n\n  br i1 %more, label %loop, label %outer.end\n"
      "outer.end:\n  %j2 = add i64 %j, 1\n  %again = icmp slt i64 %j2, %n\n  br i1 %again, label %outer, label %end\nend:\n  ret void\n}\n");
}

std::string part(const std::string& text, const std::string& from, const std::string& to) {
  const auto start = text.find(from), end = text.find(to, start);
  REQUIRE(start != std::string::npos);
  REQUIRE(end != std::string::npos);
  return text.substr(start, end - start);
}

}  // namespace

TEST_CASE("constants of an innermost loop are loaded in front of the loops around it") {
  const std::string text = placed("  %z = fmul <16 x float> %x, splat (float 3.0)\n  %y = fadd <16 x float> %z, splat (float 3.0)\n");
  CHECK(occurrences(part(text, "entry:", "outer:"), "= load float, ptr @constant") == 1);       // one for both
  CHECK(occurrences(part(text, "loop:", "outer.end:"), "3.0") == 0);
}

TEST_CASE("tables are loaded as they are") {
  const std::string text = placed("  %y = fadd <2 x double> %x, <double 1.0, double 2.0>\n", "<2 x double>");
  CHECK(occurrences(part(text, "entry:", "outer:"), "= load <2 x double>, ptr @constant, align 16") == 1);
}

TEST_CASE("bytes that are looked up are loaded like numbers") {
  std::string table;
  for (int k = 0; k < 32; ++k) table += (k > 0 ? ", i8 " : "i8 ") + std::to_string(k % 16 + 1);
  const std::string text = placed("  %y = call <32 x i8> @llvm.x86.avx2.pshuf.b(<32 x i8> <" + table + ">, <32 x i8> %x)\n", "<32 x i8>", "+avx2");
  CHECK(occurrences(part(text, "entry:", "outer:"), "= load <32 x i8>, ptr @constant, align 32") == 1);
}

TEST_CASE("constants that instructions have in themselves stay, and so do zeros") {
  for (const std::string body : {"fmul <16 x float> %x, splat (float 2.0)", "fmul <16 x float> splat (float -1.0), %x", "fdiv <16 x float> %x, splat (float 4.0)",
                                 "fadd <16 x float> %x, zeroinitializer", "shufflevector <16 x float> %x, <16 x float> splat (float 5.0), <16 x i32> zeroinitializer"}) {
    CAPTURE(body);
    CHECK(occurrences(placed("  %y = " + body + "\n"), "@constant") == 0);
  }
  for (const std::string op : {"shl", "lshr", "mul", "udiv"}) CHECK(occurrences(placed("  %y = " + op + " <16 x i32> %x, splat (i32 3)\n", "<16 x i32>"), "@constant") == 0);
  for (const std::string op : {"add", "and", "xor"}) CHECK(occurrences(placed("  %y = " + op + " <16 x i32> %x, splat (i32 3)\n", "<16 x i32>"), "ptr @constant") == 1);
}

TEST_CASE("no more constants than there are registers, those first that spare most loads") {
  std::string body = "  %v0 = call <16 x float> @llvm.fma.v16f32(<16 x float> %x, <16 x float> splat (float 101.0), <16 x float> splat (float 102.0))\n";
  for (int k = 1; k <= 40; ++k) {
    const std::string before = "%v" + std::to_string(k - 1), after = "%v" + std::to_string(k);
    body += "  " + after + " = fadd <16 x float> " + before + ", splat (float " + std::to_string(k) + ".0)\n";
  }
  body += "  %w = fsub <16 x float> %v40, splat (float 40.0)\n  %y = fadd <16 x float> %w, %w\n";
  const std::string wide = part(placed(body), "entry:", "outer:"), narrow = part(placed(body, "<16 x float>", "+avx,-avx512f"), "entry:", "outer:");
  CHECK(occurrences(wide, "= load float") == 32);
  CHECK(occurrences(narrow, "= load float") == 8);             // two registers each, and sixteen of them
  CHECK(occurrences(placed(body), "= private constant float 1.020000e+02") == 1);      // it would take a load of its own
  CHECK(occurrences(placed(body), "= private constant float 4.000000e+01") == 1);      // used twice
  CHECK(occurrences(placed(body), "= private constant float 1.000000e+00") == 1);
  CHECK(occurrences(placed(body), "= private constant float 3.900000e+01") == 0);
}

TEST_CASE("a loop with more values than registers reads its constants where it needs them") {
  for (const int values : {30, 40}) {
    std::string body;
    for (int k = 0; k < values; ++k) body += "  %v" + std::to_string(k) + " = fadd <16 x float> %x, splat (float " + std::to_string(3 + k % 2) + ".0)\n";
    for (int k = 0; k < values; ++k) body += "  %w" + std::to_string(k) + " = fsub <16 x float> " + (k == 0 ? "%x" : "%w" + std::to_string(k - 1)) + ", %v" + std::to_string(k) + "\n";
    body += "  %y = fadd <16 x float> %w" + std::to_string(values - 1) + ", %x\n";
    const std::string text = placed(body), before = part(text, "entry:", "outer:"), within = part(text, "loop:", "outer.end:");
    CHECK(occurrences(before, "= load float, ptr @constant") == (values == 30 ? 2 : 0));
    CHECK(occurrences(within, "= load float, ptr @variable") == (values == 30 ? 0 : values));
  }
}

TEST_CASE("a constant that is wanted again after more values than there are registers is another in memory: its register would go to the stack and back") {
  for (const int values : {31, 33}) {
    std::string body = "  %v0 = fadd <16 x float> %x, splat (float 3.0)\n  %s0 = fadd <16 x float> %v0, splat (float 3.0)\n";
    for (int k = 1; k <= values; ++k) body += "  %v" + std::to_string(k) + " = call <16 x float> @llvm.fma.v16f32(<16 x float> %x, <16 x float> %v" + std::to_string(k - 1) + ", <16 x float> %x)\n";
    body += "  %u = fadd <16 x float> %v" + std::to_string(values) + ", splat (float 3.0)\n  %w0 = fadd <16 x float> %u, %s0\n";
    for (int k = 1; k <= values; ++k) body += "  %w" + std::to_string(k) + " = fadd <16 x float> %w" + std::to_string(k - 1) + ", %v" + std::to_string(k) + "\n";
    body += "  %y = fadd <16 x float> %w" + std::to_string(values) + ", %x\n";
    const std::string text = placed(body);
    CAPTURE(text);
    CHECK(occurrences(text, "private global float 3.000000e+00") == (values == 31 ? 1 : 2));
    CHECK(occurrences(part(text, "loop:", "%v1 ="), "= load float, ptr @variable,") == 2);
    CHECK(occurrences(part(text, "%v1 =", "outer.end:"), "= load float, ptr @variable,") == (values == 31 ? 1 : 0));
  }
}

TEST_CASE("a loop beside another keeps its constants to itself") {
  const auto loop = [](const std::string& name, const std::string& before, const std::string& behind, const std::string& constant) {
    const auto own = [&](const std::string& value) { return "%" + name + "." + value; };
    return name + ":\n  " + own("k") + " = phi i64 [ 0, %" + before + " ], [ " + own("next") + ", %" + name + " ]\n  " + own("x") + " = load <16 x float>, ptr %p\n  " +
           own("y") + " = fadd <16 x float> " + own("x") + ", splat (float " + constant + ")\n  store <16 x float> " + own("y") + ", ptr %p\n  " + own("next") + " = add i64 " +
           own("k") + ", 1\n  " + own("more") + " = icmp slt i64 " + own("next") + ", %n\n  br i1 " + own("more") + ", label %" + name + ", label %" + behind + "\n";
  };
  const std::string text = after("define void @f(ptr %p, i64 %n) \"target-features\"=\"+avx512f\" {\nentry:\n  br label %outer\n"
      "outer:\n  %j = phi i64 [ 0, %entry ], [ %j2, %outer.end ]\n  br label %first\n" + loop("first", "outer", "between", "3.0") +
      "between:\n  br label %second\n" + loop("second", "between", "outer.end", "5.0") +
      "outer.end:\n  %j2 = add i64 %j, 1\n  %again = icmp slt i64 %j2, %n\n  br i1 %again, label %outer, label %end\nend:\n  ret void\n}\n");
  CHECK(occurrences(part(text, "entry:", "outer:"), "@constant") == 0);
  CHECK(occurrences(part(text, "outer:", "first:"), "@constant") == 1);
  CHECK(occurrences(part(text, "between:", "second:"), "@constant") == 1);
}
