#!/usr/bin/env bash
# about: CUDA-Q's loop of emulated FPGA, playback and bridge over rdma_rxe, on two devices and on one
# topology: rxe_pair
# mtu: 9000
# deadline: 240
# targets: rocio rocio_room_verbs
loop() { # NAME OPTIONS…
    local name=$1
    shift
    timeout 100 rocio selftest cudaq --reply-timeout 5s --json "$@" >"$name.out" 2>"$name.err" ||
        fail "$name: $(cat "$name.out" "$name.err")"
    cat "$name.out"
    expect_field "$name" lost 0
    expect_field "$name" mismatched 0
}
loop plain --device rxe1 --bridge-device rxe0 --num-messages 1000
expect_field plain matched 1000
loop unified --device rxe1 --bridge-device rxe0 --num-messages 1000 --unified
expect_field unified dispatched 1000
loop forward --device rxe1 --bridge-device rxe0 --num-messages 100 --forward
expect_field forward forwarded 100

# One port with the addresses of both ends, as the original's script sets it up.
second_address 10.0.0.3 0003
loop one_device --device rxe0 --fpga-ip 10.0.0.3 --num-messages 100
expect_field one_device matched 100
