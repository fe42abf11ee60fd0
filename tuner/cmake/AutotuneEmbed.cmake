# autotune_embed(<target> PATTERN <name> [FORMAT header|cuda] [SCRIPT <file>] [RESULTS <folder>]
#                [OVER <variable>=<value>,<value>...]...)
#
# Gives <target> the header <autotune/<name>.h>, written by 'autotune export': the recorded
# configurations of a pattern and a function that picks one. With FORMAT cuda, the kernels are compiled
# into <target>, and autotune_<name>_launch() launches them. The header is written again when a record or
# the script changes.
#
# PATTERN  name of the pattern
# FORMAT   header, or cuda (which needs the language CUDA)
# SCRIPT   its script or kernel file, if it is not an installed one
# RESULTS  folder of records; default: those installed with autotune
# OVER     for FORMAT cuda: further problems that get kernels, beside the recorded ones
if(CMAKE_SCRIPT_MODE_FILE) # a step of the build: is the header that of the pattern?
    file(STRINGS ${HEADER} guard REGEX "^#ifndef AUTOTUNE_EXPORTED_")
    if(guard MATCHES "AUTOTUNE_EXPORTED_(.*)_h" AND NOT CMAKE_MATCH_1 STREQUAL PATTERN)
        file(REMOVE ${HEADER})
        message(FATAL_ERROR "autotune_embed: ${SCRIPT} is the pattern ${CMAKE_MATCH_1}: write PATTERN ${CMAKE_MATCH_1}")
    endif()
    return()
endif()

function(autotune_embed target)
    cmake_parse_arguments(PARSE_ARGV 1 embed "" "PATTERN;FORMAT;SCRIPT;RESULTS" "OVER")
    if(NOT embed_PATTERN OR embed_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "autotune_embed(${target}): write PATTERN and a name, and optionally "
                            "FORMAT, SCRIPT, RESULTS and OVER")
    endif()
    if(NOT embed_FORMAT)
        set(embed_FORMAT header)
    endif()
    if(NOT embed_FORMAT MATCHES "^(header|cuda)$")
        message(FATAL_ERROR "autotune_embed(${target}): FORMAT is '${embed_FORMAT}', but must be header or cuda")
    endif()
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if(embed_FORMAT STREQUAL "cuda" AND NOT "CUDA" IN_LIST languages)
        message(FATAL_ERROR "autotune_embed(${target}): FORMAT cuda needs project(... LANGUAGES CUDA)")
    endif()
    set(script ${embed_PATTERN})
    set(depends ${autotune_PROGRAM})
    if(embed_SCRIPT)
        get_filename_component(script ${embed_SCRIPT} ABSOLUTE)
        if(NOT EXISTS ${script})
            message(FATAL_ERROR "autotune_embed(${target}): there is no SCRIPT ${script}")
        endif()
        list(APPEND depends ${script})
    endif()
    set(results ${autotune_RESULTS})
    if(embed_RESULTS)
        get_filename_component(results ${embed_RESULTS} ABSOLUTE)
    endif()
    file(GLOB records CONFIGURE_DEPENDS ${results}/*/${embed_PATTERN}.json)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/autotune_embed)
    set(header ${folder}/autotune/${embed_PATTERN}.h)
    set(made ${header})
    set(output ${header})
    if(embed_FORMAT STREQUAL "cuda")
        set(output ${folder}/autotune/${embed_PATTERN}.cu)
        list(APPEND made ${output})
    endif()
    set(over)
    foreach(variable IN LISTS embed_OVER)
        list(APPEND over --over ${variable})
    endforeach()
    file(MAKE_DIRECTORY ${folder}/autotune)
    add_custom_command(OUTPUT ${made}
        COMMAND ${autotune_PROGRAM} export ${script} --format ${embed_FORMAT} --results ${results}
                ${over} -o ${output}
        COMMAND ${CMAKE_COMMAND} -D HEADER=${header} -D PATTERN=${embed_PATTERN} -D SCRIPT=${script}
                -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
        DEPENDS ${depends} ${records}
        COMMENT "Exporting the configurations of ${embed_PATTERN}"
        VERBATIM)
    target_sources(${target} PRIVATE ${made})
    target_include_directories(${target} PRIVATE ${folder})
    if(embed_FORMAT STREQUAL "cuda")
        target_compile_features(${target} PRIVATE cuda_std_17)
    endif()
endfunction()
