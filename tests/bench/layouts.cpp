// Folds of doubles, thin axes, transposes, images, scans.
#include <cmath>

#include "tools.h"

namespace bench {
namespace {

constexpr Index thin = 4 << 20;
constexpr Index height = 2160, width = 3840;

template <class T> Workload row_sums() {
  const Array x = random<T>({rows, columns}, 0, 1), out = buffer<T>({rows});
  return {"row sums f64", compiler({{"n", "d"}}, [](const Exprs& in) { return Exprs{sum(in[0], 1)}; }, dtype_of<T>), {x}, {out}, nullptr,
          [=] { line<T>(out) = matrix<T>(x).rowwise().sum(); }, 1e-13};
}
template <class T> Workload column_sums() {
  const Array x = random<T>({rows, columns}, 0, 1), out = buffer<T>({columns});
  return {"column sums f64", compiler({{"n", "d"}}, [](const Exprs& in) { return Exprs{sum(in[0], 0)}; }, dtype_of<T>), {x}, {out}, nullptr,
          [=] { row_line<T>(out) = matrix<T>(x).colwise().sum(); }, 1e-13};
}
template <class T> Workload squared_distance() {
  const Array x = random<T>({rows, columns}, 0, 1), y = random<T>({rows, columns}, 1, 3), out = buffer<T>({});
  return {"sum of (x-y)^2 f64", compiler({{"n", "d"}, {"n", "d"}}, [](const Exprs& in) { return Exprs{sum(square(in[0] - in[1]))}; }, dtype_of<T>), {x, y}, {out}, nullptr,
          [=] { *at<T>(out) = (line<T>(x) - line<T>(y)).square().sum(); }, 1e-12};
}

template <class T> Workload thin_rows() {
  const Array x = random<T>({thin, 4}), out = buffer<T>({thin});
  return {sizeof(T) == 4 ? "row sums 4Mi x 4" : "row sums f64 4Mi x 4", compiler({{"n", 4}}, [](const Exprs& in) { return Exprs{sum(in[0], 1)}; }, dtype_of<T>), {x}, {out}, nullptr,
          [=] { line<T>(out) = matrix<T>(x).rowwise().sum(); }};
}
template <class T> Workload thin_columns() {
  const Array x = random<T>({4, thin}), out = buffer<T>({thin});
  return {sizeof(T) == 4 ? "column sums 4 x 4Mi" : "column sums f64 4 x 4Mi", compiler({{4, "n"}}, [](const Exprs& in) { return Exprs{sum(in[0], 0)}; }, dtype_of<T>), {x}, {out}, nullptr,
          [=] {
            const auto in = matrix<T>(x);
            row_line<T>(out) = (in.row(0) + in.row(1)) + (in.row(2) + in.row(3));
          }};
}

Workload transposed_sum() {
  const Array x = random({square_side, square_side}), y = random({square_side, square_side}), out = buffer({square_side, square_side});
  return {"x^T + y 4096^2", compiler({{"n", "m"}, {"m", "n"}}, [](const Exprs& in) { return Exprs{transpose(in[0]) + in[1]}; }), {x, y}, {out}, nullptr,
          [=] { matrix(out) = matrix(x).transpose() + matrix(y); }};
}
Workload transposed() {
  const Array x = random({square_side, square_side}), out = buffer({square_side, square_side});
  return {"2 x^T 4096^2", compiler({{"n", "m"}}, [](const Exprs& in) { return Exprs{2 * transpose(in[0])}; }), {x}, {out}, nullptr, [=] { matrix(out) = 2.0f * matrix(x).transpose(); }};
}

Workload channel_gains() {
  const Array x = random({height, width, 3}), gain = random({3}), bias = random({3}), out = buffer({height, width, 3});
  return {"image * gain + bias", compiler({{"h", "w", 3}, {3}, {3}}, [](const Exprs& in) { return Exprs{in[0] * in[1] + in[2]}; }), {x, gain, bias}, {out}, nullptr,
          [=] {
            RowsOf<float>(at(out), height * width, 3) = (RowsOf<float>(at(x), height * width, 3).rowwise() * row_line(gain)).rowwise() + row_line(bias);
          }};
}

Workload tone_map() {
  const Array x = random<std::uint8_t>({height, width, 3}, 0, 255), out = buffer<std::uint8_t>({height, width, 3}), gain = random({3}, 230, 250), bias = random({3}, 2, 4);
  const auto compile = [](const Options& options) {
    Graph g;
    const Expr image = g.input("image", DType::u8, {"h", "w", 3}), gains = g.input("gain", f32, {3}), biases = g.input("bias", f32, {3});
    const Expr toned = pow(cast(image, f32) / 255.0, 2.2) * gains + biases;
    return weft::compile({cast(minimum(floor(toned + 0.5), 255.0), DType::u8)}, {image, gains, biases}, options);
  };
  return {"u8 image tone map", compile, {x, gain, bias}, {out}, nullptr,
          [=] {
            const auto *from = at<std::uint8_t>(x);
            auto* to = at<std::uint8_t>(out);
            for (Index i = 0; i < height * width * 3; ++i) {
              const float toned = std::pow(static_cast<float>(from[i]) / 255.0f, 2.2f) * at(gain)[i % 3] + at(bias)[i % 3];
              to[i] = static_cast<std::uint8_t>(std::min(std::floor(toned + 0.5f), 255.0f));
            }
          }, 4e-3};
}

Workload running_sums() {
  const Array x = random({rows, columns}, 0, 1), out = buffer({rows, columns});
  return {"running sums of rows", compiler({{"n", "d"}}, [](const Exprs& in) { return Exprs{cumulative_sum(in[0], 1)}; }), {x}, {out}, nullptr,
          [=] {
            for (Index i = 0; i < rows; ++i) {
              float sum = 0;
              for (Index j = 0; j < columns; ++j) at(out)[i * columns + j] = sum += at(x)[i * columns + j];
            }
          }};
}

Workload variance() {
  const Array x = random({rows, columns}), out = buffer({columns});
  return {"variance of columns", compiler({{"n", "d"}}, [](const Exprs& in) { return Exprs{var(in[0], 0)}; }), {x}, {out}, nullptr,
          [=] {
            const auto in = matrix(x);
            const Eigen::Array<float, 1, Eigen::Dynamic> mean = in.colwise().mean();
            row_line(out) = (in.rowwise() - mean).square().colwise().mean();
          }, 1e-4};
}

}  // namespace

std::vector<Entry> layout_workloads() {
  return {{"row sums f64", row_sums<double>},
          {"column sums f64", column_sums<double>},
          {"sum of (x-y)^2 f64", squared_distance<double>},
          {"row sums 4Mi x 4", thin_rows<float>},
          {"row sums f64 4Mi x 4", thin_rows<double>},
          {"column sums 4 x 4Mi", thin_columns<float>},
          {"column sums f64 4 x 4Mi", thin_columns<double>},
          {"variance of columns", variance},
          {"x^T + y 4096^2", transposed_sum},
          {"2 x^T 4096^2", transposed},
          {"image * gain + bias", channel_gains},
          {"u8 image tone map", tone_map},
          {"running sums of rows", running_sums}};
}

}  // namespace bench
