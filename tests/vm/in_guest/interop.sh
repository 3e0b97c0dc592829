# rocio_interop on the kernel's device against rocio_interop on the soft device, in both roles.
# shellcheck shell=bash

interop() { # rc|uc PATH_MTU: every operation, by the soft device to the kernel's and the other way
    local type=()
    [[ $1 == rc ]] || type=(--uc)
    interop_pair "kernel checks" 10.0.0.1 "" in_ns1 --mtu "$2" "${type[@]}"
    interop_pair "soft checks" 10.0.0.2 in_ns1 "" --mtu "$2" "${type[@]}"
}

interop_pair() { # WHAT LISTEN_ADDRESS PREFIX_OF_CHECKER PREFIX_OF_ACTOR OPTIONS…
    local what=$1 address=$2 checker=$3 actor=$4 checker_device=rxe0 actor_device=soft:10.0.0.2
    shift 4
    [[ -z $checker ]] || { checker_device=soft:10.0.0.2 actor_device=rxe0; }
    start checker $checker rocio_interop --device "$checker_device" --listen "$address:18600" "$@"
    wait_listening checker 18600 $checker
    $actor rocio_interop --device "$actor_device" --peer "$address:18600" "$@"
    finish checker
    echo "$what: $*"
}
