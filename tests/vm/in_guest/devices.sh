# Network namespaces, RDMA devices and a lossy wire.
# shellcheck shell=bash

# busybox programs that run others (env, timeout, xargs) prefer its own ip and tc; these do not.
in_init() { "$@"; }
in_ns1() { ip netns exec ns1 "$@"; }
in_ns2() { ip netns exec ns2 "$@"; }

fail() {
    echo "$CASE: $*" >&2
    exit 1
}

gid_index() { # DEVICE ipv4|ipv6: the index of the topology's GID of that family
    local device=$1 pattern=":ffff:0a00:" gid
    [[ $2 == ipv4 ]] || pattern="^fd00:"
    for gid in /sys/class/infiniband/"$device"/ports/1/gids/*; do
        if grep -q "$pattern" "$gid" 2>/dev/null; then
            echo "${gid##*/}"
            return
        fi
    done
    return 1
}

second_address() { # IPV4 LAST_GROUP: of veth0; waits until rxe0 has a GID for it
    local end=$((SECONDS + 20))
    ip addr add "$1/24" dev veth0
    until grep -qs ":ffff:0a00:$2" /sys/class/infiniband/rxe0/ports/1/gids/*; do
        [[ $SECONDS -lt $end ]] || fail "rxe0 got no GID for $1"
        sleep 0.05
    done
}

at_veth() { # 0|1 COMMAND…: in the namespace where that end of the wire is
    local device=veth$1 place
    shift
    for place in in_init in_ns1 in_ns2; do
        if "$place" ip link show "$device" >/dev/null 2>&1; then
            "$place" "$@"
            return
        fi
    done
    fail "there is no $device"
}

lose_packets() { # PERCENT: of what leaves either end of the wire
    at_veth 0 tc qdisc add dev veth0 root netem loss "$1%"
    at_veth 1 tc qdisc add dev veth1 root netem loss "$1%"
}

lost_packets() { # what netem threw away so far, at both ends
    { at_veth 0 tc -s qdisc show dev veth0 && at_veth 1 tc -s qdisc show dev veth1; } |
        sed -n 's/.*dropped \([0-9]*\).*/\1/p' | awk '{sum += $1} END {print sum}'
}

cm_listens() { # whether a program listens for rdma_cm connections
    rdma resource show cm_id 2>/dev/null | grep -q "state LISTEN"
}

cm_ids() { # how many ids rdma_cm has in the kernel
    rdma resource show cm_id 2>/dev/null | grep -c . || true
}

queue_pairs() { # how many queue pairs there are but the two that every port has
    rdma resource show qp 2>/dev/null | grep -vcE "lqpn [01] " || true
}
