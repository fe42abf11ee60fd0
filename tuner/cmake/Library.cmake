# libautotune, shared and static, with its CMake package, pkg-config file and header.
include(CMakePackageConfigHelpers)

set(library_sources ${CMAKE_CURRENT_SOURCE_DIR}/library/library.c
    ${CMAKE_CURRENT_SOURCE_DIR}/library/choice.c ${CMAKE_CURRENT_SOURCE_DIR}/library/source.c
    ${CMAKE_CURRENT_SOURCE_DIR}/library/kernel.c
    ${CMAKE_CURRENT_SOURCE_DIR}/library/sites.c ${CMAKE_CURRENT_SOURCE_DIR}/library/site.c)
set(library_include ${CMAKE_CURRENT_SOURCE_DIR}/include)

# Only the functions of autotune.h are visible outside. Debian's static Lua is not position-independent,
# so a build with static dependencies has only the static library.
set(libraries autotune_static)
if(NOT AUTOTUNE_STATIC_DEPENDENCIES)
    add_library(autotune_shared SHARED ${library_sources})
    set_target_properties(autotune_shared PROPERTIES OUTPUT_NAME autotune EXPORT_NAME autotune
        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
    target_link_libraries(autotune_shared PRIVATE autotune_core
        autotune::lua autotune::jansson autotune::zlib autotune::xxhash m ${CMAKE_DL_LIBS})
    # With clang, the program defines the sanitizers' symbols.
    target_link_options(autotune_shared PRIVATE LINKER:--exclude-libs,ALL
        $<$<NOT:$<BOOL:${AUTOTUNE_SANITIZE}>>:LINKER:--no-undefined>)
    list(APPEND libraries autotune_shared)
    add_library(autotune::autotune ALIAS autotune_shared)
endif()

# The static library is one object in which all names except the public ones are local, so that they
# cannot collide with names of the program.
add_library(autotune_library_objects OBJECT ${library_sources})
target_link_libraries(autotune_library_objects PRIVATE autotune_core)
set(static_object ${CMAKE_CURRENT_BINARY_DIR}/libautotune.o)
add_custom_command(OUTPUT ${static_object}
    COMMAND ${CMAKE_LINKER} -r -o ${static_object} $<TARGET_OBJECTS:autotune_library_objects>
            $<TARGET_FILE:autotune_core>
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${static_object}
    DEPENDS autotune_library_objects autotune_core $<TARGET_OBJECTS:autotune_library_objects>
    COMMAND_EXPAND_LISTS VERBATIM)
set_source_files_properties(${static_object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
add_library(autotune_static STATIC ${static_object})
set_target_properties(autotune_static PROPERTIES OUTPUT_NAME autotune EXPORT_NAME autotune_static
    LINKER_LANGUAGE C)
add_library(autotune::autotune_static ALIAS autotune_static)
set(static_libraries lua5.4 jansson xxhash z m pthread ${CMAKE_DL_LIBS})
target_link_libraries(autotune_static INTERFACE ${static_libraries})
# A shared library that contains libautotune.a does not export its names.
set(static_options -Wl,--exclude-libs,libautotune.a)
target_link_options(autotune_static INTERFACE ${static_options})

foreach(library IN LISTS libraries)
    target_include_directories(${library} INTERFACE
        $<BUILD_INTERFACE:${library_include}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()

# A project that contains this one as a subfolder gets the same names as from find_package().
include(AutotuneEmbed)
set(autotune_PROGRAM $<TARGET_FILE:autotune> CACHE INTERNAL "")
set(autotune_RESULTS ${PROJECT_SOURCE_DIR}/results CACHE INTERNAL "")

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/autotune)
install(TARGETS ${libraries} EXPORT autotuneTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(FILES ${library_include}/autotune.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT autotuneTargets NAMESPACE autotune:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/autotuneConfig.cmake.in
    ${CMAKE_CURRENT_BINARY_DIR}/autotuneConfig.cmake INSTALL_DESTINATION ${package_dir}
    PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/autotuneConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/autotuneConfig.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/autotuneConfigVersion.cmake
    ${CMAKE_CURRENT_SOURCE_DIR}/cmake/AutotuneEmbed.cmake DESTINATION ${package_dir}
    COMPONENT development)

# Paths in autotune.pc are relative to its folder, so that the prefix can be moved.
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pkgconfig_to_prefix /prefix/${pkgconfig_dir} /prefix)
list(TRANSFORM static_libraries PREPEND "-l" OUTPUT_VARIABLE pkgconfig_private)
list(JOIN pkgconfig_private " " pkgconfig_private)
string(PREPEND pkgconfig_private "${static_options} ")
configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/autotune.pc.in
    ${CMAKE_CURRENT_BINARY_DIR}/autotune.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/autotune.pc DESTINATION ${pkgconfig_dir} COMPONENT development)

# autotune_embed() uses the shipped records by default. In the build tree, a link leads to them.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/autotune)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/results ${PROJECT_BINARY_DIR}/share/autotune/results SYMBOLIC)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/results/
    DESTINATION ${CMAKE_INSTALL_DATADIR}/autotune/results FILES_MATCHING PATTERN "*.json"
    PATTERN landscapes EXCLUDE)
