// Everything a user of weft needs: arrays, graphs, gradients, compiled functions, the reference interpreter.
#pragma once
#include <weft/array.h>
#include <weft/broadcast.h>
#include <weft/check_gradient.h>
#include <weft/elemwise.h>
#include <weft/error.h>
#include <weft/expr.h>
#include <weft/function.h>
#include <weft/grad.h>
#include <weft/graph.h>
#include <weft/interpret.h>
#include <weft/linear_algebra.h>
#include <weft/rearrange.h>
#include <weft/text.h>
#include <weft/tml.h>
#include <weft/verify.h>
#include <weft/xla.h>
