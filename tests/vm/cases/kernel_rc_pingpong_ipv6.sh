#!/usr/bin/env bash
# about: ibv_rc_pingpong between two kernel devices over IPv6
# topology: rxe_pair
# mtu: 9000
# deadline: 60
# programs: ibv_rc_pingpong
pingpong rc 4096 ipv6
