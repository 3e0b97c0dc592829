#!/usr/bin/env bash
# about: ibv_uc_pingpong as client on rxe0, our program as server on the soft device, path MTU 4096
# topology: rxe_netns
# mtu: 9000
# deadline: 60
# programs: ibv_uc_pingpong
# targets: rocio_pingpong
start server in_ns1 rocio_pingpong --device soft:10.0.0.2 --mtu 4096 --uc
wait_listening server 18515 in_ns1
ibv_uc_pingpong -d rxe0 -g "$(gid_index rxe0 ipv4)" -m 4096 -n 1000 10.0.0.2
finish server
cat server.out
