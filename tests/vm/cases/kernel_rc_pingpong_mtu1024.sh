#!/usr/bin/env bash
# about: ibv_rc_pingpong between two kernel devices, path MTU 1024
# topology: rxe_pair
# mtu: 1500
# deadline: 60
# programs: ibv_rc_pingpong
pingpong rc 1024 ipv4
