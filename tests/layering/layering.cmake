# A wrong-direction include must not compile: runtime sees neither graph nor compiler, graph does not see compiler.

set(sources ${SOURCE}/tests/layering)
set(flags -std=c++20 -fsyntax-only)
foreach(folder ${EIGEN})
  list(APPEND flags -isystem ${folder})
endforeach()

# expect(text source layers...): compiling `source` with the include folders of `layers` ends as `text` says.
function(expect text source)
  set(includes)
  foreach(layer ${ARGN})
    list(APPEND includes -I${SOURCE}/${layer}/include)
  endforeach()
  execute_process(COMMAND ${COMPILER} ${flags} ${includes} ${sources}/${source}
    RESULT_VARIABLE status ERROR_VARIABLE messages OUTPUT_QUIET)
  if(text STREQUAL "compiles" AND NOT status EQUAL 0)
    message(FATAL_ERROR "${source} should compile with the headers of: ${ARGN}\n${messages}")
  elseif(text STREQUAL "fails" AND status EQUAL 0)
    message(FATAL_ERROR "${source} compiled with the headers of: ${ARGN}; a layer reaches upwards")
  elseif(text STREQUAL "fails" AND NOT messages MATCHES "weft/[a-z]+\\.h")
    message(FATAL_ERROR "${source} failed for another reason than a missing weft header:\n${messages}")
  endif()
endfunction()

expect(compiles uses_runtime.cpp runtime)
expect(fails uses_graph.cpp runtime)
expect(compiles uses_graph.cpp runtime graph)
expect(fails uses_compiler.cpp runtime graph)

# Each public header compiles alone and sees only its own layer and those below.
set(below)
foreach(layer runtime graph compiler)
  list(APPEND below ${layer})
  file(GLOB headers RELATIVE ${SOURCE}/${layer}/include ${SOURCE}/${layer}/include/weft/*.h)
  foreach(header ${headers})
    file(WRITE ${WORK}/alone.cpp "#include <${header}>\n#include <${header}>\n")
    set(includes)
    foreach(folder ${below})
      list(APPEND includes -I${SOURCE}/${folder}/include)
    endforeach()
    execute_process(COMMAND ${COMPILER} ${flags} ${includes} ${WORK}/alone.cpp
      RESULT_VARIABLE status ERROR_VARIABLE messages OUTPUT_QUIET)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "${layer}/include/${header} does not compile alone with the headers of: ${below}\n${messages}")
    endif()
  endforeach()
endforeach()
