#include "hand.h"
#include "tools.h"

namespace bench {
namespace {

constexpr Index samples = 100000, features = 64;

Workload axpy(const std::string& name, Index size) {
  const Array x = random({size}), y = random({size}), out = buffer({size});
  return {name, compiler({{"n"}, {"n"}}, [](const Exprs& in) { return Exprs{1.5 * in[0] + in[1]}; }), {x, y}, {out},
          [=](const Team& team) {
            if (size < (1 << 15)) return hand::axpy(at(x), at(y), at(out), 0, size, false);  // less than waking a thread costs
            team.split(size, 64, [&](Index, Index begin, Index end) { hand::axpy(at(x), at(y), at(out), begin, end, size > (1 << 23)); });
          },
          [=] { line(out) = 1.5f * line(x) + line(y); }};
}

Workload polynomial() {
  const Index size = 1 << 18;
  const Array x = random({size}, -1, 1), out = buffer({size});
  auto graph = [](const Exprs& in) {
    Expr p = 0.9 * in[0] + 0.8;
    for (double c : {0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1}) p = p * in[0] + c;
    return Exprs{p};
  };
  return {"polynomial 256Ki", compiler({{"n"}}, graph), {x}, {out},
          [=](const Team& team) { team.split(size, 64, [&](Index, Index begin, Index end) { hand::polynomial(at(x), at(out), begin, end); }); },
          [=] {
            const auto v = line(x);
            line(out) = ((((((((0.9f * v + 0.8f) * v + 0.7f) * v + 0.6f) * v + 0.5f) * v + 0.4f) * v + 0.3f) * v + 0.2f) * v + 0.1f);
          }};
}

Workload sigmoid_tanh() {
  const Index size = 1 << 20;
  const Array x = random({size}, -6, 6), y = random({size}), out = buffer({size});
  return {"sigmoid(x)*tanh(y) 1Mi", compiler({{"n"}, {"n"}}, [](const Exprs& in) { return Exprs{sigmoid(in[0]) * tanh(in[1])}; }), {x, y}, {out},
          [=](const Team& team) { team.split(size, 64, [&](Index, Index begin, Index end) { hand::sigmoid_tanh(at(x), at(y), at(out), begin, end); }); },
          [=] { line(out) = line(x).logistic() * line(y).tanh(); }};
}

Workload row_broadcast() {
  const Array x = random({rows, columns}), w = random({columns}), b = random({columns}), out = buffer({rows, columns});
  return {"x[n,d]*w[d]+b[d]", compiler({{"n", "d"}, {"d"}, {"d"}}, [](const Exprs& in) { return Exprs{in[0] * in[1] + in[2]}; }), {x, w, b}, {out},
          [=](const Team& team) {
            team.split(rows, 4, [&](Index, Index begin, Index end) { hand::row_broadcast(at(x), at(w), at(b), at(out), columns, begin, end); });
          },
          [=] { matrix(out) = (matrix(x).rowwise() * row_line(w)).rowwise() + row_line(b); }};
}

Workload column_broadcast() {
  const Array x = random({rows, columns}), w = random({rows}), b = random({rows}), out = buffer({rows, columns});
  auto graph = [](const Exprs& in) { return Exprs{in[0] * expand_dims(in[1], 1) + expand_dims(in[2], 1)}; };
  return {"x[n,d]*w[n]+b[n]", compiler({{"n", "d"}, {"n"}, {"n"}}, graph), {x, w, b}, {out},
          [=](const Team& team) {
            team.split(rows, 1, [&](Index, Index begin, Index end) { hand::column_broadcast(at(x), at(w), at(b), at(out), columns, begin, end); });
          },
          [=] { matrix(out) = (matrix(x).colwise() * line(w)).colwise() + line(b); }};
}

Workload row_sums() {
  const Array x = random({rows, columns}, 0, 1), out = buffer({rows});
  return {"row sums", compiler({{"n", "d"}}, [](const Exprs& in) { return Exprs{sum(in[0], 1)}; }), {x}, {out},
          [=](const Team& team) { team.split(rows, 16, [&](Index, Index begin, Index end) { hand::row_sums(at(x), at(out), columns, begin, end); }); },
          [=] { line(out) = matrix(x).rowwise().sum(); }};
}

Workload column_sums() {
  const Array x = random({rows, columns}, 0, 1), out = buffer({columns}), parts = buffer({64, columns});
  return {"column sums", compiler({{"n", "d"}}, [](const Exprs& in) { return Exprs{sum(in[0], 0)}; }), {x}, {out},
          [=](const Team& team) {
            team.split(rows, 8, [&](Index part, Index begin, Index end) { hand::column_sums(at(x), at(parts) + part * columns, columns, begin, end); });
            hand::column_sums(at(parts), at(out), columns, 0, team.threads());
          },
          [=] { row_line(out) = matrix(x).colwise().sum(); }};
}

Workload squared_distance() {
  const Array x = random({rows, columns}, 0, 1), y = random({rows, columns}, 1, 3), out = buffer({});
  return {"sum of (x-y)^2", compiler({{"n", "d"}, {"n", "d"}}, [](const Exprs& in) { return Exprs{sum(square(in[0] - in[1]))}; }), {x, y}, {out},
          [=](const Team& team) {
            std::vector<float> parts(static_cast<std::size_t>(team.threads()));
            team.split(rows * columns, 128, [&](Index part, Index begin, Index end) {
              parts[static_cast<std::size_t>(part)] = hand::squared_distance(at(x), at(y), begin, end);
            });
            *at(out) = 0;
            for (float part : parts) *at(out) += part;
          },
          [=] { *at(out) = (line(x) - line(y)).square().sum(); }, 1e-3};
}

Workload softmax_rows() {
  const Array x = random({rows, columns}, -5, 5), out = buffer({rows, columns});
  return {"softmax rows", compiler({{"n", "d"}}, [](const Exprs& in) { return Exprs{softmax(in[0], 1)}; }), {x}, {out},
          [=](const Team& team) { team.split(rows, 1, [&](Index, Index begin, Index end) { hand::softmax(at(x), at(out), columns, begin, end); }); },
          [=] {
            const auto in = matrix(x);
            auto result = matrix(out);
            for (Index i = 0; i < rows; ++i) {  // row by row stays in the cache: the best Eigen does
              result.row(i) = (in.row(i) - in.row(i).maxCoeff()).exp();
              result.row(i) *= 1 / result.row(i).sum();
            }
          }};
}

Workload layer_norm_rows() {
  const Array x = random({rows, columns}), gamma = random({columns}), beta = random({columns}), out = buffer({rows, columns});
  auto graph = [](const Exprs& in) { return Exprs{layer_norm(in[0], in[1], in[2])}; };
  return {"layer norm rows", compiler({{"n", "d"}, {"d"}, {"d"}}, graph), {x, gamma, beta}, {out},
          [=](const Team& team) {
            team.split(rows, 1, [&](Index, Index begin, Index end) { hand::layer_norm(at(x), at(gamma), at(beta), at(out), columns, begin, end); });
          },
          [=] {
            const auto in = matrix(x);
            auto result = matrix(out);
            for (Index i = 0; i < rows; ++i) {
              const float mean = in.row(i).mean(), variance = (in.row(i) - mean).square().mean();
              result.row(i) = (in.row(i) - mean) * (1 / std::sqrt(variance + 1e-5f)) * row_line(gamma) + row_line(beta);
            }
          }};
}

Workload logistic() {
  const Array x = random({samples, features}), y = buffer({samples}), w = random({features}, -0.2f, 0.2f), b = random({});
  for (Index i = 0; i < samples; ++i) at(y)[i] = static_cast<float>(i % 3 == 0);
  const Array loss = buffer({}), gradient = buffer({features}), bias = buffer({}), parts = buffer({64, features});
  auto graph = [](const Exprs& in) {
    const Expr z = sum(in[0] * in[2], 1) + in[3], loss = mean(softplus(z) - in[1] * z);
    const Exprs slopes = grad(loss, {in[2], in[3]});
    return Exprs{loss, slopes[0], slopes[1]};
  };
  const float scale = 1 / static_cast<float>(samples);
  return {"logistic loss, gradient", compiler({{"n", "d"}, {"n"}, {"d"}, {}}, graph), {x, y, w, b}, {loss, gradient, bias},
          [=](const Team& team) {
            std::vector<hand::Sums> sums(static_cast<std::size_t>(team.threads()));
            team.split(samples, 16, [&](Index part, Index begin, Index end) {
              sums[static_cast<std::size_t>(part)] = hand::logistic(at(x), at(y), at(w), *at(b), at(parts) + part * features, begin, end);
            });
            *at(loss) = *at(bias) = 0;
            for (const auto& each : sums) *at(loss) += each.loss * scale, *at(bias) += each.residual * scale;
            hand::column_sums(at(parts), at(gradient), features, 0, team.threads());
            for (Index j = 0; j < features; ++j) at(gradient)[j] *= scale;
          },
          [=] {
            const auto in = matrix(x).matrix();
            const Eigen::ArrayXf z = (in * line(w).matrix()).array() + *at(b);
            const Eigen::ArrayXf residual = (z.logistic() - line(y)) * scale;
            *at(loss) = (z.max(0.0f) + (-z.abs()).exp().log1p() - line(y) * z).mean();
            *at(bias) = residual.sum();
            line(gradient).matrix().noalias() = in.transpose() * residual.matrix();
          }, 1e-4};
}

}  // namespace

std::vector<Entry> workloads() {
  std::vector<Entry> all{
          {"axpy 4Ki", [] { return axpy("axpy 4Ki", 1 << 12); }},
          {"axpy 256Ki", [] { return axpy("axpy 256Ki", 1 << 18); }},
          {"axpy 16Mi", [] { return axpy("axpy 16Mi", 1 << 24); }},
          {"polynomial 256Ki", polynomial},
          {"sigmoid(x)*tanh(y) 1Mi", sigmoid_tanh},
          {"x[n,d]*w[d]+b[d]", row_broadcast},
          {"x[n,d]*w[n]+b[n]", column_broadcast},
          {"row sums", row_sums},
          {"column sums", column_sums},
          {"sum of (x-y)^2", squared_distance},
          {"softmax rows", softmax_rows},
          {"layer norm rows", layer_norm_rows},
          {"logistic loss, gradient", logistic}};
  for (const auto& more : {elementwise_workloads(), layout_workloads(), gradient_workloads()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace bench
