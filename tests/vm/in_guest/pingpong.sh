# rdma-core's own ping-pong programs, kernel device against kernel device: what the guest itself must be able to do.
# shellcheck shell=bash

pingpong() { # rc|uc PATH_MTU ipv4|ipv6
    local program=ibv_$1_pingpong
    start server "$program" -c -d rxe0 -g "$(gid_index rxe0 "$3")" -m "$2" -n 300
    wait_listening server 18515
    "$program" -c -d rxe1 -g "$(gid_index rxe1 "$3")" -m "$2" -n 300 10.0.0.1
    finish server
}
