# find_package(ravel): the libraries ravel::ravel and ravel::ravel_static, and ravel_add_library.
include("${CMAKE_CURRENT_LIST_DIR}/ravel-targets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/ravel-library.cmake")
