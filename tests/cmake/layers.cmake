# Helper functions of the root CMakeLists.txt: compiler flags, packages, layers, installation.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
find_program(WEFT_CCACHE ccache)
if(WEFT_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # Without the first ccache does not keep what is compiled with a precompiled header; without the second it takes a precompiled header for one
  # whose headers have other comments, in which the compiler then does not know them again: #pragma once goes by contents.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_COMMENTS=true ${WEFT_CCACHE})
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(fmt REQUIRED)
find_package(Boost 1.74 REQUIRED)

# LLVM: the newest of 22 .. 19 that is installed; LLVM_DIR chooses another.
if(NOT LLVM_DIR)
  foreach(version 22 21 20 19)
    find_package(LLVM ${version} QUIET CONFIG PATHS /usr/lib/llvm-${version}/lib/cmake/llvm NO_DEFAULT_PATH)
    if(LLVM_FOUND)
      break()
    endif()
  endforeach()
endif()
find_package(LLVM REQUIRED CONFIG)
if(LLVM_VERSION_MAJOR LESS 19)
  message(FATAL_ERROR "weft needs LLVM 19 to 22, found ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}; install llvm-22-dev or set LLVM_DIR")
endif()
message(STATUS "weft: LLVM ${LLVM_PACKAGE_VERSION}")
add_library(weft_llvm INTERFACE)
add_library(weft::llvm ALIAS weft_llvm)
target_include_directories(weft_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
if(LLVM_LINK_LLVM_DYLIB OR TARGET LLVM)
  target_link_libraries(weft_llvm INTERFACE LLVM)
else()
  llvm_map_components_to_libnames(weft_llvm_libraries orcjit native passes)
  target_link_libraries(weft_llvm INTERFACE ${weft_llvm_libraries})
endif()

# Warnings for our own code only.
add_library(weft_warnings INTERFACE)
target_compile_options(weft_warnings INTERFACE -Wall -Wextra $<$<BOOL:${WEFT_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(weft_warnings INTERFACE -Wno-restrict)  # false alarms on string + string, gcc bug 105651
endif()

# weft_precompile(target headers...): most of a cold build is reading Eigen, LLVM and the standard library again and again.
# Only what lies below the target goes in, never its own headers: those of a layer stay what its sources say they include.
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without, and finds missing includes of the others too.
function(weft_precompile target)
  target_precompile_headers(${target} PRIVATE <algorithm> <functional> <limits> <map> <memory> <optional> <set> <sstream> <string>
    <unordered_map> <variant> <vector> ${ARGN})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # The false alarms of bug 105651 by other names: string + string that is inlined from a precompiled <string>.
    target_compile_options(${target} PRIVATE -Wno-stringop-overflow -Wno-array-bounds)
  endif()
  # A time in the file would make each one new to ccache.
  target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()

# weft_compile(target directory libraries...): what the sources of a layer are compiled with, of those it exposes and the others.
function(weft_compile target directory)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${directory}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> PRIVATE ${directory})
  # Reference and generated code must agree bit for bit: the host compiler may not contract a*b+c either.
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  target_link_libraries(${target} PUBLIC ${ARGN} PRIVATE $<BUILD_INTERFACE:weft_warnings>)
endfunction()

# weft_layer(name USES public... PRIVATE private... APART folders...): the library of one layer from <name>/*.cpp, exposing only <name>/include.
# Sources of the folders apart, weft_<name>_apart, are compiled without the private libraries: they cannot include them.
function(weft_layer name)
  cmake_parse_arguments(LAYER "" "" "USES;PRIVATE;APART" ${ARGN})
  set(directory ${PROJECT_SOURCE_DIR}/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${directory}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/compiler/command/weft\\.cpp$")
  if(LAYER_APART)
    string(JOIN "|" folders ${LAYER_APART})
    set(apart ${sources})
    list(FILTER apart INCLUDE REGEX "/${name}/(${folders})/")
    list(REMOVE_ITEM sources ${apart})
    add_library(weft_${name}_apart OBJECT ${apart})
    weft_compile(weft_${name}_apart ${directory} ${LAYER_USES})
    list(APPEND sources $<TARGET_OBJECTS:weft_${name}_apart>)
  endif()
  add_library(weft_${name} ${sources})
  add_library(weft::${name} ALIAS weft_${name})
  set_target_properties(weft_${name} PROPERTIES EXPORT_NAME ${name})
  weft_compile(weft_${name} ${directory} ${LAYER_USES})
  foreach(library ${LAYER_PRIVATE})
    target_link_libraries(weft_${name} PRIVATE $<BUILD_INTERFACE:${library}>)
  endforeach()
  install(TARGETS weft_${name} EXPORT weftTargets)
  install(DIRECTORY ${directory}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endfunction()

# weft_source_hash(target directory): source_hash.h for the target, new whenever a source in the directory is.
function(weft_source_hash target directory)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${directory}/*.cpp ${PROJECT_SOURCE_DIR}/${directory}/*.h)
  set(script ${PROJECT_SOURCE_DIR}/tests/cmake/source_hash.cmake)
  set(header ${PROJECT_BINARY_DIR}/generated/source_hash.h)
  add_custom_command(OUTPUT ${header} DEPENDS ${sources} ${script}
    COMMAND ${CMAKE_COMMAND} -DDIRECTORY=${PROJECT_SOURCE_DIR}/${directory} -DOUTPUT=${header} -P ${script})
  target_sources(${target} PRIVATE ${header})
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/generated)
endfunction()

function(weft_install)
  include(CMakePackageConfigHelpers)
  install(TARGETS weft EXPORT weftTargets)
  install(EXPORT weftTargets NAMESPACE weft:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/tests/cmake/weftConfig.cmake.in
    ${PROJECT_BINARY_DIR}/weftConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/weftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/weftConfig.cmake ${PROJECT_BINARY_DIR}/weftConfigVersion.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
endfunction()
