#!/usr/bin/env bash
# about: rocio devices names the soft device of each address, in either namespace, with the path MTU its netdev allows
# topology: rxe_netns
# mtu: 1500
# deadline: 30
# targets: rocio
rocio devices | tee here.txt
in_ns1 rocio devices | tee ns1.txt
grep -Eq '^soft:10\.0\.0\.1 +soft +active +veth0 +1500 +1024 ' here.txt
grep -Eq '^soft:10\.0\.0\.2 +soft +active +veth1 +1500 +1024 ' ns1.txt
