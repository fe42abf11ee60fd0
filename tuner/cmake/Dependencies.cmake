# Finds the dependencies of autotune. If one is missing, the configure step stops and names its package.

find_package(PkgConfig QUIET)
if(NOT PkgConfig_FOUND)
    message(FATAL_ERROR "pkg-config is missing: sudo apt-get install pkg-config")
endif()

# autotune_find(<target> <pkg-config module> <Debian package> [SHARED])
# SHARED: the library stays shared in a build with static dependencies. For tests: Debian has no static cmocka.
function(autotune_find target module package)
    pkg_check_modules(${target} QUIET ${module})
    if(NOT ${target}_FOUND)
        message(FATAL_ERROR "${module} is missing: sudo apt-get install ${package}")
    endif()
    add_library(autotune::${target} INTERFACE IMPORTED GLOBAL)
    set(libraries ${${target}_LINK_LIBRARIES})
    if(AUTOTUNE_STATIC_DEPENDENCIES AND NOT "SHARED" IN_LIST ARGN)
        list(TRANSFORM libraries REPLACE "\\.so$" ".a")
        foreach(library IN LISTS libraries)
            if(library MATCHES "\\.a$" AND NOT EXISTS ${library})
                message(FATAL_ERROR "${library} is missing (AUTOTUNE_STATIC_DEPENDENCIES is on): "
                                    "sudo apt-get install ${package}")
            endif()
        endforeach()
    endif()
    target_include_directories(autotune::${target} SYSTEM INTERFACE ${${target}_INCLUDE_DIRS})
    target_link_libraries(autotune::${target} INTERFACE ${libraries})
endfunction()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
autotune_find(lua lua5.4 liblua5.4-dev)
# The linker needs the mathematics library after a static Lua.
target_link_libraries(autotune::lua INTERFACE m)
autotune_find(jansson jansson libjansson-dev)
autotune_find(zlib zlib zlib1g-dev)
autotune_find(xxhash libxxhash libxxhash-dev)

# Only headers are used: the driver and NVRTC are opened at run time. Without a Toolkit, the headers
# that .ci/install fetched suffice.
find_package(CUDAToolkit 12.8 QUIET)
if(NOT CUDAToolkit_FOUND)
    set(fetched ${PROJECT_SOURCE_DIR}/build/cuda/nvidia/cu13)
    if(NOT EXISTS ${fetched}/include/nvrtc.h)
        message(FATAL_ERROR
            "The CUDA Toolkit, 12.8 or newer, is missing: run .ci/install, which fetches what is needed "
            "of it, or install cuda-toolkit from NVIDIA's package repository "
            "(https://developer.nvidia.com/cuda-downloads), or point CUDAToolkit_ROOT at it.")
    endif()
    message(STATUS "No CUDA Toolkit: NVRTC and headers of ${fetched}")
    set(CUDAToolkit_INCLUDE_DIRS ${fetched}/include)
    set(CUDAToolkit_LIBRARY_DIR ${fetched}/lib)
endif()
