# SRPv3 over UDP and over RSSI, rogue's memory bridge, and the servers of emulated boards.
set(register_bus_sources
  board_socket.cpp
  bus_error.cpp
  memory_bridge_config.cpp
  memory_bridge_protocol.cpp
  packetizer.cpp
  register_client_core.cpp
  rssi_connection.cpp
  rssi_segment.cpp
  rssi_transport.cpp
  srp.cpp
  srp_config.cpp
  srp_protocol.cpp
  srp_responder.cpp
  srp_rssi_bus.cpp
  srp_rssi_server.cpp
  srp_udp_bus.cpp
  srp_udp_server.cpp
  udp_engine.cpp)
if(ROCIO_ZMQ)
  list(APPEND register_bus_sources memory_bridge_zmq.cpp zmq_pair.cpp)
  set(register_bus_libraries PkgConfig::ZMQ)
else()
  list(APPEND register_bus_sources memory_bridge_none.cpp)
  set(register_bus_libraries "")
endif()
