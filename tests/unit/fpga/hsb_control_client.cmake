rocio_test(hsb_control_client_test ONE_ENTRY
  SOURCES hsb_control_client_test.cpp hsb_control_failure_test.cpp hsb_control_tokens_test.cpp
  ROOMS fpga async types
  LABELS unit)
