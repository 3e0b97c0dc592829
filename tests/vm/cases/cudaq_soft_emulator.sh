#!/usr/bin/env bash
# about: CUDA-Q's loop as three processes: the emulated FPGA on the soft device in a namespace, the bridge on rdma_rxe
# topology: rxe_netns
# mtu: 9000
# deadline: 240
# targets: rocio rocio_room_verbs
told() { sed -n "s/^ *$2: \(0x\)\?//p" "$1.out" | head -n 1; } # NAME LABEL

loop() { # NAME BRIDGE_OPTIONS…
    local name=$1 qp
    shift
    start emulator in_ns1 rocio emulate --profile cudaq --device soft:10.0.0.2 --bridge-ip 10.0.0.1 --passes 1
    wait_for emulator "QP Number: 0x"
    start bridge rocio bridge --device rxe0 --peer-ip 10.0.0.2 --remote-qp "0x$(told emulator "QP Number")" \
        --num-pages 128 --page-size 384 --payload-size 8 "$@"
    wait_for bridge "Buffer Addr: 0x"
    timeout 60 rocio playback --emulator --hsb-ip 10.0.0.2 --control-port 8193 --bridge-ip 10.0.0.1 \
        --bridge-qp "0x$(told bridge "QP Number")" --bridge-rkey "$(told bridge RKey)" \
        --bridge-buffer "0x$(told bridge "Buffer Addr")" --num-pages 128 --page-size 384 --payload-size 8 \
        --num-messages 200 --json >"$name.out" 2>"$name.err" || fail "$name: $(cat "$name.out" "$name.err")"
    expect_field "$name" matched 200
    kill -INT "${pid_of[bridge]}"
    finish bridge
    finish emulator
    tail -n 1 "$name.out"
}
loop plain
loop unified --unified
