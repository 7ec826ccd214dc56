// Machine code on disk (Options::cache_dir): what one process generated, later ones read.
//
// A file for each module, named by a hash of all that its code depends on: the module, this processor, LLVM's version and the sources of
// this library. Files are written beside their place and renamed, so that processes may share a directory; they carry a hash of what they
// hold, and one that is damaged is generated again. What was not used for a month goes, and the oldest above 1 GiB.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <llvm/IR/Module.h>

#include "code_generator.h"

namespace weft {

// Makes the directory, for this user alone, if there is none. Returns it as an absolute path. Throws Error (usage) if it cannot be made or
// written to.
std::string open_cache_dir(const std::string& directory);

class CodeCache {
 public:
  CodeCache(const std::string& directory, const llvm::Module& module);
  std::optional<std::vector<Bytes>> find() const;
  // A directory that cannot be written to any more is no error: code was generated, and will be again.
  void keep(const std::vector<Bytes>& objects) const;

 private:
  std::string directory_, path_;
};

}  // namespace weft
