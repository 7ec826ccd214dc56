#pragma once
// Tables for the reduction of log2: c is the middle of one of sixteen parts of [0.75, 1.5), by the first four fraction bits.
namespace weft::vecmath {

// 1/c in at most six bits; log2(c) in two parts, the first a multiple of 2^-14 or 2^-42.
inline constexpr double inverse_table[16] = {
    1.0, 0.90625, 0.875, 0.8125, 0.78125, 0.75, 0.71875, 0.6875, 1.3125, 1.25, 1.1875, 1.1875, 1.125, 1.0625, 1.0625, 1.0};
inline constexpr double log2_high_f32[16] = {
    0, 0x1.22ep-3, 0x1.8a8p-3, 0x1.32cp-2, 0x1.6cbp-2, 0x1.a9p-2, 0x1.e7ep-2, 0x1.14c8p-1, -0x1.91cp-2, -0x1.49ap-2,
     -0x1.fbcp-3, -0x1.fbcp-3, -0x1.5cp-3, -0x1.664p-4, -0x1.664p-4, 0};
inline constexpr double log2_low_f32[16] = {
    0, -0x1.48f554p-17, 0x1.30158p-16, -0x1.1c8f12p-22, 0x1.ed0cbap-19, -0x1.a39fbep-20, -0x1.40358ep-19, -0x1.4f80ccp-16,
     0x1.15db84p-16, -0x1.e12f34p-16, -0x1.6b9026p-19, -0x1.6b9026p-19, -0x1.a39fbep-19, 0x1.20a6dep-21, 0x1.20a6dep-21, 0};
inline constexpr double log2_high_f64[16] = {
    0, 0x1.22dadc2ab4p-3, 0x1.8a8980abfcp-3, 0x1.32bfee370fp-2, 0x1.6cb0f6865dp-2, 0x1.a8ff971811p-2, 0x1.e7df5fe539p-2,
     0x1.14c560fe688p-1, -0x1.91bba891f1p-2, -0x1.49a784bcd2p-2, -0x1.fbc16b9026p-3, -0x1.fbc16b9026p-3, -0x1.5c01a39fbep-3,
     -0x1.663f6fac9p-4, -0x1.663f6fac9p-4, 0};
inline constexpr double log2_low_f64[16] = {
    0, -0x1.6d25a5b8a19b2p-44, -0x1.66cccab240e9p-46, -0x1.979a5db68721dp-46, -0x1.c57f2495fb7fap-44,
     -0x1.6879fa00b120ap-44, -0x1.532c412ba94dbp-44, 0x1.7c407050799bfp-44, -0x1.c22d2cad415aep-44, 0x1.1d406db502403p-44,
     -0x1.0144751b3314fp-44, -0x1.0144751b3314fp-44, 0x1.2f0c0bfe9dbecp-44, -0x1.3167ccc538261p-44, -0x1.3167ccc538261p-44,
     0};

}  // namespace weft::vecmath
