#!/usr/bin/env bash
# about: a receive that comes late, and a wrong key, between rxe0 and the soft device in both roles
# topology: rxe_netns
# mtu: 9000
# deadline: 120
# targets: rocio_interop rocio_room_verbs
interop_pair "kernel, late receive" 10.0.0.1 "" in_ns1 --late-receive 100
interop_pair "soft, late receive" 10.0.0.2 in_ns1 "" --late-receive 100
interop_pair "kernel, wrong key" 10.0.0.1 "" in_ns1 --bad-key
interop_pair "soft, wrong key" 10.0.0.2 in_ns1 "" --bad-key
