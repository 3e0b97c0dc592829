#!/usr/bin/env bash
# about: either end killed at random moments, connected by cm: the other one serves the next peer and leaves nothing behind
# topology: rxe_pair
# mtu: 9000
# deadline: 900
# targets: life_under_kills_test rocio
# labels: soak
kills_of_each_end=2
if is_full_run; then kills_of_each_end=25; fi
export ROCIO_TEST_DEVICE=rxe0,rxe1 ROCIO_TEST_CONNECT=cm ROCIO_TEST_ADDRESS=10.0.0.1 ROCIO_TEST_MOMENT=1500
life_under_kills_test --count "$kills_of_each_end"
