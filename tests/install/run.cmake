# Installs the build into a temporary folder and moves this folder. Then builds and runs consumers, with find_package()
# and with pkg-config.
#
# cmake -DBUILD=... -DCONFIG_FLAGS=... -DFIXTURES=... -DWORK=... [-DNVCC=...] -P run.cmake
function(run)
    cmake_parse_arguments(PARSE_ARGV 0 run "" "EXPECT" "COMMAND")
    execute_process(COMMAND ${run_COMMAND} OUTPUT_VARIABLE output ERROR_VARIABLE errors
                    RESULT_VARIABLE result OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "${run_COMMAND}: ${result}\n${output}\n${errors}")
    endif()
    if(run_EXPECT AND NOT output STREQUAL run_EXPECT)
        message(FATAL_ERROR "${run_COMMAND} printed\n${output}\nnot\n${run_EXPECT}")
    endif()
    set(output ${output} PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/prefix)

file(READ ${CMAKE_CURRENT_LIST_DIR}/../../docs/embedding.md page)
string(REGEX MATCH "```c\n([^`]*)```" program "${page}")
file(WRITE ${WORK}/page/sites.c "${CMAKE_MATCH_1}")

set(expected "same_capability block=256,vec=4,shared=65536 3")
run(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/build
    -DCMAKE_PREFIX_PATH=${WORK}/prefix -DFIXTURES=${FIXTURES} -DPAGE=${WORK}/page/sites.c "-DCMAKE_C_FLAGS=${CONFIG_FLAGS}"
    "-DCMAKE_CXX_FLAGS=${CONFIG_FLAGS}")
run(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build)
foreach(program with_shared with_static with_cpp with_c89)
    run(COMMAND ${WORK}/build/${program} ${FIXTURES}/results EXPECT ${expected})
endforeach()
run(COMMAND ${WORK}/build/with_engine EXPECT "alike two")
run(COMMAND ${WORK}/build/embedded EXPECT "exact block=256 vec=4")

# The program of the page, unchanged: the first run tunes its site, and the next run uses the decision.
foreach(mode tune use)
    run(COMMAND ${CMAKE_COMMAND} -E env --unset=AUTOTUNE_LIBCUDA AUTOTUNE_SITES=${mode}
        sh -c "cd ${WORK}/page && ${WORK}/build/page")
    if(NOT output MATCHES "^tile (4|16|64|256)$")
        message(FATAL_ERROR "the page's program printed\n${output}")
    endif()
endforeach()

# Exported kernels, in a program without any other part of autotune.
if(NVCC)
    run(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR}/consumer_cuda -B ${WORK}/build_cuda
        -DCMAKE_PREFIX_PATH=${WORK}/prefix -DFIXTURES=${FIXTURES} -DCMAKE_CUDA_COMPILER=${NVCC}
        -DCMAKE_CUDA_ARCHITECTURES=90)
    run(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build_cuda)
    run(COMMAND ${WORK}/build_cuda/embedded_cuda)
    if(NOT output MATCHES "^(no GPU|exact right)$")
        message(FATAL_ERROR "embedded_cuda printed\n${output}")
    endif()
endif()

file(GLOB_RECURSE pc ${WORK}/prefix/autotune.pc)
get_filename_component(pc_dir ${pc} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc_dir})
foreach(mode "" "--static")
    run(COMMAND pkg-config --cflags --libs ${mode} autotune)
    separate_arguments(flags UNIX_COMMAND "${output} ${CONFIG_FLAGS}")
    run(COMMAND cc -std=c11 ${CMAKE_CURRENT_LIST_DIR}/consumer/consumer.c ${flags}
        -o ${WORK}/with_pkgconfig)
    get_filename_component(lib_dir ${pc_dir} DIRECTORY)
    set(ENV{LD_LIBRARY_PATH} ${lib_dir})
    run(COMMAND ${WORK}/with_pkgconfig ${FIXTURES}/results EXPECT ${expected})
endforeach()

# The installed program must find its own files, and the library must export only its own names.
run(COMMAND ${WORK}/prefix/bin/autotune space transpose --arch sm_90 --json)
file(GLOB_RECURSE shared ${WORK}/prefix/libautotune.so)
run(COMMAND nm -D --defined-only --format=posix ${shared})
string(REGEX MATCHALL "[^\n]+" symbols "${output}")
foreach(symbol IN LISTS symbols)
    if(NOT symbol MATCHES "^(at_|_init|_fini|__asan|__ubsan|__odr_asan)")
        message(FATAL_ERROR "libautotune exports '${symbol}'")
    endif()
endforeach()
