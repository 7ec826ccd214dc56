// NumPy's .npy files: one array with its dtype, shape and order.
//
//   Array x = read_npy("x.npy");
//   write_npy("y.npy", y);                  // any strides; f-contiguous arrays keep their order
//
// Reads versions 1 to 3, either byte order, every dtype of weft but bf16, which NumPy does not have.
// Errors: a file that cannot be opened or written (usage), that is not an .npy file or ends early (text), a dtype that
// weft or NumPy does not have (unsupported). Thread-safe for different files. Cost: one pass over the file.
// Source: the .npy format description of NumPy.
#pragma once
#include <string>

#include <weft/array.h>

namespace weft {

Array read_npy(const std::string& path);
void write_npy(const std::string& path, const View& array);

}  // namespace weft
