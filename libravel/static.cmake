# The static library, libravel.a: the objects of libravel.so and of all rooms that it needs, linked into one, in which
# all names but those of ravel.h are local. A program may have any others.

# The archives of the rooms that these use, and of those, and so on; what else they are linked with.
function(ravel_rooms_of targets rooms others)
  set(known)
  set(rest)
  while(targets)
    list(POP_FRONT targets target)
    if(target IN_LIST known OR target IN_LIST rest)
      continue()
    endif()
    if(NOT target MATCHES "^ravel_")
      list(APPEND rest ${target})
      continue()
    endif()
    list(APPEND known ${target})
    get_target_property(more ${target} LINK_LIBRARIES)
    if(more)
      list(APPEND targets ${more})
    endif()
  endwhile()
  list(TRANSFORM known REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  set(${rooms} ${known} PARENT_SCOPE)
  set(${others} ${rest} PARENT_SCOPE)
endfunction()

get_target_property(targets ravel LINK_LIBRARIES)
ravel_rooms_of("${targets}" rooms others)
set(whole ${CMAKE_CURRENT_BINARY_DIR}/libravel-whole.o)
set(object ${CMAKE_CURRENT_BINARY_DIR}/libravel.o)
add_custom_command(OUTPUT ${object}
  COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${whole} $<TARGET_OBJECTS:ravel> -Wl,--start-group ${rooms} -Wl,--end-group
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden --wildcard --keep-global-symbol=ravel_* ${whole} ${object}
  COMMAND ${CMAKE_COMMAND} -E rm ${whole}
  DEPENDS $<TARGET_OBJECTS:ravel> ${rooms} COMMAND_EXPAND_LISTS VERBATIM)
set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
add_library(ravel_static STATIC ${object})
add_dependencies(ravel_static ravel) # make does not know who builds the objects
set_target_properties(ravel_static PROPERTIES OUTPUT_NAME ravel LINKER_LANGUAGE C
                      ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
target_include_directories(ravel_static INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)

# What a program is linked with besides, by names that are the same on every machine.
set(needed m pthread ${CMAKE_DL_LIBS})
if(ZLIB::ZLIB IN_LIST others)
  list(APPEND needed z)
endif()
target_link_libraries(ravel_static INTERFACE ${needed})
list(TRANSFORM needed PREPEND -l)
list(JOIN needed " " RAVEL_PRIVATE)
