# cmake -C tests/cmake/clang.cmake -B build-clang: clang, every warning an error.
find_program(WEFT_CLANG NAMES clang++-22 clang++-21 clang++-20 clang++-19 clang++ REQUIRED)
set(CMAKE_CXX_COMPILER ${WEFT_CLANG} CACHE FILEPATH "")
string(REPLACE "clang++" "clang" clang_c ${WEFT_CLANG})
set(CMAKE_C_COMPILER ${clang_c} CACHE FILEPATH "")
set(WEFT_WERROR ON CACHE BOOL "")
