// u8 image in, u8 image out: linear light (a gamma of 2), exposure, a filmic curve and back, computed in f32. Casts from
// float to u8 saturate, so nothing has to be clipped. Red, green and blue are treated alike: a row is 3 * width values.
// Writes tonemap.ppm: the picture before (left) and after (right).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>

#include <weft/weft.h>

namespace {

constexpr weft::Index height = 512, width = 768, row = 3 * width;

// A dim room with three lamps; `image` is [height, 3 * width].
void paint(const weft::Array& image) {
  constexpr double lamps[3][5] = {{150, 200, 1.0, 0.8, 0.5}, {260, 420, 0.6, 0.9, 1.0}, {120, 610, 1.0, 0.4, 0.4}};
  for (weft::Index i = 0; i < height; ++i)
    for (weft::Index j = 0; j < width; ++j)
      for (int channel = 0; channel < 3; ++channel) {
        const double di = static_cast<double>(i), dj = static_cast<double>(j);
        double light = 6 + 6 * std::sin(di / 9) * std::sin(dj / 9) * (i > 300 ? 1 : 0.2) + 8 * di / height;
        for (const auto& lamp : lamps)
          light += 240 * lamp[2 + channel] / (1 + (std::pow(di - lamp[0], 2) + std::pow(dj - lamp[1], 2)) / 400);
        image.at<std::uint8_t>({i, 3 * j + channel}) = static_cast<std::uint8_t>(std::clamp(light, 0.0, 255.0));
      }
}

int run() {
  weft::Graph g("tonemap");
  auto image = g.input("image", weft::u8, {"rows", "values"});
  auto exposure = g.input("exposure", weft::f32, {});
  auto light = exposure * square(cast(image, weft::f32) / 255);
  auto mapped = light * (2.51 * light + 0.03) / (light * (2.43 * light + 0.59) + 0.14);
  auto f = weft::compile({cast(round(255 * sqrt(mapped)), weft::u8)}, {image, exposure});

  // Both halves are views of one picture: the function reads the left one and writes the right one.
  weft::Array picture(weft::u8, {height, 2 * row});
  const auto before = picture.slice(1, 0, row), after = picture.slice(1, row, row);
  paint(before);
  auto call = f.bind({before, weft::Array::scalar(4.0f)}, {after});
  call();
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < 20; ++k) call();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 20;

  std::ofstream file("tonemap.ppm", std::ios::binary);
  file << "P6\n" << 2 * width << " " << height << "\n255\n";
  file.write(reinterpret_cast<const char*>(picture.data<std::uint8_t>()), picture.size());
  std::printf("tonemap.ppm: %lld x %lld pixels, compiled in %.1f ms, %.2f ns per pixel\n", static_cast<long long>(width),
              static_cast<long long>(height), f.compile_seconds() * 1e3, seconds / (height * width) * 1e9);

  // Every operation here is exactly rounded, so the reference interpreter gives the same bytes.
  const weft::Array expected = interpret(f.final_graph(), f.final_graph().outputs, f.final_graph().inputs, {before, weft::Array::scalar(4.0f)})[0];
  const bool equal = after.to_vector<std::uint8_t>() == expected.to_vector<std::uint8_t>();
  std::printf("the reference interpreter gives %s picture\n", equal ? "the same" : "another");
  return file.good() && equal ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const weft::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
