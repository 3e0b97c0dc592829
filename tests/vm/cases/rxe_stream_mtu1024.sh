#!/usr/bin/env bash
# about: rxe0 fed by rxe1, path MTU 1024
# topology: rxe_pair
# mtu: 1500
# deadline: 120
# targets: rocio rocio_room_verbs
receiver 10.0.0.1 rocio recv --device rxe0 --mtu 1024
sender 10.0.0.1 rocio emulate --device rxe1 --mtu 1024
expect_whole_stream
