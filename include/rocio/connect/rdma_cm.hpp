#pragma once

// Connections by rdma_cm, both sides.

#include <rocio/connect/cm_acceptor.hpp>
#include <rocio/connect/cm_connector.hpp>
#include <rocio/connect/cm_peer.hpp>
#include <rocio/connect/parse_endpoint.hpp>
