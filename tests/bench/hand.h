// Hand-written loops, the yardstick: each works on [begin, end) of its elements or rows, so two threads can share it.
// Sizes are multiples of the vector width; arrays are row-major and 64-byte aligned.
#pragma once
#include <cstdint>

namespace hand {

using Index = std::int64_t;

void axpy(const float* x, const float* y, float* out, Index begin, Index end, bool past_caches);       // 1.5 x + y
void polynomial(const float* x, float* out, Index begin, Index end);                                   // degree 8, Horner
void sigmoid_tanh(const float* x, const float* y, float* out, Index begin, Index end);

// Rows of `columns` elements.
void row_broadcast(const float* x, const float* w, const float* b, float* out, Index columns, Index begin, Index end);
void column_broadcast(const float* x, const float* w, const float* b, float* out, Index columns, Index begin, Index end);
void row_sums(const float* x, float* out, Index columns, Index begin, Index end);
void column_sums(const float* x, float* out, Index columns, Index begin, Index end);                   // `out` is overwritten
float squared_distance(const float* x, const float* y, Index begin, Index end);                        // of elements
void softmax(const float* x, float* out, Index columns, Index begin, Index end);
void layer_norm(const float* x, const float* gamma, const float* beta, float* out, Index columns, Index begin, Index end);

// 64 features: sums of loss and residual, and of residual times row into gradient[64]. x is read once.
struct Sums { float loss, residual; };
Sums logistic(const float* x, const float* y, const float* w, float b, float* gradient, Index begin, Index end);

}  // namespace hand
