rocio_test(hsb_channel_test ONE_ENTRY
  SOURCES
    hsb_announcement_test.cpp hsb_channel_test.cpp hsb_channel_failure_test.cpp hsb_configuration_test.cpp
    hsb_configuration_limits_test.cpp hsb_listener_test.cpp hsb_sensor_board_test.cpp
  ROOMS fpga async types
  LABELS unit)
