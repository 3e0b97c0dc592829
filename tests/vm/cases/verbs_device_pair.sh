#!/usr/bin/env bash
# about: verbs_device_test between two kernel devices
# topology: rxe_pair
# mtu: 9000
# deadline: 180
# targets: verbs_device_test
ROCIO_TEST_DEVICE=rxe0,rxe1 verbs_device_test
