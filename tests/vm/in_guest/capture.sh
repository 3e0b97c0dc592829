#!/usr/bin/env bash
# usage: capture.sh start FOLDER | stop: veth0's RoCEv2 packets as FOLDER/veth0.pcap
set -euo pipefail

errors=/tmp/tcpdump.err
pid_file=/tmp/tcpdump.pid

start() {
    local prefix=()
    : >"$errors"
    ip link show veth0 >/dev/null 2>&1 || prefix=(ip netns exec ns2)
    "${prefix[@]}" tcpdump -Z root -B 16384 -U -n -i veth0 -w "$1/veth0.pcap" udp port 4791 2>"$errors" &
    echo $! >"$pid_file"
    local end=$((SECONDS + 10))
    until grep -qs "listening on" "$errors"; do
        [[ $SECONDS -lt $end ]] || { cat "$errors" && exit 1; }
        sleep 0.05
    done
}

stop() {
    local pid end=$((SECONDS + 10))
    pid=$(<"$pid_file")
    kill -TERM "$pid" # a background job of a script ignores SIGINT
    while [[ -d /proc/$pid ]]; do
        [[ $SECONDS -lt $end ]] || { echo "tcpdump does not end" && exit 1; }
        sleep 0.05
    done
    grep "packets" "$errors"
}

"$@"
