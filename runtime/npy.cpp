#include <weft/npy.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <fstream>
#include <string_view>

namespace weft {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
static_assert(std::endian::native == std::endian::little, "write_npy declares little-endian elements");

struct Row {
  DType dtype;
  std::string_view code;  // kind and bytes, as in NumPy's descr
};
constexpr Row rows[] = {{bool_, "b1"}, {i8, "i1"}, {i16, "i2"}, {i32, "i4"}, {i64, "i8"}, {u8, "u1"},
                        {u16, "u2"},   {u32, "u4"}, {u64, "u8"}, {f16, "f2"}, {f32, "f4"}, {f64, "f8"}};

// The header is a Python dict literal with three known keys: what follows 'key': .
std::string_view value_of(std::string_view header, std::string_view key, const std::string& path) {
  const std::string quoted = "'" + std::string(key) + "'";
  const auto at = header.find(quoted);
  const auto begin = at == header.npos ? at : header.find_first_not_of(": ", at + quoted.size());
  WEFT_REQUIRE(begin != header.npos, text, path, ": the header has no ", quoted);
  return header.substr(begin);
}

Dims parse_shape(std::string_view text, const std::string& path) {
  const auto end = text.find(')');
  WEFT_REQUIRE(text.starts_with("(") && end != text.npos, text, path, ": the shape is not a tuple");
  Dims shape;
  const char* at = text.data() + 1;
  const char* last = text.data() + end;
  while (at != last) {
    if (*at == ' ' || *at == ',') { ++at; continue; }
    Index extent = -1;
    const auto [next, error] = std::from_chars(at, last, extent);
    WEFT_REQUIRE(error == std::errc() && extent >= 0, text, path, ": the shape ", text.substr(0, end + 1), " is not a tuple of sizes");
    shape.push_back(extent);
    at = next;
  }
  return shape;
}

std::string read_header(std::istream& file, const std::string& path) {
  char start[8] = {};
  file.read(start, 8);
  WEFT_REQUIRE(file && std::string_view(start, 6) == magic, text, path, ": not an .npy file");
  WEFT_REQUIRE(start[6] >= 1 && start[6] <= 3, unsupported, path, ": version ", int(start[6]), " of the .npy format; 1 to 3 are known");
  unsigned char length[4] = {};
  file.read(reinterpret_cast<char*>(length), start[6] == 1 ? 2 : 4);
  const std::size_t bytes = length[0] | length[1] << 8 | length[2] << 16 | std::size_t(length[3]) << 24;
  WEFT_REQUIRE(file && bytes < (1u << 20), text, path, ": the header is damaged");
  std::string header(bytes, ' ');
  file.read(header.data(), static_cast<std::streamsize>(bytes));
  WEFT_REQUIRE(file, text, path, ": ends within the header");
  return header;
}

void swap_bytes(char* data, Index count, std::size_t size) {
  for (Index k = 0; k < count; ++k) std::reverse(data + static_cast<std::size_t>(k) * size, data + static_cast<std::size_t>(k + 1) * size);
}

}  // namespace

Array read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  WEFT_REQUIRE(file, usage, "cannot open ", path);
  const std::string header = read_header(file, path);
  const std::string_view descr = value_of(header, "descr", path);
  const std::string_view code = descr.size() > 4 ? descr.substr(2, 2) : "";
  const Row* row = std::find_if(std::begin(rows), std::end(rows), [&](const Row& each) { return each.code == code; });
  WEFT_REQUIRE(row != std::end(rows) && descr[0] == '\'' && descr[4] == '\'', unsupported, path, ": elements of type ",
               descr.substr(0, descr.find(',')), "; weft reads bool, integers and f16, f32, f64");
  const std::string by_columns(value_of(header, "fortran_order", path));
  WEFT_REQUIRE(by_columns.starts_with("True") || by_columns.starts_with("False"), text, path, ": fortran_order is neither True nor False: ", by_columns.substr(0, 20));
  const Order order = by_columns.starts_with("True") ? Order::f : Order::c;
  Array array = Array::empty(row->dtype, parse_shape(value_of(header, "shape", path), path), order);
  auto* data = static_cast<char*>(array.View::data());
  const auto bytes = static_cast<std::streamsize>(array.size()) * static_cast<std::streamsize>(size_of(row->dtype));
  file.read(data, bytes);
  WEFT_REQUIRE(file.gcount() == bytes, text, path, ": expected ", bytes, " bytes of elements, got ", file.gcount());
  if (descr[1] == '>') swap_bytes(data, array.size(), size_of(row->dtype));
  if (row->dtype == bool_) std::transform(data, data + bytes, data, [](char byte) { return char(byte != 0); });
  return array;
}

void write_npy(const std::string& path, const View& array) {
  const Row* row = std::find_if(std::begin(rows), std::end(rows), [&](const Row& each) { return each.dtype == array.dtype(); });
  WEFT_REQUIRE(row != std::end(rows), unsupported, path, ": .npy files cannot hold ", array.dtype(), "\n  cast to f32 first");
  const bool fortran = !array.is_contiguous(Order::c) && array.is_contiguous(Order::f);
  std::string shape;
  for (Index extent : array.shape()) shape += std::to_string(extent) + ",";
  std::string header = concat("{'descr': '", size_of(array.dtype()) == 1 ? '|' : '<', row->code, "', 'fortran_order': ",
                              fortran ? "True" : "False", ", 'shape': (", shape, "), }");
  header.resize((magic.size() + 4 + header.size()) / 64 * 64 + 64 - magic.size() - 4, ' ');  // elements start at a multiple of 64
  header.back() = '\n';
  WEFT_REQUIRE(header.size() < 65536, unsupported, path, ": rank ", array.rank(), " does not fit the header");
  const Array dense = array.copy(fortran ? Order::f : Order::c);
  std::ofstream file(path, std::ios::binary);                // from here on what the file held is gone
  WEFT_REQUIRE(file, usage, "cannot write ", path);
  file << magic << '\1' << '\0' << char(header.size() & 255) << char(header.size() >> 8) << header;
  file.write(static_cast<const char*>(dense.View::data()), static_cast<std::streamsize>(dense.size()) * static_cast<std::streamsize>(size_of(dense.dtype())));
  file.flush();
  WEFT_REQUIRE(file, usage, "cannot write all of ", path);
}

}  // namespace weft
