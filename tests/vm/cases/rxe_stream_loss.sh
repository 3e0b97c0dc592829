#!/usr/bin/env bash
# about: rxe0 fed by rxe1 over a wire that loses 1 % both ways
# topology: rxe_pair
# mtu: 9000
# deadline: 120
# targets: rocio rocio_room_verbs
lose_packets 1
receiver 10.0.0.1 rocio recv --device rxe0
sender 10.0.0.1 rocio emulate --device rxe1
expect_whole_stream
expect_lossy_wire
