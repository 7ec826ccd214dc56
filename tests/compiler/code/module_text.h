// LLVM modules from their text.
#pragma once
#include <string>

#include <doctest/doctest.h>

#include <llvm/AsmParser/Parser.h>
#include <llvm/Support/SourceMgr.h>

#include "code/owned_module.h"

inline weft::OwnedModule module_of(const std::string& text) {
  weft::OwnedModule owned;
  llvm::SMDiagnostic wrong;
  owned.module = llvm::parseAssemblyString(text, wrong, *owned.context);
  REQUIRE_MESSAGE(owned.module, wrong.getMessage().str());
  return owned;
}
