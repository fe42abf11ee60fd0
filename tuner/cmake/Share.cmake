# autotune_share(<folder> <file>...) copies files to share/autotune/<folder>, where the binary looks for
# them: in the build tree at each build, and in the prefix at install.
function(autotune_share folder)
    set(copies)
    set(inners)
    foreach(file IN LISTS ARGN)
        get_filename_component(inner "${file}" DIRECTORY)
        list(APPEND inners "/${inner}")
        list(APPEND "files/${inner}" ${file})
        install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/autotune/${folder}/${inner})
    endforeach()
    list(REMOVE_DUPLICATES inners)
    foreach(inner IN LISTS inners)
        set(to ${PROJECT_BINARY_DIR}/share/autotune/${folder}${inner})
        set(files ${files${inner}})
        set(made)
        foreach(file IN LISTS files)
            get_filename_component(name ${file} NAME)
            list(APPEND made ${to}/${name})
        endforeach()
        list(TRANSFORM files PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
        add_custom_command(OUTPUT ${made}
            COMMAND ${CMAKE_COMMAND} -E make_directory ${to}
            COMMAND ${CMAKE_COMMAND} -E copy ${files} ${to}
            DEPENDS ${files} COMMENT "Copying ${folder}${inner}" VERBATIM)
        list(APPEND copies ${made})
    endforeach()
    add_custom_target(autotune_share_${folder} ALL DEPENDS ${copies})
    add_dependencies(autotune autotune_share_${folder}) # the binary needs the files when it runs
endfunction()
