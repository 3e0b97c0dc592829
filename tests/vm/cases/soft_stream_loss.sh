#!/usr/bin/env bash
# about: two soft devices over a wire that loses 1 % both ways
# topology: soft_pair
# mtu: 9000
# deadline: 120
# targets: rocio
lose_packets 1
receiver 10.0.0.2 in_ns1 rocio recv --device soft:10.0.0.2
sender 10.0.0.2 in_ns2 rocio emulate --device soft:10.0.0.1
expect_whole_stream
expect_lossy_wire
