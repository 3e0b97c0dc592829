#!/usr/bin/env bash
# about: rocio doctor names a short MTU at the peer, a short memlock limit and a port without a usable GID
# topology: rxe_netns
# mtu: 9000
# deadline: 60
# programs: setpriv
# targets: rocio rocio_room_verbs
expect_said() { grep -q -- "$1" doctor.out || fail "doctor did not say: $1"; }

ulimit -l unlimited
rocio doctor --peer 10.0.0.2 >healthy.out || fail "a healthy guest has problems: $(cat healthy.out)"

in_ns1 ip link set veth1 mtu 1500
ip link add veth8 type veth peer name veth9
ip link set veth8 addrgenmode none up
ip link set veth9 up
rdma link add rxe9 type rxe netdev veth8
ulimit -l 64
status=0
# Root may lock more than the limit: only whoever lacks that capability is in trouble.
rocio doctor >root.out || true
grep -q "ok  memlock: 65.5 kB of memory may be locked, and more" root.out || fail "root is not told that it may: $(cat root.out)"
setpriv --bounding-set=-ipc_lock rocio doctor --peer 10.0.0.2 >doctor.out || status=$?
rdma link delete rxe9
ip link del veth8
cat doctor.out
[[ $status -eq 1 ]] || fail "doctor ended with status $status"
expect_said "carries path MTU 1024, but not 2048"
expect_said "BAD  memlock: 65.5 kB"
expect_said "BAD  rxe9 port 1 GID: no usable GID"
expect_said "held by the kernel module rdma_rxe"
