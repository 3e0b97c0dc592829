#!/usr/bin/env bash
# about: rocio recv on the soft device, fed by rocio emulate on rxe0
# topology: rxe_netns
# mtu: 9000
# deadline: 120
# targets: rocio rocio_room_verbs
receiver 10.0.0.2 in_ns1 rocio recv --device soft:10.0.0.2
sender 10.0.0.2 rocio emulate --device rxe0
expect_whole_stream
