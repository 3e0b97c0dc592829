rocio_test(slac_engine_test ONE_ENTRY
  SOURCES
    slac_board_test.cpp
    slac_engine_config_test.cpp
    slac_engine_test.cpp
    slac_engine_tokens_test.cpp
    slac_failure_test.cpp
    slac_metadata_test.cpp
    slac_programs_test.cpp
    slac_random_test.cpp
  ROOMS fpga async types
  LABELS unit TIMEOUT 300)
