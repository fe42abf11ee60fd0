# autotune_room(<room> USES <room>... FILES <file>... [LIBRARIES <target>...]) makes a room of the house:
# a folder of tuner/ (or search/) whose sources see their own headers and those of the rooms named after
# USES, and no others. Each room is compiled with a folder of its own on the include path, in which there
# are links to just these rooms: an include that goes against the table does not build.
set(AUTOTUNE_HOUSE ${PROJECT_BINARY_DIR}/house)

# autotune_open_room(<view> <room>) puts a link to a room into a view of the house.
function(autotune_open_room view room)
    if(room STREQUAL "search")
        set(folder ${PROJECT_SOURCE_DIR}/search)
    else()
        set(folder ${PROJECT_SOURCE_DIR}/tuner/${room})
    endif()
    get_filename_component(parent ${AUTOTUNE_HOUSE}/${view}/${room} DIRECTORY)
    file(MAKE_DIRECTORY ${parent})
    file(CREATE_LINK ${folder} ${AUTOTUNE_HOUSE}/${view}/${room} SYMBOLIC)
endfunction()

function(autotune_room room)
    cmake_parse_arguments(PARSE_ARGV 1 ROOM "" "" "USES;FILES;LIBRARIES")
    string(REPLACE "/" "_" name ${room})
    file(REMOVE_RECURSE ${AUTOTUNE_HOUSE}/${name})
    autotune_open_room(${name} ${room})
    foreach(used IN LISTS ROOM_USES)
        string(REGEX REPLACE "/.*" "" outer ${used})
        # A room within a room is open where the outer one is.
        if(used STREQUAL outer OR NOT outer IN_LIST ROOM_USES AND NOT outer STREQUAL room)
            autotune_open_room(${name} ${used})
        endif()
    endforeach()
    add_library(room_${name} OBJECT ${ROOM_FILES})
    target_include_directories(room_${name} PRIVATE
        ${AUTOTUNE_HOUSE}/${name} ${PROJECT_SOURCE_DIR}/tuner/include)
    target_include_directories(room_${name} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    target_link_libraries(room_${name} PRIVATE autotune_options ${ROOM_LIBRARIES})
    set_property(GLOBAL APPEND PROPERTY AUTOTUNE_ROOMS ${room})
    # For tests/house.py, which looks for calls that go against the table.
    file(GENERATE OUTPUT ${AUTOTUNE_HOUSE}/rooms/${name} CONTENT
"room=${room}
uses=${ROOM_USES}
objects=$<TARGET_OBJECTS:room_${name}>
")
endfunction()
