#!/usr/bin/env bash
# about: the link goes down under load: a clear error, "down" in /status, and the next peer connects when it is back
# topology: rxe_pair
# mtu: 9000
# deadline: 120
# programs: curl
# targets: rocio rocio_room_verbs
start recv rocio recv --device rxe0 --listen 127.0.0.1:18515 --sessions 2 --http 127.0.0.1:8080 --json
wait_for recv "waiting for a sender at"
start first rocio emulate --device rxe1 --peer 127.0.0.1:18515 --connect-timeout 1
wait_for recv "connected: "
frames_flow() { curl -s http://127.0.0.1:8080/status | grep -q '"rx_frame_count":[1-9]'; }
wait_until recv 30 frames_flow

ip link set veth0 down
wait_for recv "connection ended: " 60
wait_for first "connection ended: " 60
port_is_down() { curl -s http://127.0.0.1:8080/status | grep -q '"port_state":"down"'; }
wait_until recv 30 port_is_down
kill "${pid_of[first]}"
wait "${pid_of[first]}" || true

ip link set veth0 up
# What went with the link: the route by the wire and the neighbour.
ip route replace 10.0.0.2/32 dev veth0 src 10.0.0.1 table 100
ip neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev veth0
port_is_up() { curl -s http://127.0.0.1:8080/status | grep -q '"port_state":"active"'; }
wait_until recv 30 port_is_up
rocio emulate --device rxe1 --peer 127.0.0.1:18515 --count 1000 --json >second.out
finish recv
expect_field second frames 1000
expect_field recv failed_sessions 1
cat recv.err
