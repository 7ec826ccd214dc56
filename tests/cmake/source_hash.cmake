# cmake -DDIRECTORY=compiler -DOUTPUT=source_hash.h -P source_hash.cmake: a header with one number for the text of all sources in the directory.
file(GLOB_RECURSE sources ${DIRECTORY}/*.cpp ${DIRECTORY}/*.h)
set(hashes "")
foreach(source ${sources})
  file(SHA256 ${source} hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 hash "${hashes}")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define WEFT_SOURCE_HASH \"${hash}\"\n" @ONLY)
