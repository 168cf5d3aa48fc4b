# How libravel is installed: for C programs, or by scikit-build-core into the Python package.
if(SKBUILD)
  # A wheel holds no links, so the library has one name.
  install(TARGETS ravel LIBRARY DESTINATION ravel/lib COMPONENT python)
  return()
endif()

# SOVERSION rises with a version that breaks programs (docs/c-api.md).
set_target_properties(ravel PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0
                      PUBLIC_HEADER ${PROJECT_SOURCE_DIR}/include/ravel.h)
install(TARGETS ravel EXPORT ravel
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# Sanitizers and gcov's functions are in the program.
if(CMAKE_OBJCOPY AND NOT RAVEL_SANITIZE AND NOT RAVEL_COVERAGE)
  include(static.cmake)
  install(TARGETS ravel_static EXPORT ravel ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
# The structs of the standards in which arrays cross, for programs that have no header with them.
install(FILES arrow.h dlpack.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ravel)

# find_package(ravel) gives ravel::ravel, ravel::ravel_static and ravel_add_library; pkg-config knows ravel. Neither
# holds the prefix, so that an installation can be moved.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/ravel)
install(EXPORT ravel NAMESPACE ravel:: DESTINATION ${package} FILE ravel-targets.cmake)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/ravel-config-version.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES ravel-config.cmake ravel-library.cmake ${CMAKE_CURRENT_BINARY_DIR}/ravel-config-version.cmake
        DESTINATION ${package})

file(RELATIVE_PATH RAVEL_UP ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(ravel.pc.in ravel.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ravel.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
