#!/usr/bin/env bash
# Runs the HSB loop end to end: FPGA (or its emulator), bridge, playback. Takes the options of CUDA-Q's script of this
# name and starts the three programs with the same command lines, so that either set of programs can be tested.
#
# Beyond the original: a device named "soft" needs neither NIC nor root; the programs then have the addresses of
# --bridge-ip and --emulator-ip, which may be any of 127.0.0.0/8.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_tree=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

emulate=false build=false network=false run=true verify=true unified=false forward=false keep_logs=false
device="" bin_dir="" bridge_ip="" emulator_ip="" fpga_ip=192.168.0.2 mtu=4096
timeout=60 messages=100 payload=8 page_size=384 pages=128 control_port=8193 jobs=$(nproc)

usage() {
    cat <<END
usage: $(basename "$0") [OPTION [VALUE]]...

What runs
  --emulate            an emulated FPGA; without it a real one is expected
  --unified            the bridge works on one thread
  --forward            the bridge sends back what it gets; not with --unified
  --no-verify          the playback does not look at the answers
  --no-run             nothing, only what is asked for below
  --build              build the programs first (cmake; in this source tree)
  --jobs N             jobs of the build ($jobs)
  --setup-network      give the device's interface its addresses and MTU (root)

Where
  --bin-dir DIR        programs hsb_bridge_cpu, hsb_fpga_emulator, hsb_fpga_playback (the folder of this script)
  --device NAME        RDMA device, or soft (the first device there is, else soft)
  --bridge-ip ADDR     the bridge's address (10.0.0.1; soft: 127.0.0.8)
  --emulator-ip ADDR   the emulator's (10.0.0.2; soft: 127.0.0.9)
  --fpga-ip ADDR       the real FPGA's ($fpga_ip)
  --control-port N     UDP port of the emulator's control channel ($control_port)
  --mtu N              bytes, for --setup-network ($mtu)

How much
  --timeout N          seconds until the bridge gives up ($timeout)
  --num-messages N     requests ($messages)
  --payload-size N     bytes of each behind its header ($payload)
  --page-size N        bytes of a slot ($page_size)
  --num-pages N        slots ($pages)

  --save-temps         keep the logs of bridge and emulator
  --hsb-dir DIR, --cuda-quantum-dir DIR   accepted and not needed
END
}

fail() {
    echo "ERROR: $*" >&2
    exit 1
}

parse() {
    while (($#)); do
        case $1 in
        --emulate) emulate=true ;;
        --unified) unified=true ;;
        --forward) forward=true ;;
        --build) build=true ;;
        --setup-network) network=true ;;
        --no-run) run=false ;;
        --no-verify) verify=false ;;
        --save-temps) keep_logs=true ;;
        --help | -h)
            usage
            exit 0
            ;;
        --hsb-dir | --cuda-quantum-dir | --jobs | --bin-dir | --device | --bridge-ip | --emulator-ip | --fpga-ip | --mtu | \
            --timeout | --num-messages | --payload-size | --page-size | --num-pages | --control-port)
            (($# > 1)) || fail "$1 needs a value"
            set_value "$1" "$2"
            shift
            ;;
        *)
            echo "ERROR: Unknown option: $1" >&2
            usage >&2
            exit 1
            ;;
        esac
        shift
    done
}

set_value() {
    case $1 in
    --jobs) jobs=$2 ;;
    --bin-dir) bin_dir=$2 ;;
    --device) device=$2 ;;
    --bridge-ip) bridge_ip=$2 ;;
    --emulator-ip) emulator_ip=$2 ;;
    --fpga-ip) fpga_ip=$2 ;;
    --mtu) mtu=$2 ;;
    --timeout) timeout=$2 ;;
    --num-messages) messages=$2 ;;
    --payload-size) payload=$2 ;;
    --page-size) page_size=$2 ;;
    --num-pages) pages=$2 ;;
    --control-port) control_port=$2 ;;
    esac
}

is_soft() { [[ $device == soft ]]; }

