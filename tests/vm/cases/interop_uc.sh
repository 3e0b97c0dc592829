#!/usr/bin/env bash
# about: every operation of uc between rxe0 and the soft device, both roles, path MTU 256 to 4096
# topology: rxe_netns
# mtu: 9000
# deadline: 120
# targets: rocio_interop rocio_room_verbs
for mtu in 256 512 1024 2048 4096; do interop uc "$mtu"; done
