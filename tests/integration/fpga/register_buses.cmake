rocio_test(register_bus_test ONE_ENTRY
  SOURCES bus_faults_test.cpp bus_silence_test.cpp every_bus_test.cpp
  ROOMS fpga async types
  LABELS soft TIMEOUT 300)
if(NOT ROCIO_ZMQ)
  target_compile_definitions(register_bus_test PRIVATE ROCIO_TEST_WITHOUT_ZMQ)
endif()
