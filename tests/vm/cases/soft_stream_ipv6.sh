#!/usr/bin/env bash
# about: two soft devices over IPv6
# topology: soft_pair
# mtu: 9000
# deadline: 120
# targets: rocio
receiver '[fd00::2]' in_ns1 rocio recv --device 'soft:[fd00::2]'
sender '[fd00::2]' in_ns2 rocio emulate --device 'soft:[fd00::1]'
expect_whole_stream
