#!/usr/bin/env bash
# about: rping: rdma_cm connects two kernel devices
# topology: rxe_pair
# mtu: 9000
# deadline: 60
# programs: rping
start server rping -s -a 10.0.0.2 -p 7174 -C 20 -V
wait_until server 30 cm_listens
rping -c -a 10.0.0.2 -I 10.0.0.1 -p 7174 -C 20 -V -v
finish server
