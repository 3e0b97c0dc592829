#!/usr/bin/env bash
# about: the integration tests of queue pairs and of the stream, with kernel devices in place of soft ones
# topology: rxe_pair
# mtu: 9000
# deadline: 120
# targets: io_soft_test stream_soft_test rocio_room_verbs
export ROCIO_TEST_DEVICE=rxe0,rxe1
# Left out: what only a device in software does (no answer without a turn; counters and faults of its own).
io_soft_test --gtest_filter=-*notice_a_peer_that_does_not_run*
stream_soft_test --gtest_filter=-*consumer_that_keeps*:*bad_network*
