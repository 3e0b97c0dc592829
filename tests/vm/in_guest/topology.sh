#!/usr/bin/env bash
# usage: topology.sh up rxe_pair|rxe_netns|soft_pair MTU
#        topology.sh down
# A veth pair: veth0 10.0.0.1 fd00::1, veth1 10.0.0.2 fd00::2.
#   rxe_pair   rxe0 on veth0 and rxe1 on veth1, both in the init namespace
#   rxe_netns  rxe0 on veth0 in the init namespace; veth1 in ns1, where UDP 4791 belongs to whoever binds it. (rdma_rxe
#              takes UDP 4791 on every address of the init namespace, and serves no other.)
#   soft_pair  veth0 in ns2, veth1 in ns1: no kernel RDMA
set -euo pipefail

veth() { # MTU NAMESPACE_OF_VETH0 NAMESPACE_OF_VETH1; "" is the init namespace
    local namespace
    for namespace in "$2" "$3"; do
        [[ -z $namespace ]] || { ip netns add "$namespace" && ip -n "$namespace" link set lo up; }
    done
    ip link add veth0 mtu "$1" address 02:00:00:00:00:01 type veth \
        peer name veth1 mtu "$1" address 02:00:00:00:00:02
    [[ -z $2 ]] || ip link set veth0 netns "$2"
    [[ -z $3 ]] || ip link set veth1 netns "$3"
    # Neighbours are given, so that no first packet waits for ARP or is lost to it.
    ip ${2:+-n "$2"} -batch - <<END
addr add 10.0.0.1/24 dev veth0
addr add fd00::1/64 dev veth0 nodad
link set veth0 up
neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev veth0
neigh add fd00::2 lladdr 02:00:00:00:00:02 dev veth0
END
    ip ${3:+-n "$3"} -batch - <<END
addr add 10.0.0.2/24 dev veth1
addr add fd00::2/64 dev veth1 nodad
link set veth1 up
neigh add 10.0.0.1 lladdr 02:00:00:00:00:01 dev veth1
neigh add fd00::1 lladdr 02:00:00:00:00:01 dev veth1
END
}

# Packets between two addresses of one host would go by loopback. Here the local table answers only for what comes in
# from the wire and for sockets without a device; rxe routes with its own netdev as the outgoing one.
route_by_the_wire() {
    local device
    for device in all veth0 veth1; do
        echo 1 >/proc/sys/net/ipv4/conf/$device/accept_local
        echo 0 >/proc/sys/net/ipv4/conf/$device/rp_filter
    done
    ip -batch - <<END
$(rules)
rule add pref 30 lookup local
rule del pref 0
route add 10.0.0.2/32 dev veth0 src 10.0.0.1 table 100
route add 10.0.0.1/32 dev veth1 src 10.0.0.2 table 101
END
    ip -6 -batch - <<END
$(rules)
rule add pref 30 lookup local
rule del pref 0
route add fd00::2/128 dev veth0 src fd00::1 table 100
route add fd00::1/128 dev veth1 src fd00::2 table 101
END
}

rules() {
    echo "rule add pref 10 iif veth0 lookup local"
    echo "rule add pref 11 iif veth1 lookup local"
    echo "rule add pref 20 oif veth0 lookup 100"
    echo "rule add pref 21 oif veth1 lookup 101"
}

route_as_usual() {
    local family
    for family in -4 -6; do
        ip "$family" rule add pref 0 lookup local 2>/dev/null || true
        for pref in 10 11 20 21 30; do ip "$family" rule del pref "$pref" 2>/dev/null || true; done
    done
}

# rdma_rxe fills a new device's GID table from the netdev's addresses in its own time.
wait_for_gids() { # DEVICE ADDRESS_DIGIT
    local gids=/sys/class/infiniband/$1/ports/1/gids end=$((SECONDS + 15))
    until grep -qs ":ffff:0a00:000$2" "$gids"/* && grep -qs "^fd00:.*:000$2" "$gids"/* &&
        grep -q ACTIVE "/sys/class/infiniband/$1/ports/1/state"; do
        if [[ $SECONDS -ge $end ]]; then
            echo "$1 has no GIDs for its addresses" >&2
            return 1
        fi
        sleep 0.05
    done
}

rxe() { # DEVICE NETDEV ADDRESS_DIGIT
    rdma link add "$1" type rxe netdev "$2"
    wait_for_gids "$1" "$3"
}

up() { # TOPOLOGY MTU
    case $1 in
    rxe_pair)
        veth "$2" "" ""
        route_by_the_wire
        rxe rxe0 veth0 1
        rxe rxe1 veth1 2
        ;;
    rxe_netns)
        veth "$2" "" ns1
        rxe rxe0 veth0 1
        ;;
    soft_pair) veth "$2" ns2 ns1 ;;
    *) echo "topology.sh: no topology is called $1" >&2 && return 2 ;;
    esac
}

down() {
    local device namespace
    for device in /sys/class/infiniband/*; do
        [[ ! -e $device ]] || rdma link delete "${device##*/}"
    done
    for namespace in /run/netns/*; do
        [[ ! -e $namespace ]] || ip -n "${namespace##*/}" link del veth1 2>/dev/null || true
    done
    [[ ! -e /sys/class/net/veth0 ]] || ip link del veth0
    for namespace in /run/netns/*; do
        [[ ! -e $namespace ]] || ip netns del "${namespace##*/}"
    done
    [[ -z $(ip rule show pref 30) ]] || route_as_usual
}

"$@"
