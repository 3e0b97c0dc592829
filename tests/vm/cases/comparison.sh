#!/usr/bin/env bash
# about: rocio beside perftest and a loop of plain libibverbs calls: latency and stream, one table
# topology: rxe_pair
# mtu: 9000
# deadline: 1800
# programs: ib_send_lat ib_write_lat ib_send_bw
# targets: rocio rocio_room_verbs
# labels: soak
if ! is_full_run; then
    comparison 1 200
    exit
fi
comparison 5 1000
status=0
within send park 64 perftest 1.10 || status=1
within send spin 64 plain 1.07 || status=1
at_least stream spin 4096 plain 0.97 || status=1
within send spin 64 soft 1.00 || status=1
at_least stream spin 4096 soft 2.00 || status=1
exit $status
