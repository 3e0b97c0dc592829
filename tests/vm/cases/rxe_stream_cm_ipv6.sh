#!/usr/bin/env bash
# about: the same over IPv6, listening at every address of the device, with MTU 1500
# topology: rxe_pair
# mtu: 1500
# deadline: 120
# targets: rocio rocio_room_verbs
start recv rocio recv --device rxe0 --connect cm --listen "[::]:18515" --sessions 1 --mtu 1024 --json
wait_for recv "waiting for a sender at"
start emulate rocio emulate --device rxe1 --connect cm --peer "[fd00::1]:18515" --mtu 1024 --count 25000 --json
expect_whole_stream
