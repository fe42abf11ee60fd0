# Building this works out what a program would work out at its first pick: see beforehand.c. As a script
# (-P) it has that done, and leaves FOLDER/done.
if(CMAKE_SCRIPT_MODE_FILE)
    file(REMOVE_RECURSE ${FOLDER} ${LUA}/.facts)
    file(MAKE_DIRECTORY ${FOLDER})
    file(GLOB names RELATIVE ${LUA} ${LUA}/*.lua)
    list(TRANSFORM names REPLACE "[.]lua$" "")
    execute_process(COMMAND ${BEFOREHAND} ${LUA} ${TEMPLATES} ${names} COMMAND_ERROR_IS_FATAL ANY)
    file(TOUCH ${FOLDER}/done)
    return()
endif()

add_executable(beforehand ${CMAKE_CURRENT_SOURCE_DIR}/beforehand.c)
target_link_libraries(beforehand PRIVATE autotune_core)
set_target_properties(beforehand PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
set(folder ${CMAKE_CURRENT_BINARY_DIR}/worked_out)
set(share ${PROJECT_BINARY_DIR}/share/autotune)
file(GLOB_RECURSE scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lua/*.lua)
add_custom_command(OUTPUT ${folder}/done
    COMMAND ${CMAKE_COMMAND} -D BEFOREHAND=$<TARGET_FILE:beforehand> -D FOLDER=${folder} -D LUA=${share}/lua
        -D TEMPLATES=${share}/templates -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS autotune beforehand ${scripts} ${CMAKE_CURRENT_LIST_FILE} VERBATIM)
add_custom_target(worked_out ALL DEPENDS ${folder}/done)
install(DIRECTORY ${share}/lua/.facts DESTINATION ${CMAKE_INSTALL_DATADIR}/autotune/lua)
