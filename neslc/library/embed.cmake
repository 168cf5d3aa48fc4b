# embed.cmake - makes a C file of the library's texts (library.h):
#   cmake -DOUTPUT=FILE -DFILES="a.nesl;b.nesl" -P embed.cmake
# The files stand in the order in which they are loaded.
set(arrays "")
set(table "")
set(count 0)

function(embed file)
  get_filename_component(name ${file} NAME)
  file(READ ${file} bytes HEX)
  string(LENGTH "${bytes}" length)
  math(EXPR length "${length} / 2")
  # Sixteen bytes to a line; a NUL behind the last.
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  set(arrays "${arrays}static const char text_${count}[] = {\n${bytes}0};\n" PARENT_SCOPE)
  set(table
      "${table}  {\"library/${name}\", text_${count}, ${length}},\n" PARENT_SCOPE)
  math(EXPR count "${count} + 1")
  set(count ${count} PARENT_SCOPE)
endfunction()

foreach(file IN LISTS FILES)
  embed(${file})
endforeach()
file(WRITE ${OUTPUT} "/* Made by library/embed.cmake from the files of the library. */
#include \"neslc/library/library.h\"

${arrays}
const struct library_file library_files[] = {
${table}};
const size_t library_file_count = ${count};
")
