# CUDA-Q's loop: the bridge as a process, its original names, the script, and all three programs in one.
add_library(host_call_handlers MODULE host_call_handlers.cpp)
target_link_libraries(host_call_handlers PRIVATE rocio_settings)

rocio_test(bridge_test ONE_ENTRY
  SOURCES bridge_test.cpp child_program.cpp
  ROOMS open ring rpc connect io async soft transport wire device types
  LABELS soft TIMEOUT 300)
add_dependencies(bridge_test rocio host_call_handlers)
set_tests_properties(bridge_test PROPERTIES ENVIRONMENT
  "ROCIO_TEST_PROGRAM=$<TARGET_FILE:rocio>;ROCIO_TEST_HSB=${PROJECT_BINARY_DIR}/hsb;ROCIO_TEST_HANDLERS=$<TARGET_FILE:host_call_handlers>")

foreach(part IN ITEMS Selftest Script ScriptCommandLines)
  add_test(NAME cudaq.${part}
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cudaq_test.py
            $<TARGET_FILE:rocio> ${PROJECT_BINARY_DIR}/hsb ${part})
  set_tests_properties(cudaq.${part} PROPERTIES TIMEOUT 600 LABELS "soft" RUN_SERIAL ON)
endforeach()
