#pragma once

#include "metric_table.hpp"
#include "queue_pairs_of.hpp"

#include <rocio/status/status_snapshot.hpp>

namespace rocio::detail {

void add_process(metric_table& table, const status_snapshot& status);
void add_engine(metric_table& table, const engine_snapshot& engine);
void add_device(metric_table& table, const device_snapshot& device);
void add_queue_pair(metric_table& table, const queue_pair_snapshot& queue_pair);
void add_stream(metric_table& table, const receive_server_snapshot& stream);
void add_ring(metric_table& table, const ring_snapshot& ring);
void add_sensor(metric_table& table, const sensor_receiver_snapshot& sensor);
void add_service(metric_table& table, const status_snapshot::service& service);
void add_caller(metric_table& table, const status_snapshot::caller& caller);
void add_fpga(metric_table& table, const fpga_session_snapshot& fpga);
void add_handshake(metric_table& table, const handshake_snapshot& handshake);

} // namespace rocio::detail
