# Functions of NESL as a library of C, by neslc --library.

set(RAVEL_LIBRARY_FOLDER "${CMAKE_CURRENT_LIST_DIR}")

# ravel_add_library(NAME FILE.nesl ENTRY ... [STATIC] [DEPENDS FILE ...]): the static library NAME,
# whose header is NAME.h. An entry is written as after --entry: f, 'g:[float], int', other=f. STATIC:
# who links with NAME is linked with libravel.a. DEPENDS: what the file imports. The compiler is that of
# this installation, or RAVEL_NESLC.
function(ravel_add_library name source)
  cmake_parse_arguments(PARSE_ARGV 2 LIBRARY "STATIC" "" "DEPENDS")
  find_program(RAVEL_NESLC neslc HINTS "${RAVEL_LIBRARY_FOLDER}/../../../bin"
                                       "${RAVEL_LIBRARY_FOLDER}/../../../../bin")
  if(NOT RAVEL_NESLC)
    message(FATAL_ERROR "ravel_add_library(${name}): neslc was not found; install Ravel's commands, "
                        "or say where it is by -DRAVEL_NESLC=FILE")
  endif()
  if(NOT LIBRARY_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ravel_add_library(${name} ${source}): it needs the names of entries")
  endif()
  set(entries)
  foreach(entry IN LISTS LIBRARY_UNPARSED_ARGUMENTS)
    list(APPEND entries --entry "${entry}")
  endforeach()
  get_filename_component(source "${source}" ABSOLUTE)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}-library")
  add_custom_command(OUTPUT "${folder}/${name}.c" "${folder}/${name}.h"
                     COMMAND "${RAVEL_NESLC}" "${source}" --library "${name}" ${entries}
                             -o "${folder}"
                     DEPENDS "${source}" ${LIBRARY_DEPENDS} "${RAVEL_NESLC}" VERBATIM)
  add_library(${name} STATIC "${folder}/${name}.c" "${folder}/${name}.h")
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${name} PUBLIC "${folder}")
  if(LIBRARY_STATIC)
    target_link_libraries(${name} PUBLIC ravel::ravel_static)
  else()
    target_link_libraries(${name} PUBLIC ravel::ravel)
  endif()
endfunction()
