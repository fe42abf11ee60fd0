# autotune_share(<folder> <file>...) puts files where the binary looks for them: into
# share/autotune/<folder> of the build tree at each build, and of the prefix at install.
function(autotune_share folder)
    set(copies)
    foreach(file IN LISTS ARGN)
        set(copy ${PROJECT_BINARY_DIR}/share/autotune/${folder}/${file})
        get_filename_component(parent ${copy} DIRECTORY)
        get_filename_component(inner ${file} DIRECTORY)
        add_custom_command(OUTPUT ${copy}
            COMMAND ${CMAKE_COMMAND} -E make_directory ${parent}
            COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${copy}
            DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file} VERBATIM)
        list(APPEND copies ${copy})
        install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/autotune/${folder}/${inner})
    endforeach()
    add_custom_target(autotune_share_${folder} ALL DEPENDS ${copies})
    add_dependencies(autotune autotune_share_${folder}) # it runs as soon as it is built
endfunction()
