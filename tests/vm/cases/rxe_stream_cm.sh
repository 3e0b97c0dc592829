#!/usr/bin/env bash
# about: rocio recv on rxe0, fed by rocio emulate on rxe1, connected by rdma_cm; nothing is left behind
# topology: rxe_pair
# mtu: 9000
# deadline: 120
# targets: rocio rocio_room_verbs
receiver 10.0.0.1 rocio recv --device rxe0 --connect cm
sender 10.0.0.1 rocio emulate --device rxe1 --connect cm
expect_whole_stream
[[ $(cm_ids) == 0 ]] || fail "ids are left: $(rdma resource show cm_id)"
[[ $(queue_pairs) == 0 ]] || fail "queue pairs are left: $(rdma resource show qp)"
