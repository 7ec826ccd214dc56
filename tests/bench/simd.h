// Vectors of f32 for the hand-written loops: AVX-512 or AVX2 with FMA, chosen by -march.
#pragma once
#include <immintrin.h>

namespace bench {

#if defined(__AVX512F__) && defined(__AVX512DQ__)
using Vec = __m512;
inline constexpr int width = 16;
inline Vec load(const float* p) { return _mm512_loadu_ps(p); }
inline void store(float* p, Vec v) { _mm512_storeu_ps(p, v); }
inline void stream(float* p, Vec v) { _mm512_stream_ps(p, v); }
inline Vec splat(float x) { return _mm512_set1_ps(x); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
inline Vec max(Vec a, Vec b) { return _mm512_max_ps(a, b); }
inline Vec abs(Vec a) { return _mm512_abs_ps(a); }
inline float sum(Vec a) { return _mm512_reduce_add_ps(a); }
inline float largest(Vec a) { return _mm512_reduce_max_ps(a); }
inline Vec nearest(Vec a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline Vec scale(Vec a, Vec n) { return _mm512_scalef_ps(a, n); }
// About 1 ulp: the 14-bit estimate and one Newton step; the divider is four times slower.
inline Vec reciprocal(Vec a) {
  const Vec r = _mm512_rcp14_ps(a);
  return fma(fma(-a, r, splat(1)), r, r);
}
#elif defined(__AVX2__) && defined(__FMA__)
using Vec = __m256;
inline constexpr int width = 8;
inline Vec load(const float* p) { return _mm256_loadu_ps(p); }
inline void store(float* p, Vec v) { _mm256_storeu_ps(p, v); }
inline void stream(float* p, Vec v) { _mm256_stream_ps(p, v); }
inline Vec splat(float x) { return _mm256_set1_ps(x); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
inline Vec max(Vec a, Vec b) { return _mm256_max_ps(a, b); }
inline Vec abs(Vec a) { return _mm256_andnot_ps(splat(-0.0f), a); }
template <class Combine> float across(Vec a, Combine combine) {
  __m128 x = combine(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  x = combine(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(combine(x, _mm_shuffle_ps(x, x, 1)));
}
inline float sum(Vec a) { return across(a, [](__m128 x, __m128 y) { return _mm_add_ps(x, y); }); }
inline float largest(Vec a) { return across(a, [](__m128 x, __m128 y) { return _mm_max_ps(x, y); }); }
inline Vec nearest(Vec a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline Vec scale(Vec a, Vec n) {  // n in [-126, 127]
  return a * _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23));
}
inline Vec reciprocal(Vec a) { return splat(1) / a; }
#else
#error "the hand-written loops need AVX2 with FMA or AVX-512: build without WEFT_BENCH"
#endif

// e^x for x in [-87, 88], about 3 ulp: x = n ln 2 + r, a polynomial of r in [-0.35, 0.35], times 2^n.
inline Vec exp(Vec x) {
  const Vec n = nearest(x * splat(1.44269504f));
  const Vec r = fma(n, splat(-1.42860677e-6f), fma(n, splat(-0.693145752f), x));
  Vec p = splat(1.38888889e-3f);  // 1/6!
  for (float c : {8.33333333e-3f, 4.16666667e-2f, 1.66666667e-1f, 0.5f, 1.0f, 1.0f}) p = fma(p, r, splat(c));
  return scale(p, n);
}
inline Vec clamp(Vec x, float bound) { return -max(-max(x, splat(-bound)), splat(-bound)); }
inline Vec sigmoid(Vec x) { return reciprocal(splat(1) + exp(clamp(-x, 87))); }
// log(1 + e^x) = max(x, 0) + log1p(u), u = e^-|x| in [0, 1]; log1p(u) = 2 atanh(u / (2 + u)).
inline Vec softplus(Vec x) {
  const Vec u = exp(max(-abs(x), splat(-87)));
  const Vec s = u * reciprocal(splat(2) + u), q = s * s;
  Vec p = splat(1.0f / 15);
  for (float c : {1.0f / 13, 1.0f / 11, 1.0f / 9, 1.0f / 7, 1.0f / 5, 1.0f / 3, 1.0f}) p = fma(p, q, splat(c));
  return fma(s + s, p, max(x, splat(0)));
}

}  // namespace bench
