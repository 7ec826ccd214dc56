// Reads data/wdbc.csv (its README.md says what it is) and standardises the features.
#pragma once
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <weft/weft.h>

struct Samples {
  weft::Array features;  // [rows, columns] f64, each column with mean 0 and standard deviation 1
  weft::Array labels;    // [rows] f64: 0 or 1
};

// Each column minus its mean, over its population standard deviation: one small compiled function.
inline weft::Array standardise(const weft::Array& raw) {
  weft::Graph g("standardise");
  auto x = g.input("x", weft::f64, {"n", "d"});
  return weft::compile({(x - mean(x, 0)) / weft::std(x, 0)}, {x})({raw})[0];
}

inline Samples read_wdbc(const std::string& path = WEFT_EXAMPLE_DATA "/wdbc.csv") {
  std::ifstream file(path);
  weft::Index rows = 0, columns = 0;
  char comma = 0;
  std::string line;
  file >> rows >> comma >> columns;
  std::getline(file, line);  // the names of the two labels
  std::vector<double> features, labels;
  for (weft::Index row = 0; row < rows && std::getline(file, line); ++row) {
    std::istringstream cells(line);
    double value = 0;
    for (weft::Index column = 0; column < columns && cells >> value >> comma; ++column) features.push_back(value);
    if (cells >> value) labels.push_back(value);
  }
  if (rows == 0 || static_cast<weft::Index>(features.size()) != rows * columns || static_cast<weft::Index>(labels.size()) != rows)
    throw weft::Error(weft::ErrorKind::usage, "cannot read " + path + ": expected a line \"rows,columns,..\" and that many rows");
  return {standardise(weft::Array::from(features, {rows, columns})), weft::Array::from(labels)};
}
