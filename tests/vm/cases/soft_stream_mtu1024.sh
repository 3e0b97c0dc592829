#!/usr/bin/env bash
# about: two soft devices over a veth pair of MTU 1500: path MTU 1024
# topology: soft_pair
# mtu: 1500
# deadline: 120
# targets: rocio
receiver 10.0.0.2 in_ns1 rocio recv --device soft:10.0.0.2 --mtu 1024
sender 10.0.0.2 in_ns2 rocio emulate --device soft:10.0.0.1 --mtu 1024
expect_whole_stream
