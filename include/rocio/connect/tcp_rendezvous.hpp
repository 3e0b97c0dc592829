#pragma once

// rocio's own rendezvous over TCP, both sides.

#include <rocio/connect/parse_endpoint.hpp>
#include <rocio/connect/tcp_connector.hpp>
#include <rocio/connect/tcp_listener.hpp>
#include <rocio/connect/tcp_peer.hpp>
