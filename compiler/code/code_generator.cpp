#include "code_generator.h"

#include <mutex>
#include <utility>
#include <vector>

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <weft/error.h>
#include <weft/text.h>

#include "features.h"
#include "llvm_options.h"
#include "module_passes.h"
#include "target.h"

namespace weft {
namespace {

// Setting LLVM up for a processor takes as long as generating code for a small loop: its passes, and all it knows of instructions and types.
class CodeGenerator {
 public:
  explicit CodeGenerator(llvm::CodeGenFileType type) : out_(bytes_) {
    auto machine = target_of_host().createTargetMachine();
    if (!machine) fail(ErrorKind::internal, concat("no code generator for this machine: ", llvm::toString(machine.takeError())));
    machine_ = std::move(*machine);
    if (machine_->addPassesToEmitFile(passes_, out_, nullptr, type)) fail(ErrorKind::internal, "this machine cannot emit code to memory");
  }

  Bytes run(llvm::Module& module) {
    module.setDataLayout(machine_->createDataLayout());
#if LLVM_VERSION_MAJOR >= 21
    module.setTargetTriple(machine_->getTargetTriple());
#else
    module.setTargetTriple(machine_->getTargetTriple().str());
#endif
    run_module_passes(module, *machine_);
    if (const Translate translate = translation()) translate(module);
    const SchedulingTurn turn(wants_spread_schedule(module));
    passes_.run(module);
    return std::exchange(bytes_, {});
  }

 private:
  std::unique_ptr<llvm::TargetMachine> machine_;
  Bytes bytes_;
  llvm::raw_svector_ostream out_;
  llvm::legacy::PassManager passes_;
};

// Idle generators of object code, one for each thread that ran at the same time as others. Never destroyed: threads may end after static objects.
struct Idle {
  std::mutex mutex;
  std::vector<std::unique_ptr<CodeGenerator>> generators;
};
Idle& idle() {
  static auto* shared = new Idle;
  return *shared;
}

std::unique_ptr<CodeGenerator> take_generator() {
  Idle& all = idle();
  {
    const std::scoped_lock lock(all.mutex);
    if (!all.generators.empty()) {
      auto last = std::move(all.generators.back());
      all.generators.pop_back();
      return last;
    }
  }
  return std::make_unique<CodeGenerator>(llvm::CodeGenFileType::ObjectFile);
}

}  // namespace

Bytes generate_code(OwnedModule owned, llvm::CodeGenFileType type) {
  if (type != llvm::CodeGenFileType::ObjectFile) return CodeGenerator(type).run(*owned.module);
  auto generator = take_generator();
  Bytes bytes = generator->run(*owned.module);
  owned.module.reset();                // the generator's passes keep handles to its functions: these must go before another module comes
  const std::scoped_lock lock(idle().mutex);
  idle().generators.push_back(std::move(generator));
  return bytes;
}

}  // namespace weft
