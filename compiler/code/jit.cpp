#include "jit.h"

#include <atomic>
#include <functional>

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/MapperJITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>

#include <weft/error.h>
#include <weft/thread_pool.h>

#include "code_cache.h"
#include "code_generator.h"
#include "fold_support.h"
#include "large_stacks.h"
#include "llvm_options.h"
#include "move_support.h"
#include "near_memory.h"
#include "pack_support.h"
#include "split_module.h"
#include "target.h"
#include "write_combining.h"

namespace weft {
namespace {

using namespace llvm;
using namespace llvm::orc;

std::string text_of(llvm::Error error) { return toString(std::move(error)); }

template <class T> T take(Expected<T> value, const char* what) {
  if (!value) fail(ErrorKind::internal, concat(what, ": ", text_of(value.takeError())));
  return std::move(*value);
}
void check(llvm::Error error, const char* what) {
  if (error) fail(ErrorKind::internal, concat(what, ": ", text_of(std::move(error))));
}

std::unique_ptr<LLJIT> make_session() {
  leave_out_passes();
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  InitializeNativeTargetAsmParser();
  auto session = take(LLJITBuilder()
                          .setJITTargetMachineBuilder(target_of_host())
#if LLVM_VERSION_MAJOR >= 21
                          .setObjectLinkingLayerCreator([](ExecutionSession& es) -> Expected<std::unique_ptr<ObjectLayer>> {
#else
                          .setObjectLinkingLayerCreator([](ExecutionSession& es, const Triple&) -> Expected<std::unique_ptr<ObjectLayer>> {
#endif
                            auto memory = MapperJITLinkMemoryManager::CreateWithMapper<NearMemory>(std::size_t{64} << 20);
                            if (!memory) return memory.takeError();
                            return std::make_unique<ObjectLinkingLayer>(es, std::move(*memory));
                          })
                          .create(),
                      "cannot start the machine-code session");
  SymbolMap symbols;
  const auto add = [&](const std::string& symbol, auto* function) {
    symbols[session->mangleAndIntern(symbol)] = {ExecutorAddr::fromPtr(function), JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  };
  for (const FoldFunction& function : fold_functions()) add(function.symbol, function.address);
  for (const PackFunction& function : pack_functions()) add(function.symbol, function.address);
  add(move_symbol, &move_part);
  add(combine_at_symbol, &combine_at);
  add(flush_lines_symbol, &flush_lines);
  check(session->getMainJITDylib().define(absoluteSymbols(std::move(symbols))), "cannot define the functions that compiled loops call");
  session->getMainJITDylib().addGenerator(take(DynamicLibrarySearchGenerator::GetForCurrentProcess(session->getDataLayout().getGlobalPrefix()),
                                               "cannot search this process for symbols"));
  return session;
}

LLJIT& session() {
  static LLJIT* const shared = make_session().release();
  return *shared;
}

// A library of its own, so that its symbols are nobody else's; what it calls is in the main one.
class LinkedCode final : public MachineCode {
 public:
  LinkedCode(std::vector<Bytes> objects, bool is_from_cache) : MachineCode(is_from_cache) {
    for (Bytes& object : objects) {
      auto buffer = std::make_unique<SmallVectorMemoryBuffer>(std::move(object), "weft", /*RequiresNullTerminator=*/false);
      check(session().addObjectFile(library_.get(), std::move(buffer)), "cannot link compiled code");
    }
  }
  void* address(const std::string& symbol) const override {
    return take(session().lookup(library_.get(), symbol), "compiled code lacks a function").toPtr<void*>();
  }

 private:
  class Library {
   public:
    Library() : library_(session().getExecutionSession().createBareJITDylib("weft_" + std::to_string(count_++))) {
      library_.addToLinkOrder(session().getMainJITDylib());
    }
    Library(const Library&) = delete;
    ~Library() { consumeError(session().getExecutionSession().removeJITDylib(library_)); }
    JITDylib& get() const { return library_; }

   private:
    static inline std::atomic<unsigned> count_{0};
    JITDylib& library_;
  };
  Library library_;
};

std::vector<Bytes> generate_parts(OwnedModule owned) {
  constexpr int most = 8;                    // threads
  const auto parts = split_module(std::move(owned), std::min(most, hardware_threads()));
  std::vector<Bytes> objects(parts.size());
  std::vector<std::function<void()>> works;
  for (std::size_t k = 0; k < parts.size(); ++k) works.push_back([&, k] { objects[k] = generate_code(parts[k](), CodeGenFileType::ObjectFile); });
  on_large_stacks(works);
  return objects;
}

}  // namespace

std::shared_ptr<const MachineCode> compile_module(OwnedModule owned, const std::string& cache_dir) {
  session();
  if (cache_dir.empty()) return std::make_shared<LinkedCode>(generate_parts(std::move(owned)), false);
  const CodeCache cache(cache_dir, *owned.module);
  if (auto objects = cache.find()) return std::make_shared<LinkedCode>(std::move(*objects), true);
  std::vector<Bytes> objects = generate_parts(std::move(owned));
  cache.keep(objects);
  return std::make_shared<LinkedCode>(std::move(objects), false);
}

std::string assembly_of(OwnedModule owned) {
  session();
  Bytes text;
  on_large_stacks({[&] { text = generate_code(std::move(owned), CodeGenFileType::AssemblyFile); }});
  return std::string(text.begin(), text.end());
}

}  // namespace weft
