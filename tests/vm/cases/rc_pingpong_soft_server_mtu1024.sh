#!/usr/bin/env bash
# about: ibv_rc_pingpong as client on rxe0, our program as server on the soft device, path MTU 1024
# topology: rxe_netns
# mtu: 1500
# deadline: 60
# programs: ibv_rc_pingpong
# targets: rocio_pingpong
start server in_ns1 rocio_pingpong --device soft:10.0.0.2 --mtu 1024
wait_listening server 18515 in_ns1
ibv_rc_pingpong -d rxe0 -g "$(gid_index rxe0 ipv4)" -m 1024 -n 1000 10.0.0.2
finish server
cat server.out
