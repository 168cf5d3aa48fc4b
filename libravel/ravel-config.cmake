# find_package(ravel): the library ravel::ravel, and ravel_add_library.
include("${CMAKE_CURRENT_LIST_DIR}/ravel-targets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/ravel-library.cmake")
