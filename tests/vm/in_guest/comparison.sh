# perftest, a loop of plain libibverbs calls and rocio with the same messages, one after the other on the same two
# CPUs: the first of two processes on CPU 0, the second on CPU 1.
# shellcheck shell=bash

samples=samples.txt # lines of TEST MODE SIZE WHO ROUND FIGURE: microseconds, or MB/s for a stream
next_port=18700

taken() { # WHO FIGURE: of $test $mode $size in $round
    [[ $2 =~ ^[0-9] ]] || fail "$1 gave no figure for $test $mode $size: $(tail -n 3 second.out second.err)"
    echo "$test $mode $size $1 $round $2" >>"$samples"
}

by_perftest() { # PROGRAM COLUMN OPTIONS…
    local program=$1 column=$2
    shift 2
    [[ $mode == spin ]] || set -- "$@" -e
    start first timeout 120 taskset 1 "$program" -F -d rxe0 -x "$(gid_index rxe0 ipv4)" -s "$size" "$@"
    wait_listening first 18515
    start second timeout 120 taskset 2 "$program" -F -d rxe1 -x "$(gid_index rxe1 ipv4)" -s "$size" "$@" 10.0.0.1
    finish second
    finish first
    taken perftest "$(awk -v column="$column" '$1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+$/ {figure = $column} END {print figure}' second.out)"
}

# A veth pair for soft devices, each end in a namespace of its own: packets between two addresses of one namespace
# would go by loopback, and the rules that rxe_pair needs would be looked up three times for every datagram. The
# neighbours are given, as those of veth0 and veth1.
soft_wire() { # MTU
    ip netns add near
    ip netns add far
    ip link add soft0 mtu "$1" address 02:00:00:00:00:03 netns near type veth \
        peer name soft1 mtu "$1" address 02:00:00:00:00:04 netns far
    ip -n near -batch - <<END
addr add 10.3.0.1/24 dev soft0
link set soft0 up
neigh add 10.3.0.2 lladdr 02:00:00:00:00:04 dev soft0
END
    ip -n far -batch - <<END
addr add 10.3.0.2/24 dev soft1
link set soft1 up
neigh add 10.3.0.1 lladdr 02:00:00:00:00:03 dev soft1
END
}

by_rocio() { # WHO KEY SCALE FIRST_DEVICE SECOND_DEVICE OPTIONS…: KEY of the JSON line × SCALE
    local who=$1 key=$2 scale=$3 first=$4 second=$5 address=10.0.0.1:$((next_port++)) near=() far=()
    shift 5
    [[ $who != soft ]] || address=10.3.0.1:${address#*:} near=(ip netns exec near) far=(ip netns exec far)
    set -- --poll "$mode" --size "$size" --json "$@"
    start first "${near[@]}" timeout 120 rocio bench "$test" --device "$first" --listen "$address" --cpu 0 "$@"
    wait_for first "waiting for the other side"
    start second "${far[@]}" timeout 120 rocio bench "$test" --device "$second" --peer "$address" --cpu 1 "$@"
    finish second
    finish first
    tail -n 1 second.out | sed "s/^/$round $who /" >>json.txt
    taken "$who" "$(field second "$key" | awk -v scale="$scale" '{print $1 * scale}')"
}

# Every implementation once; the order turns round by round, so that what one leaves behind hits all alike.
one_round() { # PROGRAM COLUMN KEY SCALE COUNT PERFTEST_OPTIONS…
    local program=$1 column=$2 key=$3 scale=$4 count=$5 who order=(perftest plain rocio soft)
    shift 5
    [[ $((round % 2)) -eq 1 ]] || order=(soft rocio plain perftest)
    for who in "${order[@]}"; do
        case $who in
        perftest) by_perftest "$program" "$column" -n "$count" "$@" ;;
        plain) by_rocio plain "$key" "$scale" rxe0 rxe1 --count "$count" --plain ;;
        rocio) by_rocio rocio "$key" "$scale" rxe0 rxe1 --count "$count" ;;
        soft) by_rocio soft "$key" "$scale" soft:10.3.0.1 soft:10.3.0.2 --count "$count" ;;
        esac
    done
}

latency() { # PROGRAM COUNT
    local inline=()
    [[ $size -gt 220 ]] || inline=(-I "$size") # as rocio does; perftest does it unasked on some NICs only
    one_round "$1" 5 median 1 "$2" "${inline[@]}"
}

bandwidth() { # COUNT: perftest's MB are 2^20 bytes
    one_round ib_send_bw 4 bytes_per_second 9.5367431640625e-7 "$1"
}

comparison() { # ROUNDS COUNT
    local rounds=$1 count=$2 round test mode size
    soft_wire 9000
    for ((round = 1; round <= rounds; round++)); do
        for size in 64 4096; do
            test=send
            for mode in spin park; do latency ib_send_lat "$count"; done
            test=write mode=spin
            latency ib_write_lat "$count"
        done
        test=stream size=4096
        for mode in spin park; do bandwidth "$((2 * count))"; done
    done
    awk -f /rocio/comparison_table.awk "$samples" | tee table.txt
}

within() { # TEST MODE SIZE WHO LIMIT: rocio's ratio to WHO, from the table's machine-readable lines
    awk -v key="$1 $2 $3 $4" -v limit="$5" '
        $1 == "ratio" && $2 " " $3 " " $4 " " $5 == key {ratio = $6}
        END {
            good = ratio > 0 && ratio <= limit
            printf "%s %s: %s, at most %s allowed%s\n", "rocio to", key, ratio, limit, good ? "" : ": TOO SLOW"
            exit !good
        }' ratios.txt
}

at_least() { # TEST MODE SIZE WHO LIMIT: as within(), for streams
    awk -v key="$1 $2 $3 $4" -v limit="$5" '
        $1 == "ratio" && $2 " " $3 " " $4 " " $5 == key {ratio = $6}
        END {
            good = ratio >= limit
            printf "%s %s: %s, at least %s needed%s\n", "rocio to", key, ratio, limit, good ? "" : ": TOO SLOW"
            exit !good
        }' ratios.txt
}
