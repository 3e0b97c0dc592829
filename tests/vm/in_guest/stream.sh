# `rocio recv` and `rocio emulate` as the two ends of a checked stream.
# shellcheck shell=bash

frame_bytes=4096
frame_count=25000 # × 4096 bytes = 102 MB

receiver() { # LISTEN_ADDRESS PREFIX… rocio recv OPTIONS…: one session
    local listen=$1
    shift
    start recv "$@" --listen "$listen:18515" --sessions 1 --payload "$frame_bytes" --json
    wait_for recv "waiting for a sender at"
}

sender() { # PEER_ADDRESS PREFIX… rocio emulate OPTIONS…
    local peer=$1
    shift
    start emulate "$@" --peer "$peer:18515" --payload "$frame_bytes" --count "$frame_count" --json
}

field() { # NAME KEY: a number in the JSON object on the last line of NAME.out
    tail -n 1 "$1.out" | sed -n "s/.*\"$2\": *\([^,}]*\).*/\1/p"
}

expect_field() { # NAME KEY VALUE
    local is
    is=$(field "$1" "$2")
    [[ $is == "$3" ]] || fail "$1: $2 is '$is', not $3: $(tail -n 1 "$1.out")"
}

# Both ends have ended well, and every frame came once and whole.
expect_whole_stream() {
    finish emulate
    finish recv
    expect_field recv frames "$frame_count"
    expect_field recv bytes "$((frame_count * frame_bytes))"
    expect_field recv lost 0
    expect_field recv duplicated 0
    expect_field recv corrupt 0
    tail -n 1 recv.out
}

expect_lossy_wire() { # a wire that lost nothing has proved nothing
    local lost
    lost=$(lost_packets)
    [[ $lost -gt 20 ]] || fail "the wire lost $lost packets only"
    echo "packets lost by the wire: $lost"
}
