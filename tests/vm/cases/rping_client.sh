#!/usr/bin/env bash
# about: rping as client, our cm_acceptor as server: READ and WRITE of what it advertises, 1000 rounds
# topology: rxe_pair
# mtu: 9000
# deadline: 110
# programs: rping
# targets: rocio_rping
start server rocio_rping --device rxe1 --listen 10.0.0.2:7174 --count 1000
wait_for server listening
rping -c -a 10.0.0.2 -I 10.0.0.1 -p 7174 -C 1000 -V
finish server
cat server.out
