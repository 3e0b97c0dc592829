#!/usr/bin/env bash
# about: rxe0 fed by the soft device over a wire that loses 1 % both ways
# topology: rxe_netns
# mtu: 9000
# deadline: 120
# targets: rocio rocio_room_verbs
lose_packets 1
receiver 10.0.0.1 rocio recv --device rxe0
sender 10.0.0.1 in_ns1 rocio emulate --device soft:10.0.0.2
expect_whole_stream
expect_lossy_wire
