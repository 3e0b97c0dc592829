#!/usr/bin/env bash
# about: rocio recv on rxe0, fed by rocio emulate on the soft device
# topology: rxe_netns
# mtu: 9000
# deadline: 120
# targets: rocio rocio_room_verbs
receiver 10.0.0.1 rocio recv --device rxe0
sender 10.0.0.1 in_ns1 rocio emulate --device soft:10.0.0.2
expect_whole_stream
