rocio_test(playback_test ONE_ENTRY
  SOURCES
    latency_report_test.cpp playback_check_test.cpp playback_config_test.cpp playback_failure_test.cpp playback_test.cpp
    playback_windows_test.cpp
  ROOMS fpga rpc async types
  LINK rocio_tools
  LABELS unit)
