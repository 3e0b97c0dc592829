if(NOT TARGET rocio_tools)
  return()
endif()
set(hsb ${PROJECT_SOURCE_DIR}/tools/hsb)
rocio_test(sensor_receiver_test ONE_ENTRY
  SOURCES
    sensor_receiver_test.cpp sensor_receiver_loss_test.cpp sensor_recording_test.cpp
    ${hsb}/sensor_emulator.cpp ${hsb}/sensor_options.cpp ${hsb}/sensor_recording.cpp ${hsb}/sensor_stream.cpp
  ROOMS open fpga ring connect io async soft transport wire device types
  LINK rocio_tools
  LABELS soft tsan TIMEOUT 300)
