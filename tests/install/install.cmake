# Installs weft into a fresh prefix, builds the consumer against it and runs it.

# run(what command...): stops with the output of the command if it fails; the output is left in `output`.
function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} failed:\n${text}")
  endif()
  set(output "${text}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run("installing" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run("configuring the consumer" ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE}/tests/install -B ${WORK}/build
  -D CMAKE_PREFIX_PATH=${WORK}/prefix -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_FLAGS=${FLAGS}
  -D CMAKE_BUILD_TYPE=Release -D LLVM_DIR=${LLVM_DIR})
run("building the consumer" ${CMAKE_COMMAND} --build ${WORK}/build)
run("running the consumer" ${WORK}/build/consumer)
if(NOT output STREQUAL "14 6\n")
  message(FATAL_ERROR "the consumer printed '${output}', expected '14 6'")
endif()
