// The conversions of f16 and bf16 as emitted, on vectors and scalars, with the instructions of F16C and without them.
#include "emit/emit_half.h"

#include <cstring>

#include <doctest/doctest.h>
#include <half_cases.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>

#include "code/jit.h"
#include "code/features.h"
#include "emit/emit_op.h"

using namespace weft;

namespace {

using Convert = void (*)(const void* from, void* to, std::int64_t steps);

// to[k] = emit(from[k]) for steps * width elements in memory.
struct Converter {
  std::shared_ptr<const MachineCode> code;
  Convert run;
  int width;
};
template <class Emit> Converter converter(DType from, DType to, int width, bool f16c, const Emit& emit) {
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>("half", *context);
  llvm::IRBuilder<> b(*context);
  const std::string name = "half";
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy(), b.getInt64Ty()}, false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, *module);
  std::string features = host_features();
  if (const auto at = features.find("+f16c"); at != std::string::npos && !f16c) features.replace(at, 5, "-f16c");
  function->addFnAttr("target-features", features);
  auto* before = llvm::BasicBlock::Create(*context, "before", function);
  auto* body = llvm::BasicBlock::Create(*context, "body", function);
  auto* after = llvm::BasicBlock::Create(*context, "after", function);
  b.SetInsertPoint(before);
  b.CreateBr(body);
  b.SetInsertPoint(body);
  auto* index = b.CreatePHI(b.getInt64Ty(), 2);
  index->addIncoming(b.getInt64(0), before);
  auto *from_type = memory_type(*context, from, width), *to_type = memory_type(*context, to, width);
  llvm::Value* value = b.CreateAlignedLoad(from_type, b.CreateGEP(from_type, function->getArg(0), index), llvm::Align(size_of(from)));
  b.CreateAlignedStore(emit(b, value), b.CreateGEP(to_type, function->getArg(1), index), llvm::Align(size_of(to)));
  llvm::Value* next = b.CreateAdd(index, b.getInt64(1));
  index->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, function->getArg(2)), body, after);
  b.SetInsertPoint(after);
  b.CreateRetVoid();
  REQUIRE_FALSE(llvm::verifyModule(*module));
  Converter result{compile_module({std::move(context), std::move(module)}), nullptr, width};
  result.run = reinterpret_cast<Convert>(result.code->address(name));
  return result;
}

template <class To, class From> std::vector<To> converted(const Converter& c, std::vector<From> from) {
  const std::size_t count = from.size(), steps = (count + static_cast<std::size_t>(c.width) - 1) / static_cast<std::size_t>(c.width);
  from.resize(steps * static_cast<std::size_t>(c.width));
  std::vector<To> to(from.size());
  c.run(from.data(), to.data(), static_cast<std::int64_t>(steps));
  to.resize(count);
  return to;
}

bool is_nan_bits(DType half, std::uint16_t bits) { return (bits & 0x7fff) > largest_half_bits(half) + 1; }

template <class Visit> void for_each_variant(const Visit& visit) {
  for (const DType half : {f16, bf16})
    for (const int width : {1, 4, 16})
      for (const bool f16c : {true, false}) {
        if (half == bf16 && f16c) continue;       // not used
        CAPTURE(std::string(to_text(half)));
        CAPTURE(width);
        CAPTURE(f16c);
        visit(half, width, f16c);
      }
}

template <class T> void check_cast(const std::vector<HalfCase<T>>& cases, DType half, int width, bool f16c) {
  const Converter c = converter(dtype_of<T>(), half, width, f16c, [&](llvm::IRBuilder<>& b, llvm::Value* value) {
    return to_half_bits(b, cast_to_half(b, value, dtype_of<T>(), half), half);
  });
  std::vector<T> values;
  for (const auto& one : cases) values.push_back(one.value);
  const auto got = converted<std::uint16_t>(c, values);
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < cases.size(); ++k)
    if (got[k] != cases[k].bits && ++wrong <= 3) {
      CAPTURE(cases[k].value);
      CHECK(got[k] == cases[k].bits);
    }
  CAPTURE(std::string(to_text(dtype_of<T>())));
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("all 65536 halves become the floats that they are, and back") {
  std::vector<std::uint16_t> all(65536);
  for (unsigned bits = 0; bits < 65536; ++bits) all[bits] = static_cast<std::uint16_t>(bits);
  for_each_variant([&](DType half, int width, bool f16c) {
    const Converter widen = converter(half, f32, width, f16c, [&](llvm::IRBuilder<>& b, llvm::Value* bits) { return from_half_bits(b, bits, half); });
    const Converter there_and_back = converter(half, half, width, f16c, [&](llvm::IRBuilder<>& b, llvm::Value* bits) {
      return to_half_bits(b, round_to_half(b, from_half_bits(b, bits, half), half), half);
    });
    const auto floats = converted<float>(widen, all);
    const auto back = converted<std::uint16_t>(there_and_back, all);
    std::size_t wrong = 0;
    for (unsigned bits = 0; bits < 65536; ++bits) {
      const auto half_bits = static_cast<std::uint16_t>(bits);
      if (is_nan_bits(half, half_bits)) {
        wrong += !std::isnan(floats[bits]) || !is_nan_bits(half, back[bits]) || ((back[bits] ^ bits) & 0x8000) != 0;
        continue;
      }
      const bool infinite = (bits & 0x7fff) == largest_half_bits(half) + 1u;
      const double expected = infinite ? (bits & 0x8000 ? -INFINITY : INFINITY) : decode_half(half, half_bits);
      wrong += static_cast<double>(floats[bits]) != expected || std::signbit(floats[bits]) != std::signbit(expected) || back[bits] != bits;
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("floats and doubles round once to the nearest half, the even one from the middle") {
  for_each_variant([](DType half, int width, bool f16c) {
    check_cast(real_half_cases<float>(half), half, width, f16c);
    check_cast(real_half_cases<double>(half), half, width, f16c);
  });
}

TEST_CASE("integers round once to the nearest half, the even one from the middle") {
  for_each_variant([](DType half, int width, bool f16c) {
    if (width == 4) return;
    check_cast(integer_half_cases<std::int32_t>(half), half, width, f16c);
    check_cast(integer_half_cases<std::uint32_t>(half), half, width, f16c);
    check_cast(integer_half_cases<std::int64_t>(half), half, width, f16c);
    check_cast(integer_half_cases<std::uint64_t>(half), half, width, f16c);
    check_cast(integer_half_cases<std::int16_t>(half), half, width, f16c);
  });
}

TEST_CASE("a NaN stays a NaN, whichever bits carry it") {
  std::vector<float> floats;
  for (int bit = 0; bit < 23; ++bit)
    for (const std::uint32_t sign : {0u, 0x80000000u}) {
      const std::uint32_t bits = sign | 0x7f800000u | 1u << bit;
      floats.emplace_back();
      std::memcpy(&floats.back(), &bits, 4);
    }
  for_each_variant([&](DType half, int width, bool f16c) {
    const Converter c = converter(f32, half, width, f16c, [&](llvm::IRBuilder<>& b, llvm::Value* value) {
      return to_half_bits(b, round_to_half(b, value, half), half);
    });
    for (const std::uint16_t bits : converted<std::uint16_t>(c, floats)) CHECK(is_nan_bits(half, bits));
  });
}
