#!/usr/bin/env bash
# about: ibv_uc_pingpong between two kernel devices, path MTU 4096
# topology: rxe_pair
# mtu: 9000
# deadline: 60
# programs: ibv_uc_pingpong
pingpong uc 4096 ipv4
