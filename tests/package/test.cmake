# Installs the build tree, moves the installation, and builds and runs another project against it; then makes the Debian package,
# installs it into a folder, and runs what lies there.
function(step)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGV}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# expect(REGEX): the last step printed that.
function(expect regex)
  if(NOT output MATCHES "${regex}")
    message(FATAL_ERROR "${regex} is not in\n${output}")
  endif()
endfunction()

# runs(USR): the tool in that folder runs the examples that lie there, alone and, where it was built for that, on two ranks.
function(runs usr)
  step(${usr}/bin/tidegate --version)
  expect("^tidegate ${VERSION}\n$")
  set(program ${usr}/share/doc/tidegate/examples/programs/reduction/program.json)
  step(${usr}/bin/tidegate run ${program} --strategy plain)
  expect("\"status\": \"done\"")
  if(MPI) # the module lies where the binary looks for it
    step(mpirun --oversubscribe --allow-run-as-root -n 2 ${usr}/bin/tidegate run ${program} --set verify-first=no)
    expect("\"rank\": 1")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
step(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/first)
file(STRINGS ${BUILD_DIR}/install_manifest.txt installed)
list(FILTER installed EXCLUDE REGEX "^${WORK_DIR}/first/")
if(installed)
  message(FATAL_ERROR "installed outside of the prefix: ${installed}")
endif()
file(RENAME ${WORK_DIR}/first ${WORK_DIR}/moved)
runs(${WORK_DIR}/moved)
step(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/consumer -B ${WORK_DIR}/build -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DCMAKE_PREFIX_PATH=${WORK_DIR}/moved)
step(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
step(${WORK_DIR}/build/consumer)
expect("{\"kind\":\"launch_recommendation\"")

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

step(dpkg-deb --field ${packages} Version Depends)
expect("Version: ${VERSION}\n")
expect("Depends: .*libc6.*ocl-icd-libopencl1")
# The folder has the state of this machine: dpkg refuses the package where something is missing on which it depends.
set(state ${WORK_DIR}/root/var/lib/dpkg)
file(MAKE_DIRECTORY ${state}/updates ${state}/info ${WORK_DIR}/bin)
file(COPY /var/lib/dpkg/status DESTINATION ${state})
file(CREATE_LINK /bin/true ${WORK_DIR}/bin/ldconfig SYMBOLIC) # the package's script would change this machine's cache
set(dpkg ${CMAKE_COMMAND} -E env PATH=${WORK_DIR}/bin:$ENV{PATH} dpkg --force-not-root --force-bad-path --force-script-chrootless
  --root=${WORK_DIR}/root --log=${WORK_DIR}/dpkg.log)
step(${dpkg} --install ${packages})
set(usr ${WORK_DIR}/root/usr)
file(GLOB_RECURSE libraries ${usr}/lib/*libtidegate_core.a)
foreach(file IN LISTS libraries ITEMS
    ${usr}/include/tidegate/core/error.hpp
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
if(tried OR NOT libraries)
  message(FATAL_ERROR "the package holds outputs (${tried}), or no libraries (${libraries})")
endif()
runs(${usr})
step(${dpkg} --remove tidegate)
if(EXISTS ${usr}/bin)
  message(FATAL_ERROR "the package leaves ${usr}/bin behind")
endif()
