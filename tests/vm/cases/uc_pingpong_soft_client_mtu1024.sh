#!/usr/bin/env bash
# about: ibv_uc_pingpong as server on rxe0, our program as client on the soft device, path MTU 1024
# topology: rxe_netns
# mtu: 1500
# deadline: 60
# programs: ibv_uc_pingpong
# targets: rocio_pingpong
start server ibv_uc_pingpong -d rxe0 -g "$(gid_index rxe0 ipv4)" -m 1024 -n 1000
wait_listening server 18515
in_ns1 rocio_pingpong --device soft:10.0.0.2 --mtu 1024 --uc 10.0.0.1:18515
finish server
