#!/usr/bin/env bash
# about: rxe0 fed by the soft device over IPv6
# topology: rxe_netns
# mtu: 9000
# deadline: 120
# targets: rocio rocio_room_verbs
receiver '[fd00::1]' rocio recv --device rxe0 --gid-index "$(gid_index rxe0 ipv6)"
sender '[fd00::1]' in_ns1 rocio emulate --device 'soft:[fd00::2]'
expect_whole_stream
