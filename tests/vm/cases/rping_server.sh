#!/usr/bin/env bash
# about: rping as server, our cm_connector as client: it READs and WRITEs our memory, 1000 rounds
# topology: rxe_pair
# mtu: 9000
# deadline: 110
# programs: rping
# targets: rocio_rping
start server rping -s -a 10.0.0.2 -p 7174 -C 1000 -V
wait_until server 30 cm_listens
rocio_rping --device rxe0 --count 1000 10.0.0.2:7174
finish server
