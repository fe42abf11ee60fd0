# Writes the manual pages to FOLDER: autotune.1, and one for each command of AUTOTUNE.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
function(write_manual file)
    execute_process(COMMAND ${AUTOTUNE} completion man ${ARGN}
        OUTPUT_FILE ${FOLDER}/${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
execute_process(COMMAND ${AUTOTUNE} completion words commands
    OUTPUT_VARIABLE commands OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" commands "${commands}")
foreach(command IN LISTS commands)
    write_manual(autotune-${command}.1 ${command})
endforeach()
# autotune.1 is written last, because the build checks only for this file.
write_manual(autotune.1)
