// A softmax of rows as text: three loops in one, with rows between.
#pragma once

inline constexpr const char* softmax_rows = R"(graph softmax(%x: f32[n,m]) -> (%4) {
  %0: f32[i:n] = max(j:m) copy(%x[i,j])
  %1: f32[i:n,j:m] = subtract(%x[i,j], %0[i])
  %2: f32[i:n,j:m] = exp(%1[i,j])
  %3: f32[i:n] = sum(j:m) copy(%2[i,j])
  %4: f32[i:n,j:m] = divide(%2[i,j], %3[i])
})";
