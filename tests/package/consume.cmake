# Installs pgoutput into a folder of its own, then builds and runs the consumer against it. The
# consumer's main.cpp is the example in pgoutput/README.md. Variables: see CMakeLists.txt.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(configure source build)
  run(${CMAKE_COMMAND} -S ${source} -B ${build} -G ${GENERATOR} -D CMAKE_BUILD_TYPE=${BUILD_TYPE}
      -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
      "-DCMAKE_CXX_FLAGS=${FLAGS}" ${ARGN})
  run(${CMAKE_COMMAND} --build ${build})
endfunction()

function(write_readme_example file)
  file(READ ${PGOUTPUT_SOURCE}/README.md readme)
  string(FIND "${readme}" "```cpp\n" start)
  if(start EQUAL -1)
    message(FATAL_ERROR "pgoutput/README.md has no example")
  endif()
  string(SUBSTRING "${readme}" ${start} -1 readme)
  string(SUBSTRING "${readme}" 7 -1 readme)
  string(FIND "${readme}" "```" end)
  string(SUBSTRING "${readme}" 0 ${end} example)
  file(WRITE ${file} "${example}")
endfunction()

file(REMOVE_RECURSE ${WORK})
if(ORIGIN STREQUAL "stand_alone")
  configure(${PGOUTPUT_SOURCE} ${WORK}/pgoutput)
  run(${CMAKE_COMMAND} --install ${WORK}/pgoutput --prefix ${WORK}/prefix)
else()
  run(${CMAKE_COMMAND} --install ${WALPOST_BUILD} --component pgoutput --prefix ${WORK}/prefix)
endif()

file(COPY ${CONSUMER}/CMakeLists.txt DESTINATION ${WORK}/source)
write_readme_example(${WORK}/source/main.cpp)
configure(${WORK}/source ${WORK}/consumer -D CMAKE_PREFIX_PATH=${WORK}/prefix
          -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
execute_process(COMMAND ${WORK}/consumer/consumer OUTPUT_VARIABLE output
                COMMAND_ERROR_IS_FATAL ANY)
set(expected "insert into relation 16405: '1' 'one'\ncommit, done up to 0/1580AE0\n")
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "the example printed:\n${output}instead of:\n${expected}")
endif()
