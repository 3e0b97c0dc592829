# Installation: the exported targets rocio::core and so on, rocio.pc for users without CMake, headers and documents.
include(CMakePackageConfigHelpers)

set(ROCIO_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/rocio)
get_property(rocio_libraries GLOBAL PROPERTY ROCIO_LIBRARIES)

install(TARGETS ${rocio_libraries} EXPORT rocio-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT rocio-targets NAMESPACE rocio:: DESTINATION ${ROCIO_CMAKE_DIR})
set(rocio_left_out "")
if(NOT ROCIO_VERBS)
  set(rocio_left_out PATTERN "include/rocio/verbs" EXCLUDE)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" ${rocio_left_out})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png" PATTERN "*.json" PATTERN "*.yml")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/packaging/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/packaging OPTIONAL
  FILES_MATCHING PATTERN "*.service")

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/rocio-config.cmake.in
  ${PROJECT_BINARY_DIR}/rocio-config.cmake INSTALL_DESTINATION ${ROCIO_CMAKE_DIR})
# Before 1.0 a minor version may break its users.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/rocio-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/rocio-config.cmake ${PROJECT_BINARY_DIR}/rocio-config-version.cmake
  DESTINATION ${ROCIO_CMAKE_DIR})

# An archive must stand before those it needs.
set(ROCIO_PC_REQUIRES "libisal, libpcap, prometheus-cpp-core, zlib")
if(ROCIO_VERBS)
  string(APPEND ROCIO_PC_REQUIRES ", libibverbs, librdmacm")
endif()
if(ROCIO_ZMQ)
  string(APPEND ROCIO_PC_REQUIRES ", libzmq")
endif()
set(ROCIO_PC_LIBS "")
list(REVERSE rocio_libraries)
foreach(library IN LISTS rocio_libraries)
  get_target_property(output ${library} OUTPUT_NAME)
  string(APPEND ROCIO_PC_LIBS " -l${output}")
endforeach()
set(rocio_pc_dir /${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(rocio_pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  set(ROCIO_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(ROCIO_PC_LIBDIR ${CMAKE_INSTALL_LIBDIR})
else()
  file(RELATIVE_PATH rocio_pc_up ${rocio_pc_dir} /)
  set(ROCIO_PC_PREFIX "\${pcfiledir}/${rocio_pc_up}")
  set(ROCIO_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
if(IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(ROCIO_PC_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})
else()
  set(ROCIO_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/rocio.pc.in ${PROJECT_BINARY_DIR}/rocio.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/rocio.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
