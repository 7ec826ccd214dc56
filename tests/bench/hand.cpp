#include "hand.h"

#include <array>
#include <cmath>
#include <cstddef>

#include "simd.h"

namespace hand {

using namespace bench;

// Four independent vectors at a time hide the latency of fma; body(first element of a vector).
template <class Body> void by_four(Index begin, Index end, const Body& body) {
  Index k = begin;
  for (; k + 4 * width <= end; k += 4 * width)
    for (int lane = 0; lane < 4; ++lane) body(k + lane * width);
  for (; k < end; k += width) body(k);
}

// Eight accumulators: body(accumulator, first element of a vector).
template <class Body, class Combine> Vec fold(Index begin, Index end, Vec start, const Body& body, const Combine& combine) {
  Vec part[8];
  for (Vec& each : part) each = start;
  Index k = begin;
  for (; k + 8 * width <= end; k += 8 * width)
    for (int lane = 0; lane < 8; ++lane) part[lane] = body(part[lane], k + lane * width);
  for (; k < end; k += width) part[0] = body(part[0], k);
  for (int half = 4; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) part[lane] = combine(part[lane], part[lane + half]);
  return part[0];
}
inline Vec plus(Vec a, Vec b) { return a + b; }

void axpy(const float* x, const float* y, float* out, Index begin, Index end, bool past_caches) {
  const Vec a = splat(1.5f);
  if (past_caches) {  // non-temporal stores do not read the lines they overwrite
    by_four(begin, end, [&](Index k) {
      _mm_prefetch(reinterpret_cast<const char*>(x + k + 256), _MM_HINT_T0);
      _mm_prefetch(reinterpret_cast<const char*>(y + k + 256), _MM_HINT_T0);
      stream(out + k, fma(a, load(x + k), load(y + k)));
    });
    _mm_sfence();
  } else {
    by_four(begin, end, [&](Index k) { store(out + k, fma(a, load(x + k), load(y + k))); });
  }
}

void polynomial(const float* x, float* out, Index begin, Index end) {
  by_four(begin, end, [&](Index k) {
    const Vec v = load(x + k);
    Vec p = splat(0.9f);
    for (float c : {0.8f, 0.7f, 0.6f, 0.5f, 0.4f, 0.3f, 0.2f, 0.1f}) p = fma(p, v, splat(c));
    store(out + k, p);
  });
}

// One reciprocal for both: (u - 1) / ((1 + e^-x) (1 + u)), u = e^2y. tanh is 1 in f32 long before u = e^20. Small results
// of tanh lose relative accuracy here, which those of a library may not.
void sigmoid_tanh(const float* x, const float* y, float* out, Index begin, Index end) {
  by_four(begin, end, [&](Index k) {
    const Vec v = load(y + k), u = exp(clamp(v + v, 20)), e = exp(clamp(-load(x + k), 60));
    store(out + k, (u - splat(1)) * reciprocal((splat(1) + e) * (splat(1) + u)));
  });
}

// Four rows at a time, so that w and b are loaded once for four.
void row_broadcast(const float* x, const float* w, const float* b, float* out, Index columns, Index begin, Index end) {
  Index i = begin;
  for (; i + 4 <= end; i += 4)
    for (Index j = 0; j < columns; j += width) {
      const Vec scale = load(w + j), shift = load(b + j);
      for (Index row = i; row < i + 4; ++row) store(out + row * columns + j, fma(load(x + row * columns + j), scale, shift));
    }
  for (; i < end; ++i)
    for (Index j = 0; j < columns; j += width) store(out + i * columns + j, fma(load(x + i * columns + j), load(w + j), load(b + j)));
}

void column_broadcast(const float* x, const float* w, const float* b, float* out, Index columns, Index begin, Index end) {
  for (Index i = begin; i < end; ++i) {
    const Vec scale = splat(w[i]), shift = splat(b[i]);
    by_four(i * columns, (i + 1) * columns, [&](Index k) { store(out + k, fma(load(x + k), scale, shift)); });
  }
}

void row_sums(const float* x, float* out, Index columns, Index begin, Index end) {
  for (Index i = begin; i < end; ++i)
    out[i] = sum(fold(i * columns, (i + 1) * columns, splat(0), [&](Vec s, Index k) { return s + load(x + k); }, plus));
}

// Eight rows a sweep: the row of sums, in L1, is read and written once for eight inputs.
void column_sums(const float* x, float* out, Index columns, Index begin, Index end) {
  for (Index j = 0; j < columns; j += width) store(out + j, splat(0));
  Index i = begin;
  for (; i + 8 <= end; i += 8)
    for (Index j = 0; j < columns; j += width) {
      const float* at = x + i * columns + j;
      Vec s[8];
      for (int row = 0; row < 8; ++row) s[row] = load(at + row * columns);
      store(out + j, load(out + j) + (((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))));
    }
  for (; i < end; ++i)
    for (Index j = 0; j < columns; j += width) store(out + j, load(out + j) + load(x + i * columns + j));
}

float squared_distance(const float* x, const float* y, Index begin, Index end) {
  return sum(fold(begin, end, splat(0), [&](Vec s, Index k) {
    const Vec d = load(x + k) - load(y + k);
    return fma(d, d, s);
  }, plus));
}

void softmax(const float* x, float* out, Index columns, Index begin, Index end) {
  for (Index i = begin; i < end; ++i) {
    const Index first = i * columns, last = first + columns;
    const Vec top = splat(largest(fold(first, last, splat(-INFINITY), [&](Vec m, Index k) { return max(m, load(x + k)); }, [](Vec a, Vec b) { return max(a, b); })));
    const Vec total = fold(first, last, splat(0), [&](Vec s, Index k) {
      const Vec e = exp(max(load(x + k) - top, splat(-87)));
      store(out + k, e);
      return s + e;
    }, plus);
    const Vec share = splat(1 / sum(total));
    by_four(first, last, [&](Index k) { store(out + k, load(out + k) * share); });
  }
}

void layer_norm(const float* x, const float* gamma, const float* beta, float* out, Index columns, Index begin, Index end) {
  for (Index i = begin; i < end; ++i) {
    const Index first = i * columns, last = first + columns;
    const Vec mean = splat(sum(fold(first, last, splat(0), [&](Vec s, Index k) { return s + load(x + k); }, plus)) / static_cast<float>(columns));
    const float variance = sum(fold(first, last, splat(0), [&](Vec s, Index k) {
      const Vec d = load(x + k) - mean;
      return fma(d, d, s);
    }, plus)) / static_cast<float>(columns);
    const Vec scale = splat(1 / std::sqrt(variance + 1e-5f));
    by_four(0, columns, [&](Index j) { store(out + first + j, fma((load(x + first + j) - mean) * scale, load(gamma + j), load(beta + j))); });
  }
}

// As many rows as a vector has lanes at a time, 4 KiB that stay in L1: their dots, then all their losses and residuals in
// one vector, then the rank-`width` update of the gradient in registers.
Sums logistic(const float* x, const float* y, const float* w, float b, float* gradient, Index begin, Index end) {
  constexpr int vectors = 64 / width;
  Vec weights[vectors], slope[vectors];
  for (int v = 0; v < vectors; ++v) weights[v] = load(w + v * width), slope[v] = splat(0);
  Vec loss = splat(0), residual = splat(0);
  alignas(64) std::array<float, width> lanes;
  auto block = [&](Index i, int rows) {
    for (int row = 0; row < rows; ++row) {
      const float* at = x + (i + row) * 64;
      Vec dot = load(at) * weights[0];
      for (int v = 1; v < vectors; ++v) dot = fma(load(at + v * width), weights[v], dot);
      lanes[static_cast<std::size_t>(row)] = sum(dot) + b;
    }
    const Vec z = load(lanes.data()), label = load(y + i);
    const Vec r = sigmoid(z) - label;
    loss = loss + fma(-label, z, softplus(z));
    residual = residual + r;
    store(lanes.data(), r);
    for (int row = 0; row < rows; ++row) {
      const Vec factor = splat(lanes[static_cast<std::size_t>(row)]);
      for (int v = 0; v < vectors; ++v) slope[v] = fma(factor, load(x + (i + row) * 64 + v * width), slope[v]);
    }
  };
  for (Index i = begin; i < end; i += width) block(i, width);
  for (int v = 0; v < vectors; ++v) store(gradient + v * width, slope[v]);
  return {sum(loss), sum(residual)};
}

}  // namespace hand
