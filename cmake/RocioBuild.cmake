# Compiler settings and the two functions that rooms and tests are declared with.

set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(ROCIO_TOP_LEVEL)
  find_program(ROCIO_CCACHE ccache)
  if(ROCIO_CCACHE)
    # Paths relative to the tree, so that one clone finds the objects of another; the sloppiness is what ccache asks
    # for before it caches a precompiled header and what was compiled with it.
    set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${ROCIO_CCACHE})
    set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
endif()

add_library(rocio_settings INTERFACE)
target_compile_features(rocio_settings INTERFACE cxx_std_20)
target_compile_options(rocio_settings INTERFACE
  -Wall -Wextra -Wpedantic $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual>
  $<$<BOOL:${ROCIO_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Else nothing that other files may see is inlined into position-independent code, because somebody might replace it.
  target_compile_options(rocio_settings INTERFACE -fno-semantic-interposition)
  # g++ 12 reports dangling and overread false positives inside inlined standard headers (GCC bugs 105329, 107852).
  target_compile_options(rocio_settings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict -Wno-stringop-overread -Wno-array-bounds -Wno-stringop-overflow
    -Wno-maybe-uninitialized>)
endif()
if(ROCIO_SANITIZE)
  add_compile_options(-fsanitize=${ROCIO_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
    -O${ROCIO_SANITIZE_LEVEL} -g1)
  add_link_options(-fsanitize=${ROCIO_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND ROCIO_SANITIZE MATCHES "undefined")
    # clang 14 cannot put the type that -fsanitize=function wants in front of a coroutine's parts.
    add_compile_options(-fno-sanitize=function)
  endif()
  add_compile_definitions(ROCIO_SANITIZED=1)
  if(ROCIO_SANITIZE MATCHES "thread")
    # Asio 1.26 orders its reference counts with atomic_thread_fence, which ThreadSanitizer does not model.
    add_compile_definitions(ROCIO_SANITIZE_THREAD=1 BOOST_ASIO_DISABLE_FENCED_BLOCK=1)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      add_compile_options(-Wno-tsan)
    endif()
  endif()
endif()

# Precompiled headers: one for the rooms that use Asio, one for their tests (executables are -fPIE, libraries -fPIC).
# A test of Asio compiles in 5 s instead of 11 (g++ 12, -O3), a coroutine of a room in 4.5 instead of 7. Not for clang,
# whose precompiled headers hold paths and times, so that ccache never finds them in another clone; a build without
# them also proves that every file includes what it uses.
set(ROCIO_ASIO_ROOMS async io connect fpga stream ring rpc status)
if(ROCIO_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(ROCIO_USE_PCH ON)
  set(rocio_pch_source ${PROJECT_BINARY_DIR}/precompiled.cpp)
  file(CONFIGURE OUTPUT ${rocio_pch_source} CONTENT "")
  add_library(rocio_pch_room OBJECT EXCLUDE_FROM_ALL ${rocio_pch_source})
  target_precompile_headers(rocio_pch_room PRIVATE <boost/asio.hpp>)
  target_link_libraries(rocio_pch_room PRIVATE rocio_settings Boost::boost)
  if(ROCIO_BUILD_TESTS)
    find_package(GTest REQUIRED)
    add_executable(rocio_pch_test EXCLUDE_FROM_ALL ${rocio_pch_source})
    target_precompile_headers(rocio_pch_test PRIVATE <boost/asio.hpp> <gmock/gmock.h> <gtest/gtest.h>)
    target_link_libraries(rocio_pch_test PRIVATE rocio_settings Boost::boost GTest::gmock_main Threads::Threads)
  endif()
endif()

# rocio_use_pch(TARGET room|test): a target with compile options or definitions that change Asio must not use it.
function(rocio_use_pch target kind)
  if(ROCIO_USE_PCH)
    target_precompile_headers(${target} REUSE_FROM rocio_pch_${kind})
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endfunction()

# rocio_room(NAME SOURCES … ROOMS … LINK …): the static library rocio_room_NAME, which tests link on its own.
function(rocio_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;ROOMS;LINK" ${ARGN})
  add_library(rocio_room_${name} STATIC ${ARG_SOURCES})
  target_include_directories(rocio_room_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/src)
  list(TRANSFORM ARG_ROOMS PREPEND rocio_room_)
  target_link_libraries(rocio_room_${name} PUBLIC ${ARG_ROOMS} ${ARG_LINK} Boost::boost PRIVATE rocio_settings)
  target_compile_features(rocio_room_${name} PUBLIC cxx_std_20)
  if(name IN_LIST ROCIO_ASIO_ROOMS)
    rocio_use_pch(rocio_room_${name} room)
  endif()
endfunction()

# rocio_test(NAME SOURCES … [APART …] ROOMS … LINK … LABELS … TIMEOUT seconds [ONE_ENTRY] [SOAK small full] [NO_PCH]
# [DATA]): a GoogleTest program and its ctest entries. ONE_ENTRY: one entry for the whole program. SOAK: one entry, run as
# NAME --count N (tests/soak), with the label soak. Programs that link an Asio room get the precompiled
# header unless NO_PCH is given; those see ROCIO_TEST_DATA only with DATA, because a path in the command line keeps
# ccache from finding the object in another clone. The target rocio_tests_LABEL builds all programs of a label.
# APART: those of the sources whose names would clash with another one's where several are compiled at once
# (ROCIO_UNITY_TESTS, as tools/check does it for the sanitizers: half the time).
function(rocio_test name)
  cmake_parse_arguments(ARG "ONE_ENTRY;NO_PCH;DATA" "TIMEOUT" "SOURCES;APART;ROOMS;LINK;LABELS;SOAK" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set(uses_asio OFF)
  foreach(room IN LISTS ARG_ROOMS)
    if(room IN_LIST ROCIO_ASIO_ROOMS)
      set(uses_asio ON)
    endif()
  endforeach()
  if(ROCIO_UNITY_TESTS AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
    set_source_files_properties(${ARG_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  list(TRANSFORM ARG_ROOMS PREPEND rocio_room_)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests/support)
  target_link_libraries(${name} PRIVATE ${ARG_ROOMS} ${ARG_LINK} rocio_settings GTest::gmock_main Threads::Threads)
  if(uses_asio AND NOT ARG_NO_PCH)
    rocio_use_pch(${name} test)
  endif()
  if(ARG_DATA OR NOT uses_asio)
    target_compile_definitions(${name} PRIVATE ROCIO_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  endif()
  foreach(label IN LISTS ARG_LABELS)
    if(NOT TARGET rocio_tests_${label})
      add_custom_target(rocio_tests_${label})
    endif()
    add_dependencies(rocio_tests_${label} ${name})
  endforeach()
  if(ARG_SOAK)
    add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/soak ${ARG_SOAK} $<TARGET_FILE:${name}>)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS};soak")
  elseif(ARG_ONE_ENTRY)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
  else()
    include(GoogleTest)
    gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 TEST_LIST ${name}_cases
      PROPERTIES TIMEOUT ${ARG_TIMEOUT})
    # gtest_discover_tests takes no list as a property, so the labels come in a script of their own.
    set(labels_file ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
    file(CONFIGURE OUTPUT ${labels_file} @ONLY CONTENT [[
if(@name@_cases)
  set_tests_properties(${@name@_cases} PROPERTIES LABELS "@ARG_LABELS@")
endif()
]])
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels_file})
  endif()
endfunction()
