# Without a CUDA Toolkit, the build uses files that .ci/install fetched. An installed Toolkit is preferred. With
# neither, the build names the command that helps.
#   cmake -DSOURCE=<repository> -DWORK=<folder to use> -DTOOLKIT=<whether there is a Toolkit> -P fetched.cmake
file(REMOVE_RECURSE ${WORK})
file(WRITE ${WORK}/CMakeLists.txt "cmake_minimum_required(VERSION 3.24...3.25)
project(fetched LANGUAGES C)
include(${SOURCE}/tuner/cmake/Dependencies.cmake)
message(STATUS \"headers: \${CUDAToolkit_INCLUDE_DIRS}; libraries: \${CUDAToolkit_LIBRARY_DIR}\")
")

function(configure name)
    execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK} -B ${WORK}/${name} ${ARGN}
        RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
    set(status ${status} PARENT_SCOPE)
    set(text "${text}" PARENT_SCOPE)
endfunction()

set(fetched ${WORK}/build/cuda/nvidia/cu13)
set(no_toolkit -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON)

configure(nothing ${no_toolkit})
if(status EQUAL 0 OR NOT text MATCHES "run .ci/install")
    message(FATAL_ERROR "With neither a Toolkit nor what is fetched: ${text}")
endif()
file(WRITE ${fetched}/include/nvrtc.h "")
configure(fetched ${no_toolkit})
if(NOT status EQUAL 0 OR NOT text MATCHES "headers: ${fetched}/include; libraries: ${fetched}/lib")
    message(FATAL_ERROR "With what is fetched: ${text}")
endif()
if(TOOLKIT)
    configure(both)
    if(NOT status EQUAL 0 OR text MATCHES "headers: ${fetched}")
        message(FATAL_ERROR "With both: ${text}")
    endif()
endif()
