# Compiler settings and the two functions that rooms and tests are declared with.

set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(ROCIO_TOP_LEVEL)
  find_program(ROCIO_CCACHE ccache)
  if(ROCIO_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${ROCIO_CCACHE})
    set(CMAKE_C_COMPILER_LAUNCHER ${ROCIO_CCACHE})
  endif()
endif()

add_library(rocio_settings INTERFACE)
target_compile_features(rocio_settings INTERFACE cxx_std_20)
target_compile_options(rocio_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual>
  $<$<BOOL:${ROCIO_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports dangling and overread false positives inside inlined standard headers (GCC bugs 105329, 107852).
  target_compile_options(rocio_settings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict -Wno-stringop-overread -Wno-array-bounds -Wno-stringop-overflow
    -Wno-maybe-uninitialized>)
endif()
if(ROCIO_SANITIZE)
  add_compile_options(-fsanitize=${ROCIO_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -O1 -g1)
  add_link_options(-fsanitize=${ROCIO_SANITIZE})
  add_compile_definitions(ROCIO_SANITIZED=1)
  if(ROCIO_SANITIZE MATCHES "thread")
    # Asio 1.26 orders its reference counts with atomic_thread_fence, which ThreadSanitizer does not model.
    add_compile_definitions(ROCIO_SANITIZE_THREAD=1 BOOST_ASIO_DISABLE_FENCED_BLOCK=1)
    add_compile_options(-Wno-tsan)
  endif()
endif()

# rocio_room(NAME SOURCES … ROOMS … LINK …): the static library rocio_room_NAME, which tests link on its own.
function(rocio_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;ROOMS;LINK" ${ARGN})
  add_library(rocio_room_${name} STATIC ${ARG_SOURCES})
  target_include_directories(rocio_room_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/src)
  list(TRANSFORM ARG_ROOMS PREPEND rocio_room_)
  target_link_libraries(rocio_room_${name} PUBLIC ${ARG_ROOMS} ${ARG_LINK} Boost::boost PRIVATE rocio_settings)
  target_compile_features(rocio_room_${name} PUBLIC cxx_std_20)
endfunction()

# rocio_test(NAME SOURCES … ROOMS … LINK … LABELS … TIMEOUT seconds): a GoogleTest program and its ctest entries.
function(rocio_test name)
  cmake_parse_arguments(ARG "ONE_ENTRY" "TIMEOUT" "SOURCES;ROOMS;LINK;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  list(TRANSFORM ARG_ROOMS PREPEND rocio_room_)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests/support)
  target_link_libraries(${name} PRIVATE ${ARG_ROOMS} ${ARG_LINK} rocio_settings GTest::gmock_main Threads::Threads)
  target_compile_definitions(${name} PRIVATE ROCIO_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  if(ARG_ONE_ENTRY)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
  else()
    include(GoogleTest)
    gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60
      PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
  endif()
endfunction()
