#!/usr/bin/env bash
# about: SEND, WRITE and READ between rxe0 and the soft device, RC and UC, both directions, while the PSNs wrap
# topology: rxe_netns
# mtu: 9000
# deadline: 120
# targets: kernel_interop_test rocio_room_verbs
ROCIO_TEST_DEVICE=rxe0 ROCIO_TEST_NAMESPACE=ns1 ROCIO_TEST_SOFT=10.0.0.2 kernel_interop_test
