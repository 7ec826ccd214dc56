#include "features.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>

namespace weft {
namespace {

struct Pretense {
  std::vector<std::string> features;
  Translate translate = nullptr;
};
Pretense& pretense() {
  static Pretense the_only;
  return the_only;
}

std::string features_within(int lanes, const std::vector<std::string>& pretended) {
  const auto is_too_wide = [&](llvm::StringRef name) {
    const bool of_256 = name.starts_with("avx") || name.starts_with("fma") || name == "f16c" || name == "xop" || name == "vaes" || name == "vpclmulqdq" || name == "gfni";
    return (lanes < 16 && (name.starts_with("avx512") || name.starts_with("avx10") || name == "evex512")) || (lanes < 8 && of_256);
  };
  std::string text;
  auto features = llvm::sys::getHostCPUFeatures();
  for (const std::string& name : pretended) features[name] = true;
  for (const auto& feature : features) {
    if (!text.empty()) text += ",";
    text += (feature.second && !is_too_wide(feature.first()) ? "+" : "-") + feature.first().str();
  }
  return text;
}

}  // namespace

const std::string& host_features(int lanes) {
  const auto within = [](int most) { return features_within(most, pretense().features); };
  static const std::string of_4 = within(4), of_8 = within(8), all = within(16);
  return lanes == 4 ? of_4 : lanes == 8 ? of_8 : all;
}

void pretend(const std::vector<std::string>& features, Translate translate) { pretense() = {features, translate}; }

const std::string& true_features() {
  static const std::string all = features_within(16, {});
  return all;
}

Translate translation() { return pretense().translate; }

// Asked for every few instructions that are emitted: no copy of a text of a thousand letters.
bool has_feature(std::string_view features, std::string_view name) {
  const auto is_edge = [&](std::size_t at) { return at == features.size() || features[at] == ','; };
  for (std::size_t at = features.find(name); at != std::string_view::npos; at = features.find(name, at + 1))
    if ((at == 0 || is_edge(at - 1)) && is_edge(at + name.size())) return true;
  return false;
}

std::size_t register_bytes(std::string_view features) { return has_feature(features, "+avx512f") ? 64 : has_feature(features, "+avx2") ? 32 : 16; }

bool masks_by_branches(const std::string& features, DType dtype) { return !has_feature(features, size_of(dtype) < 4 ? "+avx512bw" : "+avx"); }

bool stores_by_masks(std::string_view features, DType dtype) { return has_feature(features, size_of(dtype) < 4 ? "+avx512bw" : "+avx512f"); }

}  // namespace weft
