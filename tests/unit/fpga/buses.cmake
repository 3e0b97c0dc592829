rocio_test(fpga_bus_test ONE_ENTRY
  SOURCES
    bus_config_test.cpp
    memory_bridge_test.cpp
    packetizer_test.cpp
    register_client_core_test.cpp
    rssi_connection_test.cpp
    rssi_link_test.cpp
    rssi_segment_test.cpp
    srp_test.cpp
    udp_engine_test.cpp
  ROOMS fpga async types
  LABELS unit)
