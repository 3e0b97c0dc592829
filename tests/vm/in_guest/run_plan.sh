#!/usr/bin/env bash
# Runs the cases of /share/plan, lines of NAME TOPOLOGY MTU DEADLINE CAPTURE, one after another.
set -uo pipefail

results=/share/results

last_lines() { # FOLDER: what the case's programs said
    local file
    for file in "$1"/*.out "$1"/*.err; do
        [[ -s $file ]] || continue
        echo "-- ${file##*/}"
        tail -n 40 "$file"
    done
}

# Nothing of a case outlives it: neither processes nor devices.
clean() {
    local try
    kill -9 -1 2>/dev/null
    wait
    for try in 1 2 3; do
        timeout 10 bash /rocio/topology.sh down && return
        sleep "$try"
    done
    return 1
}

write_status() { # FOLDER STATUS BEGIN: renamed into place, because the host must not read half of it
    local microseconds=$((${EPOCHREALTIME/./} - $3))
    printf '%d.%d\n' $((microseconds / 1000000)) $((microseconds / 100000 % 10)) >"$1/seconds"
    echo "$2" >"$1/status.new"
    mv "$1/status.new" "$1/status"
}

run_case() { # NAME TOPOLOGY MTU DEADLINE CAPTURE
    local name=$1 folder=$results/$1 kernel_lines status=0 begin=${EPOCHREALTIME/./}
    mkdir -p "$folder"
    kernel_lines=$(dmesg | wc -l)
    {
        if timeout 30 bash /rocio/topology.sh up "$2" "$3"; then
            [[ $5 == 0 ]] || bash /rocio/capture.sh start "$folder" || status=1
            (cd "$folder" && CASE=$name setsid timeout -k 3 "$4" bash /rocio/run_case.sh "$name") || status=$?
            [[ $5 == 0 ]] || bash /rocio/capture.sh stop || status=1
        else
            status=1
            echo "$name: topology $2 with MTU $3 cannot be made"
        fi
        if [[ $status == 143 || $status == 124 || $status == 137 ]]; then
            echo "$name: did not end within its deadline of $4 s"
        fi
        if [[ $status -ne 0 ]]; then
            last_lines "$folder"
            dmesg | tail -n "+$((kernel_lines + 1))" | sed 's/^/kernel: /' | tail -n 40
        fi
    } >"$folder/log" 2>&1 </dev/null
    if clean >>"$folder/log" 2>&1; then
        write_status "$folder" "$status" "$begin"
        return
    fi
    echo "$name: left the kernel in a state that topology $2 cannot be removed from" >>"$folder/log"
    write_status "$folder" 1 "$begin"
    poweroff -f # no place for the next case: the host boots another guest for the rest
}

while read -r name topology mtu deadline capture <&3; do
    run_case "$name" "$topology" "$mtu" "$deadline" "$capture"
done 3</share/plan
