# Makes the Debian package, takes it apart into a folder, and runs what lies there.
function(step)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGV}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
# Outputs of examples that were tried in the source folder are no part of the package.
set(outputs programs/heat/tried.npy programs/image/tried.raw graphs/tried.npy)
foreach(file IN LISTS outputs)
  file(WRITE ${SOURCE_DIR}/examples/${file} "")
endforeach()
execute_process(COMMAND ${CPACK} --config ${BUILD_DIR}/CPackConfig.cmake -G DEB -B ${WORK_DIR} RESULT_VARIABLE result
  OUTPUT_VARIABLE output ERROR_VARIABLE output)
foreach(file IN LISTS outputs)
  file(REMOVE ${SOURCE_DIR}/examples/${file})
endforeach()
if(NOT result EQUAL 0)
  message(FATAL_ERROR "cpack failed (${result}):\n${output}")
endif()
file(GLOB packages ${WORK_DIR}/*.deb)
list(LENGTH packages count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "cpack made ${count} packages: ${packages}")
endif()

step(dpkg-deb --field ${packages} Version Depends Recommends)
if(NOT output MATCHES "Version: ${VERSION}\n" OR NOT output MATCHES "Depends: .*libc6")
  message(FATAL_ERROR "the package says\n${output}")
endif()

step(dpkg-deb -x ${packages} ${WORK_DIR}/root)
set(usr ${WORK_DIR}/root/usr)
file(GLOB_RECURSE libraries ${usr}/lib/*libtidegate_core.a)
foreach(file IN LISTS libraries ITEMS
    ${usr}/include/tidegate/core/error.hpp
    ${usr}/share/man/man1/tidegate.1
    ${usr}/share/bash-completion/completions/tidegate
    ${usr}/share/zsh/site-functions/_tidegate
    ${usr}/share/fish/vendor_completions.d/tidegate.fish
    ${usr}/share/tidegate/schemas/wave_program.schema.json
    ${usr}/share/doc/tidegate/README.md)
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "the package lacks ${file}")
  endif()
endforeach()
file(GLOB_RECURSE tried ${usr}/share/doc/tidegate/examples/tried.*)
if(tried)
  message(FATAL_ERROR "the package holds outputs: ${tried}")
endif()
if(NOT libraries)
  message(FATAL_ERROR "the package holds no libraries")
endif()

step(${usr}/bin/tidegate --version)
if(NOT output STREQUAL "tidegate ${VERSION}\n")
  message(FATAL_ERROR "the binary says ${output}, the package ${VERSION}")
endif()
step(${usr}/bin/tidegate recommend ${usr}/share/doc/tidegate/examples/bfs_wave.json)
step(${usr}/bin/tidegate run --dry-run ${usr}/share/doc/tidegate/examples/programs/heat/program.json)
if(NOT output MATCHES "\"status\": \"planned\"")
  message(FATAL_ERROR "the example was not planned: ${output}")
endif()
if(MPI) # the module lies where the binary looks for it
  step(mpirun --oversubscribe --allow-run-as-root -n 2 ${usr}/bin/tidegate run
    ${usr}/share/doc/tidegate/examples/programs/heat/program.json --set verify-first=no)
  if(NOT output MATCHES "\"rank\": 1")
    message(FATAL_ERROR "two ranks report: ${output}")
  endif()
endif()
