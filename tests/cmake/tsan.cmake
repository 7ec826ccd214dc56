# cmake -C tests/cmake/tsan.cmake -B build-tsan: finds data races.
include(${CMAKE_CURRENT_LIST_DIR}/clang.cmake)
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
set(CMAKE_CXX_FLAGS "-fsanitize=thread -fno-omit-frame-pointer" CACHE STRING "")
