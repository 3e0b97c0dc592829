#!/usr/bin/env bash
# about: rdma_cm: nobody listens, rejected, cancelled at every moment, deadlines, IPv4 and IPv6, many at once
# topology: rxe_pair
# mtu: 9000
# deadline: 240
# targets: cm_connect_test
ROCIO_TEST_DEVICE=rxe0,rxe1 cm_connect_test
