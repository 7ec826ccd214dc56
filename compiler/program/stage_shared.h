// Arrays that all rows of a unit read across their vectors, such as the weights of a layer with ten outputs: transposed into scratch, once for each unit.
//
//   parallel i in n by 1024 {                               parallel i in n by 1024 {
//                                                             serial j in 10 { lanes k { row[j,k] = w[k,j] } }
//     serial i in n within unit {                             serial i in n within unit {
//       serial j in 10 {                             ->         serial j in 10 {
//         lanes k, folds s { s += x[i,k] * w[k,j] }               lanes k, folds s { s += x[i,k] * row[j,k] }
//         ..                                                      ..
//
// A root that goes row by row gets units for it. Loops that pack what rows share are left alone. The gradient of a softmax regression of 2048 samples, 64 inputs and ten
// classes takes .6 of the time, a layer of ten outputs with its loss .57, exp(-|x - y|^2) of 512 and 512 points .72 (Zen 5).
#pragma once
#include "loop_choices.h"

namespace weft {

// The same bits. Leaves the program alone where there is nothing of the kind, or it would not stay near.
void stage_shared(Program& program, const StrideClasses& classes, const std::string& features, const Machine& machine, int threads);

}  // namespace weft
