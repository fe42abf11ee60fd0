# autotune_room(<room> USES <room>... FILES <file>... [LIBRARIES <target>...] [TEXTS <file>...]) makes a room: a folder
# of tuner/ (or search/) whose sources may include their own headers and those of the rooms named after USES. The
# include path of each room is a folder with links to only these headers, so that any other include does not build. A
# room within a room, such as sim/machine, needs USES like any other room: it sees the outer room only if its USES names
# that, and vice versa.
set(AUTOTUNE_HOUSE ${PROJECT_BINARY_DIR}/house)

# autotune_room_folder(<room> <variable>) returns the folder of a room.
function(autotune_room_folder room variable)
    if(room MATCHES "^search")
        set(${variable} ${PROJECT_SOURCE_DIR}/${room} PARENT_SCOPE)
    else()
        set(${variable} ${PROJECT_SOURCE_DIR}/tuner/${room} PARENT_SCOPE)
    endif()
endfunction()

# autotune_open_room(<view> <room>) adds links to the headers of a room to an include folder.
function(autotune_open_room view room)
    autotune_room_folder(${room} folder)
    file(MAKE_DIRECTORY ${AUTOTUNE_HOUSE}/${view}/${room})
    file(GLOB headers RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/*.h)
    foreach(header IN LISTS headers)
        file(CREATE_LINK ${folder}/${header} ${AUTOTUNE_HOUSE}/${view}/${room}/${header} SYMBOLIC)
    endforeach()
    # A room within a room may include the tables (*.def) of the outer room.
    file(GLOB tables RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/../*.def)
    foreach(table IN LISTS tables)
        file(CREATE_LINK ${folder}/${table} ${AUTOTUNE_HOUSE}/${view}/${room}/${table} SYMBOLIC)
    endforeach()
endfunction()

# autotune_text(<target> <file>) embeds a file: #include "<name>.inc", in the initialiser of an array of char, gives the
# file's bytes and a NUL.
function(autotune_text target file)
    cmake_path(GET file FILENAME name)
    set(folder ${PROJECT_BINARY_DIR}/texts/${target})
    file(READ ${PROJECT_SOURCE_DIR}/${file} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    file(GENERATE OUTPUT ${folder}/${name}.inc CONTENT "${bytes}0\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
    target_include_directories(${target} PRIVATE ${folder})
endfunction()

function(autotune_room room)
    cmake_parse_arguments(PARSE_ARGV 1 ROOM "" "" "USES;FILES;LIBRARIES;TEXTS")
    string(REPLACE "/" "_" name ${room})
    file(REMOVE_RECURSE ${AUTOTUNE_HOUSE}/${name})
    foreach(seen IN LISTS ROOM_USES ITEMS ${room})
        autotune_open_room(${name} ${seen})
    endforeach()
    add_library(room_${name} OBJECT ${ROOM_FILES})
    target_include_directories(room_${name} PRIVATE ${AUTOTUNE_HOUSE}/${name})
    if("library" IN_LIST ROOM_USES OR room STREQUAL "library")
        target_include_directories(room_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tuner/include)
    endif()
    target_include_directories(room_${name} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    target_link_libraries(room_${name} PRIVATE autotune_options ${ROOM_LIBRARIES})
    if(AUTOTUNE_SANITIZE)
        # Without optimisation, the tested code takes three times as long.
        target_compile_options(room_${name} PRIVATE $<$<CONFIG:Debug>:-O1>)
    endif()
    foreach(text IN LISTS ROOM_TEXTS)
        autotune_text(room_${name} ${text})
    endforeach()
    set_property(GLOBAL APPEND PROPERTY AUTOTUNE_ROOMS ${room})
    # Read by tests/house.py.
    file(GENERATE OUTPUT ${AUTOTUNE_HOUSE}/rooms/${name} CONTENT
"room=${room}
uses=${ROOM_USES}
objects=$<TARGET_OBJECTS:room_${name}>
")
endfunction()
