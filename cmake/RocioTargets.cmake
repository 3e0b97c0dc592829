# The targets users link: each is a library of one or more rooms (docs/architecture.md).

# rocio_library(NAME ROOMS … LINK …)
function(rocio_library name)
  cmake_parse_arguments(ARG "" "" "ROOMS;LINK;PRIVATE_LINK" ${ARGN})
  set(objects "")
  foreach(room IN LISTS ARG_ROOMS)
    list(APPEND objects $<TARGET_OBJECTS:rocio_room_${room}>)
  endforeach()
  add_library(rocio_${name} STATIC ${objects})
  set_target_properties(rocio_${name} PROPERTIES LINKER_LANGUAGE CXX EXPORT_NAME ${name})
  target_include_directories(rocio_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(rocio_${name} PUBLIC cxx_std_20)
  target_link_libraries(rocio_${name} PUBLIC ${ARG_LINK})
  add_library(rocio::${name} ALIAS rocio_${name})
  set_property(GLOBAL APPEND PROPERTY ROCIO_LIBRARIES rocio_${name})
endfunction()

rocio_library(core ROOMS types device async io connect LINK Boost::boost Threads::Threads)
rocio_library(soft ROOMS wire transport soft LINK rocio_core PkgConfig::ISAL)
rocio_library(stream ROOMS stream LINK rocio_core)
rocio_library(status ROOMS status LINK rocio_core rocio_stream Boost::json)
rocio_library(rocio ROOMS open LINK rocio_core rocio_soft rocio_stream rocio_status)

if(ROCIO_INSTALL)
  include(RocioInstall)
endif()
