#!/usr/bin/env bash
# about: rocio recv and emulate, both with the soft device, over a veth pair of MTU 9000
# topology: soft_pair
# mtu: 9000
# deadline: 120
# targets: rocio
receiver 10.0.0.2 in_ns1 rocio recv --device soft:10.0.0.2
sender 10.0.0.2 in_ns2 rocio emulate --device soft:10.0.0.1
expect_whole_stream
