# Background processes of a case and waits that end: no case sleeps and hopes. What a case leaves running is killed
# when it ends.
# shellcheck shell=bash

declare -A pid_of

start() { # NAME COMMAND…: in the background; says into NAME.out and NAME.err
    local name=$1
    shift
    "$@" >"$name.out" 2>"$name.err" &
    pid_of[$name]=$!
}

finish() { # NAME: waits for its end, which must be good
    local status=0
    wait "${pid_of[$1]}" || status=$?
    [[ $status -eq 0 ]] || fail "$1 ended with status $status"
}

running() { [[ -d /proc/${pid_of[$1]} ]]; }

# wait_until NAME SECONDS COMMAND…: until COMMAND succeeds; fails when NAME has ended or the time is over.
wait_until() {
    local name=$1 end=$((SECONDS + $2))
    shift 2
    until "$@"; do
        running "$name" || "$@" || fail "$name ended before: $*"
        [[ $SECONDS -lt $end ]] || fail "no success in time: $*"
        sleep 0.05
    done
}

wait_for() { # NAME PATTERN [SECONDS]: a line that NAME says
    wait_until "$1" "${3:-30}" grep -qs -- "$2" "$1.out" "$1.err"
}

has_listener() { # PORT [PREFIX…]
    local port
    port=$(printf '%04X' "$1")
    "${@:2}" cat /proc/net/tcp /proc/net/tcp6 | grep -q ":$port [0-9A-F]*:0000 0A "
}

wait_listening() { # NAME PORT [PREFIX…]: until somebody listens on the TCP port; PREFIX as in in_ns1
    wait_until "$1" 30 has_listener "${@:2}"
}

is_full_run() { # ROCIO_SOAK=full on the host: long runs with full counts, and with limits that need a quiet host
    [[ $(cat /share/soak 2>/dev/null) == full ]]
}
