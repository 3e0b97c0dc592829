#!/usr/bin/env bash
# about: the ring, its calls and the C client over rdma_rxe: examples 05 and 06, and 07 against rocio serve
# topology: rxe_pair
# mtu: 9000
# deadline: 120
# targets: 05_ring 06_rpc_service 07_c_client rocio rocio_room_verbs
timeout 60 05_ring rxe0 rxe1 | tee ring.txt
grep -q "the squares of 0 to 19 make 2470" ring.txt || fail "05_ring told another sum"
timeout 60 06_rpc_service rxe0 rxe1 | tee rpc.txt
grep -q "client: 2 + 3 = 5" rpc.txt || fail "06_rpc_service told another sum"
grep -q "service: 3 calls answered" rpc.txt || fail "06_rpc_service answered another number of calls"

start serve rocio serve --device rxe0 --listen 10.0.0.1:18516 --json
wait_for serve "CPU_ROCE_DAEMON_READY port=18516 roce_ip=10.0.0.1"
timeout 60 07_c_client rxe1 10.0.0.2 10.0.0.1 18516 | tee c.txt
grep -q "the service added 0 to 99: 4950" c.txt || fail "07_c_client told another sum"
kill -INT "${pid_of[serve]}"
finish serve
expect_field serve answered 100
