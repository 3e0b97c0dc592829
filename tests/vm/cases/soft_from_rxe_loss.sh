#!/usr/bin/env bash
# about: the soft device fed by rxe0 over a wire that loses 1 % both ways
# topology: rxe_netns
# mtu: 9000
# deadline: 120
# targets: rocio rocio_room_verbs
lose_packets 1
receiver 10.0.0.2 in_ns1 rocio recv --device soft:10.0.0.2
sender 10.0.0.2 rocio emulate --device rxe0
expect_whole_stream
expect_lossy_wire
