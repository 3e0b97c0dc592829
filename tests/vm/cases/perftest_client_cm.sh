#!/usr/bin/env bash
# about: ib_send_lat -R as client, our cm_acceptor as server, 1000 iterations; one and several packets
# topology: rxe_pair
# mtu: 9000
# deadline: 110
# programs: ib_send_lat
# targets: rocio_perftest_server
for size in 64 16384; do
    start "server$size" rocio_perftest_server --device rxe1 --listen 10.0.0.2:18515 --size "$size"
    wait_for "server$size" listening
    ib_send_lat -R -d rxe0 -n 1000 -s "$size" --source_ip 10.0.0.1 10.0.0.2
    finish "server$size"
    cat "server$size.out"
done
