#!/usr/bin/env bash
# about: hsb_test_cpu.sh with the three programs under their original names, over rdma_rxe: plain, unified, forward
# topology: rxe_pair
# mtu: 9000
# deadline: 240
# programs: grep mktemp sed
# targets: rocio rocio_room_verbs
second_address 10.0.0.3 0003
mkdir hsb
for name in hsb_bridge_cpu hsb_fpga_emulator hsb_fpga_playback; do ln -s "$(command -v rocio)" "hsb/$name"; done

script() { # NAME OPTIONS…
    local name=$1
    shift
    timeout 75 bash /rocio/hsb_test_cpu.sh --emulate --bin-dir "$PWD/hsb" --device rxe0 --bridge-ip 10.0.0.1 \
        --emulator-ip 10.0.0.3 --num-messages 100 "$@" >"$name.out" 2>"$name.err" ||
        fail "$name: $(cat "$name.out" "$name.err")"
    [[ $(tail -n 1 "$name.out") == "*** TEST PASSED ***" ]] || fail "$name: $(cat "$name.out")"
    grep -q "RESULT: PASS" "$name.out" || fail "$name: no verdict of the playback"
}
script plain
script unified --unified
script forward --forward
cat plain.out
