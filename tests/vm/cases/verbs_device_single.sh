#!/usr/bin/env bash
# about: verbs_device_test on one kernel device, with itself as the peer
# topology: rxe_netns
# mtu: 9000
# deadline: 180
# targets: verbs_device_test
ROCIO_TEST_DEVICE=rxe0 verbs_device_test
