# What users include must not cost them LLVM or Boost.Graph: look through everything <weft/weft.h> depends on, and at
# the headers that promise to be light.

# check(source forbidden includes...): no dependency of `source` matches the expression `forbidden`.
function(check source forbidden)
  set(flags -std=c++20 -M)
  foreach(folder ${EIGEN})
    list(APPEND flags -isystem ${folder})
  endforeach()
  foreach(layer runtime graph compiler)
    list(APPEND flags -I${SOURCE}/${layer}/include)
  endforeach()
  file(WRITE ${WORK}/umbrella.cpp "#include <${source}>\n")
  execute_process(COMMAND ${COMPILER} ${flags} ${WORK}/umbrella.cpp
    RESULT_VARIABLE status OUTPUT_VARIABLE found ERROR_VARIABLE messages)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "<${source}> does not preprocess:\n${messages}")
  endif()
  string(REGEX MATCHALL "[^ \n\\]+" files "${found}")
  list(FILTER files INCLUDE REGEX "${forbidden}")
  if(files)
    message(FATAL_ERROR "<${source}> includes what its users should not pay for: ${files}")
  endif()
endfunction()

check(weft/weft.h "/llvm/|/llvm-c/|/boost/graph/|/unsupported/Eigen/")
check(weft/array.h "/llvm/|/boost/|/unsupported/Eigen/|weft/eigen\\.h")
check(weft/executor.h "/llvm/|/boost/|/Eigen/")