choose_device() {
    [[ -n $device ]] || device=$(find /sys/class/infiniband -mindepth 1 -printf '%f\n' 2>/dev/null | sort | head -n 1)
    [[ -n $device ]] || device=soft
    if is_soft; then
        : "${bridge_ip:=127.0.0.8}" "${emulator_ip:=127.0.0.9}"
    else
        : "${bridge_ip:=10.0.0.1}" "${emulator_ip:=10.0.0.2}"
    fi
}

# The device of whoever has this address.
device_of() { if is_soft; then echo "soft:$1"; else echo "$device"; fi; }

build_programs() {
    [[ -f $source_tree/CMakeLists.txt ]] || fail "--build: no source tree around this script"
    [[ -z $bin_dir ]] || fail "--build and --bin-dir contradict each other"
    cmake -S "$source_tree" -B "$source_tree/build/release" -DCMAKE_BUILD_TYPE=Release || fail "cmake failed"
    cmake --build "$source_tree/build/release" --target rocio -j "$jobs" || fail "the build failed"
    bin_dir=$source_tree/build/release/hsb
}

as_root() {
    echo "  + $*"
    if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

gid_of() { # ADDRESS: the end of its GID, as sysfs spells it
    local a b c d
    IFS=. read -r a b c d <<<"$1"
    printf ':ffff:%02x%02x:%02x%02x' "$a" "$b" "$c" "$d"
}

# Index and address of each RoCE v2 entry with an IPv4 address.
ipv4_gids() {
    local port=/sys/class/infiniband/$device/ports/1 index gid kind digits
    for index in {0..31}; do
        gid=$(cat "$port/gids/$index" 2>/dev/null) || continue
        kind=$(cat "$port/gid_attrs/types/$index" 2>/dev/null) || continue
        [[ $gid == *:ffff:* && $kind == *v2* ]] || continue
        digits=${gid: -9:4}${gid: -4}
        echo "$index $((16#${digits:0:2})).$((16#${digits:2:2})).$((16#${digits:4:2})).$((16#${digits:6:2}))"
    done
}

wait_for_gid() {
    local until=$((SECONDS + 20))
    until ipv4_gids | grep -q " $1\$"; do
        ((SECONDS < until)) || fail "$device got no RoCE v2 GID for $1 ($(gid_of "$1"))"
        sleep 0.2
    done
}

set_up_network() {
    if is_soft; then
        echo "Network: a soft device needs no set-up"
        return
    fi
    local netdev mac address
    netdev=$(cat "/sys/class/infiniband/$device/ports/1/gid_attrs/ndevs/0" 2>/dev/null)
    [[ -n $netdev ]] || fail "$device has no network interface"
    echo "Network: $netdev of $device"
    as_root ip link set "$netdev" up mtu "$mtu" || fail "cannot set up $netdev"
    as_root ip addr flush dev "$netdev"
    local addresses=("$bridge_ip")
    $emulate && addresses+=("$emulator_ip")
    # One after the other: programs that take the first and the last address count on the order.
    for address in "${addresses[@]}"; do
        as_root ip addr add "$address/24" dev "$netdev" || fail "cannot give $netdev the address $address"
        wait_for_gid "$address"
    done
    if $emulate; then
        mac=$(cat "/sys/class/net/$netdev/address")
        for address in "${addresses[@]}"; do
            as_root ip neigh replace "$address" lladdr "$mac" dev "$netdev" nud permanent
        done
    fi
    if command -v mlnx_qos >/dev/null; then as_root mlnx_qos -i "$netdev" --trust=dscp 2>/dev/null; fi
    if command -v ethtool >/dev/null; then as_root ethtool -C "$netdev" adaptive-rx off rx-usecs 0 2>/dev/null; fi
    return 0
}

# One port has both addresses: bridge and emulator find their own only if there is no third and the bridge's is first.
check_gids() {
    is_soft && return
    local table
    table=$(ipv4_gids)
    [[ $(awk '{ print $2 }' <<<"$table" | uniq) == "$bridge_ip"$'\n'"$emulator_ip" ]] && return
    echo "IPv4 RoCE v2 GIDs of $device: ${table:-none}" >&2
    fail "$device must have exactly $bridge_ip and then $emulator_ip: try --setup-network --device $device"
}

programs=()
logs=()

# Stops what was started, in order; what does not go is killed.
clean_up() {
    local pid tries
    for pid in "${programs[@]}"; do kill -TERM "$pid" 2>/dev/null; done
    for pid in "${programs[@]}"; do
        for ((tries = 0; tries < 50; ++tries)); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
        kill -KILL "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    programs=()
    if $keep_logs; then
        ((${#logs[@]} == 0)) || echo "Logs: ${logs[*]}"
    else
        rm -f "${logs[@]}"
    fi
    logs=()
}

# start NAME COMMAND…: in the background, its lines shown with its name and kept in $log.
start() {
    local name=$1
    shift
    log=$(mktemp -t "hsb_test_cpu_${name}_XXXXXX.log")
    logs+=("$log")
    "$@" > >(tee "$log" | sed -u "s/^/[$name] /") 2>&1 &
    programs+=($!)
}

# wait_for TEXT: until the program started last has said it.
wait_for() {
    local until=$((SECONDS + 30))
    until grep -q "$1" "$log"; do
        kill -0 "${programs[-1]}" 2>/dev/null || fail "it ended before it said '$1': $(cat "$log")"
        ((SECONDS < until)) || fail "it did not say '$1' within 30 s"
        sleep 0.1
    done
}

# number PATTERN: what the log says behind it.
number() {
    grep -oP "$1" "$log" | tail -n 1
}

run_test() {
    [[ -n $bin_dir ]] || bin_dir=$here
    local program needed=(hsb_bridge_cpu hsb_fpga_playback)
    $emulate && needed+=(hsb_fpga_emulator)
    for program in "${needed[@]}"; do
        [[ -x $bin_dir/$program ]] || fail "$bin_dir has no $program: give --bin-dir or --build"
    done
    trap clean_up EXIT

    local peer_qp=0x2 peer_ip=$fpga_ip log
    if $emulate; then
        check_gids
        start EMULATOR "$bin_dir/hsb_fpga_emulator" --device="$(device_of "$emulator_ip")" --port="$control_port" \
            --bridge-ip="$bridge_ip" --page-size="$page_size"
        wait_for 'QP Number: 0x'
        peer_qp=0x$(number 'QP Number: 0x\K[0-9a-fA-F]+')
        peer_ip=$emulator_ip
    fi

    local bridge=(--device="$(device_of "$bridge_ip")" --peer-ip="$peer_ip" --remote-qp="$peer_qp" --timeout="$timeout"
        --payload-size="$payload" --page-size="$page_size" --num-pages="$pages")
    $unified && bridge+=(--unified)
    $forward && bridge+=(--forward)
    start BRIDGE "$bin_dir/hsb_bridge_cpu" "${bridge[@]}"
    wait_for 'Bridge Ready'
    wait_for 'Buffer Addr: 0x'
    local qp rkey buffer
    qp=$(number 'QP Number: 0x\K[0-9a-fA-F]+')
    rkey=$(number 'RKey: \K[0-9]+')
    buffer=$(number 'Buffer Addr: 0x\K[0-9a-fA-F]+')
    [[ -n $qp && -n $rkey && -n $buffer ]] || fail "the bridge told no queue pair, key or buffer"

    local playback=(--hsb-ip="$peer_ip" --bridge-qp="0x$qp" --bridge-rkey="$rkey" --bridge-buffer="0x$buffer"
        --page-size="$page_size" --num-pages="$pages" --num-messages="$messages" --payload-size="$payload"
        --bridge-ip="$bridge_ip")
    $emulate && playback+=(--emulator --control-port="$control_port")
    $verify || playback+=(--no-verify)
    $forward && playback+=(--forward)
    "$bin_dir/hsb_fpga_playback" "${playback[@]}"
    local status=$?
    clean_up
    echo
    if ((status == 0)); then echo "*** TEST PASSED ***"; else echo "*** TEST FAILED ***"; fi
    return "$status"
}

parse "$@"
$unified && $forward && fail "--unified and --forward are mutually exclusive"
choose_device
mode=3-thread
$unified && mode=UNIFIED
$forward && mode=FORWARD
echo "HSB loop on $device: $($emulate && echo emulated || echo real) FPGA, bridge $mode"
if $build; then build_programs; fi
if $network; then set_up_network; fi
if $run; then run_test; fi
