# Files as an array of C strings, one for each line:
#   cmake -DOUT=FILE.c -DNAME=array "-DFILES=a.h;b.h" -P embed.cmake
# Includes with "..." are left out: what they name stands before.
set(text "/* Made by embed.cmake. */\n#include <stddef.h>\nextern const char *const ${NAME}[];\n")
string(APPEND text "const char *const ${NAME}[] = {\n")
foreach(file ${FILES})
  file(READ ${file} source)
  string(REGEX REPLACE "#include \"[^\"]*\"\n" "" source "${source}")
  string(REPLACE "\\" "\\\\" source "${source}")
  string(REPLACE "\"" "\\\"" source "${source}")
  string(REPLACE "\n" "\\n\",\n\"" source "${source}")
  string(APPEND text "\"${source}\",\n")
endforeach()
file(WRITE ${OUT} "${text}NULL};\n")
