rocio_test(slac_over_buses_test ONE_ENTRY
  SOURCES slac_over_buses_test.cpp
  ROOMS fpga async types
  LABELS soft TIMEOUT 300)
