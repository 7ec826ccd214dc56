#include <weft/npy.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include "error_text.h"

using namespace weft;

namespace {

struct File {
  std::string path = (std::filesystem::temp_directory_path() / ("weft_npy_" + std::to_string(std::hash<const void*>()(this)) + ".npy")).string();
  ~File() { std::remove(path.c_str()); }
  void write(const std::string& text) const { std::ofstream(path, std::ios::binary) << text; }
  std::string read() const {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
};

// A file of version 1 with the given header, padded as NumPy does, and elements.
std::string npy(std::string header, const std::string& elements) {
  header.resize(117, ' ');
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n" + elements;
}

}  // namespace

TEST_CASE("an array of every dtype but bf16 survives writing and reading") {
  const File file;
  for (DType dtype : {bool_, i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64}) {
    CAPTURE(dtype);
    Array array(dtype, {2, 3});
    for (Index k = 0; k < 6; ++k) array.set({k / 3, k % 3}, Scalar::of(dtype, k - 2));
    write_npy(file.path, array);
    const Array back = read_npy(file.path);
    REQUIRE(back.dtype() == dtype);
    REQUIRE(back.shape() == Dims{2, 3});
    for (Index k = 0; k < 6; ++k) CHECK(back.get({k / 3, k % 3}).as_double() == array.get({k / 3, k % 3}).as_double());
  }
}

TEST_CASE("order f is kept, other strides become order c, and ranks 0 and 1 and empty arrays work") {
  const File file;
  const Array f = Array::from<float>({1, 2, 3, 4, 5, 6}, {2, 3}, Order::f);
  write_npy(file.path, f);
  CHECK(read_npy(file.path).strides() == Dims{1, 2});
  CHECK(read_npy(file.path).to_vector<float>() == f.to_vector<float>());
  const Array flipped = f.flip(1);
  write_npy(file.path, flipped);
  CHECK(read_npy(file.path).strides() == Dims{3, 1});
  CHECK(read_npy(file.path).to_vector<float>() == flipped.to_vector<float>());
  for (const Dims& shape : {Dims{}, Dims{5}, Dims{0, 4}}) {
    write_npy(file.path, Array(f64, shape));
    CHECK(read_npy(file.path).shape() == shape);
  }
}

TEST_CASE("the bytes are those NumPy writes") {
  const File file;
  write_npy(file.path, Array::from<std::int16_t>({1, 2, 3}));
  CHECK(file.read() == npy("{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }", std::string("\1\0\2\0\3\0", 6)));
}

TEST_CASE("big-endian elements are swapped") {
  const File file;
  file.write(npy("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }", std::string("\0\1\1\0", 4)));
  CHECK(read_npy(file.path).to_vector<std::int16_t>() == std::vector<std::int16_t>{1, 256});
}

TEST_CASE("what is wrong with a file is said") {
  const File file;
  CHECK(error_text([&] { read_npy(file.path); }) == "usage: cannot open " + file.path);
  file.write("hello");
  CHECK(error_text([&] { read_npy(file.path); }) == "text: " + file.path + ": not an .npy file");
  file.write(npy("{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }", ""));
  CHECK(error_text([&] { read_npy(file.path); }) ==
        "unsupported: " + file.path + ": elements of type '<c8'; weft reads bool, integers and f16, f32, f64");
  file.write(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "1234"));
  CHECK(error_text([&] { read_npy(file.path); }) == "text: " + file.path + ": expected 8 bytes of elements, got 4");
  file.write(npy("{'descr': '<f4', 'fortran_order': maybe, 'shape': (1,), }", "1234"));
  CHECK(error_text([&] { read_npy(file.path); }).find("fortran_order is neither True nor False: maybe") != std::string::npos);
  file.write(npy("{'descr': '<f4', 'fortran_order': False, }", ""));
  CHECK(error_text([&] { read_npy(file.path); }) == "text: " + file.path + ": the header has no 'shape'");
  CHECK(error_text([&] { write_npy(file.path, Array(bf16, {2})); }) ==
        "unsupported: " + file.path + ": .npy files cannot hold bf16\n  cast to f32 first");
}

TEST_CASE("what cannot be written leaves the file as it was") {
  const File file;
  file.write("what was there");
  CHECK(error_text([&] { write_npy(file.path, Array(f32, Dims(40000, 1))); }) == "unsupported: " + file.path + ": rank 40000 does not fit the header");
  CHECK(file.read() == "what was there");
}
