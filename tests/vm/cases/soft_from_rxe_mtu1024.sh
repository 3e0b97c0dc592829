#!/usr/bin/env bash
# about: the soft device fed by rxe0, path MTU 1024
# topology: rxe_netns
# mtu: 1500
# deadline: 120
# targets: rocio rocio_room_verbs
receiver 10.0.0.2 in_ns1 rocio recv --device soft:10.0.0.2 --mtu 1024
sender 10.0.0.2 rocio emulate --device rxe0 --mtu 1024
expect_whole_stream
