# autotune_embed(<target> PATTERN <name> [SCRIPT <file>] [RESULTS <folder>])
#
# Gives <target> the header <autotune/<name>.h>: the recorded configurations of a pattern and their
# look-up, as 'autotune export' writes them. It is made anew when a record or the script changes.
#
# PATTERN  the pattern's name
# SCRIPT   its script, when it is not an installed one
# RESULTS  the folder of records; default: those installed with autotune
function(autotune_embed target)
    cmake_parse_arguments(PARSE_ARGV 1 embed "" "PATTERN;SCRIPT;RESULTS" "")
    if(NOT embed_PATTERN OR embed_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "autotune_embed(${target}): write PATTERN and a name; there are also "
                            "SCRIPT and RESULTS")
    endif()
    set(script ${embed_PATTERN})
    set(depends ${autotune_PROGRAM})
    if(embed_SCRIPT)
        get_filename_component(script ${embed_SCRIPT} ABSOLUTE)
        list(APPEND depends ${script})
    endif()
    set(results ${autotune_RESULTS})
    if(embed_RESULTS)
        get_filename_component(results ${embed_RESULTS} ABSOLUTE)
    endif()
    file(GLOB records CONFIGURE_DEPENDS ${results}/*/${embed_PATTERN}.json)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/autotune_embed)
    set(header ${folder}/autotune/${embed_PATTERN}.h)
    file(MAKE_DIRECTORY ${folder}/autotune)
    add_custom_command(OUTPUT ${header}
        COMMAND ${autotune_PROGRAM} export ${script} --format header --results ${results}
                -o ${header}
        DEPENDS ${depends} ${records}
        COMMENT "Exporting the configurations of ${embed_PATTERN}"
        VERBATIM)
    target_sources(${target} PRIVATE ${header})
    target_include_directories(${target} PRIVATE ${folder})
endfunction()
