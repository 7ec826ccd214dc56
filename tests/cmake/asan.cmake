# cmake -C tests/cmake/asan.cmake -B build-asan: finds memory errors.
include(${CMAKE_CURRENT_LIST_DIR}/clang.cmake)
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
set(CMAKE_CXX_FLAGS "-fsanitize=address -fno-omit-frame-pointer" CACHE STRING "")
