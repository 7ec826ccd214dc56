# cmake -C tests/cmake/ubsan.cmake -B build-ubsan: finds undefined behaviour.
include(${CMAKE_CURRENT_LIST_DIR}/clang.cmake)
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
set(CMAKE_CXX_FLAGS "-fsanitize=undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer" CACHE STRING "")
