# Checks that the target `installed` makes all files that `cmake --install` copies from the build tree. Otherwise a
# file might exist only because the tests were built.
#
# cmake -DBUILD=... -DNINJA=... -P installed.cmake
execute_process(COMMAND ${NINJA} -C ${BUILD} -t query installed OUTPUT_VARIABLE made RESULT_VARIABLE result)
if(result)
    message(FATAL_ERROR "ninja does not know the target: ${result}")
endif()
file(GLOB_RECURSE scripts ${BUILD}/tuner/cmake_install.cmake)
set(count 0)
foreach(script IN LISTS scripts)
    file(READ ${script} text)
    string(REGEX MATCHALL "\"${BUILD}/(bin|lib|tuner/completions)/[^\"]+\"" copied "${text}")
    foreach(file IN LISTS copied)
        # A library's other names are links to it. All completions have one target.
        string(REPLACE "\"" "" name "${file}")
        string(REPLACE "${BUILD}/" "" name "${name}")
        string(REGEX REPLACE "^tuner/completions/.*" "tuner/completions" name "${name}")
        string(REGEX REPLACE "[.]so[.0-9]*$" ".so" name "${name}")
        string(FIND "${made}" " ${name}\n" at)
        if(at EQUAL -1)
            message(FATAL_ERROR "cmake --install copies ${name}, which the target 'installed' does not make")
        endif()
        math(EXPR count "${count} + 1")
    endforeach()
endforeach()
if(count LESS 5)
    message(FATAL_ERROR "only ${count} files of the build tree were found to be installed")
endif()
