#!/usr/bin/env bash
# about: rocio devices names the kernel's devices with port, netdev and path MTU
# topology: rxe_pair
# mtu: 9000
# deadline: 30
# targets: rocio rocio_room_verbs
rocio devices | tee here.txt
grep -Eq '^rxe0 .*active +veth0 +9000 +4096 ' here.txt
grep -Eq '^rxe1 .*active +veth1 +9000 +4096 ' here.txt
