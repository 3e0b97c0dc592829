#!/usr/bin/env bash
# about: every operation of RC between rxe0 and the soft device over a wire that loses 2 %
# topology: rxe_netns
# mtu: 9000
# deadline: 120
# targets: rocio_interop rocio_room_verbs
lose_packets 2
interop rc 1024
interop rc 4096
[[ $(lost_packets) -gt 0 ]] || fail "the wire lost nothing"
