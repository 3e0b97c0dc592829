#!/usr/bin/env bash
# about: rocio recv on rxe0, fed by rocio emulate on rxe1
# topology: rxe_pair
# mtu: 9000
# deadline: 120
# targets: rocio rocio_room_verbs
receiver 10.0.0.1 rocio recv --device rxe0
sender 10.0.0.1 rocio emulate --device rxe1
expect_whole_stream
