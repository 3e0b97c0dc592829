# What rocio needs of the system, and how to get it on Debian and Ubuntu. Sourced by tools/quickstart and tools/check.
# shellcheck shell=bash

ROCIO_BUILD_NEEDS=(compiler cmake ninja pkg-config boost boost-json isa-l libibverbs librdmacm rdma-providers spdlog cli11
    libpcap libzmq prometheus-cpp zlib)
# tests/vm: a guest with the kernel's RDMA stack (x86-64 only).
ROCIO_GUEST_NEEDS=()
if [[ $(uname -m) == x86_64 ]]; then
    ROCIO_GUEST_NEEDS=(qemu-system-x86 busybox-static cpio kmod iproute2 ibverbs-utils rdmacm-utils perftest rxe-provider)
fi
# shellcheck disable=SC2034 # for tools/check
ROCIO_TEST_NEEDS=("${ROCIO_BUILD_NEEDS[@]}" gtest gmock benchmark ccache clang clang-tidy clang-format fuzzer
    valgrind git curl jq python3 python3-jsonschema promtool doxygen systemd-analyze tshark chromium
    fonts-dejavu-core nodejs npm "${ROCIO_GUEST_NEEDS[@]}")

rocio_has_command() { command -v "$1" >/dev/null 2>&1; }
rocio_has_module() { rocio_has_command pkg-config && pkg-config --exists "$1"; }
rocio_has_header() { [[ -e /usr/include/$1 || -e /usr/local/include/$1 ]]; }

rocio_has_admin_command() { PATH=$PATH:/usr/sbin:/sbin rocio_has_command "$1"; } # what an ordinary user's PATH lacks
rocio_has_static_busybox() { rocio_has_command busybox && ! ldd "$(command -v busybox)" >/dev/null 2>&1; }

rocio_has_boost() { # Boost 1.81 or newer
    local header
    for header in "${BOOST_ROOT:-/usr/local}/include/boost/version.hpp" /usr/local/include/boost/version.hpp \
        /usr/include/boost/version.hpp; do
        if [[ -e $header ]]; then
            awk '/^#define BOOST_VERSION /{exit !($3 >= 108100)}' "$header"
            return
        fi
    done
    return 1
}

rocio_has_library() { # the compiler finds lib$1.so or lib$1.a
    local file
    for file in "lib$1.so" "lib$1.a"; do
        [[ $(c++ "-print-file-name=$file" 2>/dev/null) == /* ]] && return 0
    done
    return 1
}

rocio_has() {
    case $1 in
    compiler) rocio_has_command c++ ;;
    cmake) rocio_has_command cmake ;;
    ninja) rocio_has_command ninja ;;
    boost) rocio_has_boost && rocio_has_header boost/asio.hpp ;;
    boost-json) rocio_has_library boost_json ;;
    isa-l) rocio_has_module libisal ;;
    libibverbs) rocio_has_module libibverbs ;;
    librdmacm) rocio_has_module librdmacm ;;
    rdma-providers) compgen -G '/usr/lib*/*/libibverbs/lib*-rdmav*.so' >/dev/null ||
        compgen -G '/usr/lib*/libibverbs/lib*-rdmav*.so' >/dev/null ;;
    spdlog) rocio_has_module spdlog ;;
    cli11) rocio_has_header CLI/CLI.hpp ;;
    libpcap) rocio_has_module libpcap ;;
    libzmq) rocio_has_module libzmq ;;
    prometheus-cpp) rocio_has_module prometheus-cpp-core ;;
    zlib) rocio_has_module zlib ;;
    gtest) rocio_has_module gtest ;;
    gmock) rocio_has_module gmock ;;
    benchmark) rocio_has_module benchmark ;;
    clang) rocio_has_command clang++ ;;
    qemu-system-x86) rocio_has_command qemu-system-x86_64 ;;
    busybox-static) rocio_has_static_busybox ;;
    kmod) rocio_has_admin_command modprobe ;;
    iproute2) rocio_has_admin_command tc && rocio_has_admin_command rdma ;;
    ibverbs-utils) rocio_has_command ibv_rc_pingpong ;;
    rdmacm-utils) rocio_has_command rping ;;
    perftest) rocio_has_command ib_send_lat ;;
    rxe-provider) compgen -G '/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav*.so' >/dev/null ;;
    python3-jsonschema) /usr/bin/python3 -c "import jsonschema" 2>/dev/null ;;
    chromium) rocio_has_command chromium || rocio_has_command chromium-browser || rocio_has_command google-chrome ;;
    fonts-dejavu-core) [[ -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf ]] ;;
    nodejs) rocio_has_command node ;;
    fuzzer) compgen -G '/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a' >/dev/null ;;
    *) rocio_has_command "$1" ;;
    esac
}

rocio_package_of() { # NEED, with boost_version in scope
    case $1 in
    compiler) echo g++ ;;
    ninja) echo ninja-build ;;
    boost) echo "libboost$boost_version-dev" ;;
    boost-json) echo "libboost-json$boost_version-dev" ;;
    isa-l) echo libisal-dev ;;
    libibverbs) echo libibverbs-dev ;;
    librdmacm) echo librdmacm-dev ;;
    rdma-providers) echo ibverbs-providers ;;
    spdlog) echo libspdlog-dev ;;
    cli11) echo libcli11-dev ;;
    libpcap) echo libpcap-dev ;;
    libzmq) echo libzmq3-dev ;;
    prometheus-cpp) echo prometheus-cpp-dev ;;
    zlib) echo zlib1g-dev ;;
    gtest) echo libgtest-dev ;;
    gmock) echo libgmock-dev ;;
    benchmark) echo libbenchmark-dev ;;
    rxe-provider) echo ibverbs-providers ;;
    fuzzer) echo libclang-rt-14-dev ;;
    systemd-analyze) echo systemd ;;
    # Where systemd runs the package also starts a server on port 9090: systemctl disable --now prometheus
    promtool) echo prometheus ;;
    *) echo "$1" ;;
    esac
}

rocio_apt_knows() { [[ $(apt-cache policy "$1" 2>/dev/null) =~ Candidate:\ [0-9] ]]; }

# "1.81" where apt has that, "" where its plain libboost-dev is new enough (Ubuntu 24.04), else "1.81" to be asked for.
rocio_boost_version() {
    local candidate version=1.81
    if ! rocio_apt_knows libboost1.81-dev; then
        candidate=$(apt-cache policy libboost-dev 2>/dev/null | awk '/Candidate: [0-9]/{print $2}')
        if [[ -n $candidate ]] && dpkg --compare-versions "$candidate" ge 1.81; then
            version=""
        fi
    fi
    echo "$version"
}

rocio_missing_packages() { # NEEDS… → Debian names, one a line
    local need boost_version
    boost_version=$(rocio_boost_version)
    for need in "$@"; do
        rocio_has "$need" || rocio_package_of "$need"
    done
}

rocio_as_root() { # how to become root: nothing, "sudo", or failure
    if [[ $EUID -eq 0 ]]; then
        echo ""
    elif rocio_has_command sudo && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
        echo sudo
    else
        return 1
    fi
}

rocio_install_line() { # PACKAGES… → the one line a user runs
    local sudo="sudo " install="apt-get install -y --no-install-recommends $*"
    [[ $EUID -eq 0 ]] && sudo=""
    if rocio_has_command apt-get; then
        echo "${sudo}apt-get update && ${sudo}$install"
    else
        echo "$install    # or your system's packages of these libraries"
    fi
}

# rocio_require LOG MAY_INSTALL(yes|no) NEEDS…: installs what is missing. On failure prints why and the line to run.
rocio_require() {
    local log=$1 may_install=$2 sudo packages name=${0##*/}
    shift 2
    mapfile -t packages < <(rocio_missing_packages "$@")
    if [[ ${#packages[@]} -eq 0 ]]; then
        echo "nothing is missing"
        return 0
    fi
    if [[ $may_install != yes ]] || ! rocio_has_command apt-get || ! sudo=$(rocio_as_root); then
        echo "$name: missing: ${packages[*]}; run this, then $name again:" >&2
        rocio_install_line "${packages[@]}" >&2
        return 1
    fi
    echo "apt-get update (log: $log)"
    if ! $sudo apt-get update >"$log" 2>&1; then
        echo "$name: apt-get update failed: $(rocio_first_error "$log")" >&2
        return 1
    fi
    mapfile -t packages < <(rocio_missing_packages "$@") # apt may know more now
    echo "apt-get install ${packages[*]}"
    # --no-remove: a Boost of another version that something else needs is not ours to take away.
    if ! $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends --no-remove \
        "${packages[@]}" >>"$log" 2>&1; then
        echo "$name: apt-get install failed: $(rocio_first_error "$log"); run this to see all of it:" >&2
        rocio_install_line "${packages[@]}" >&2
        return 1
    fi
    mapfile -t packages < <(rocio_missing_packages "$@")
    if [[ ${#packages[@]} -ne 0 ]]; then
        echo "$name: still missing after apt-get install: ${packages[*]} (log: $log)" >&2
        return 1
    fi
}

rocio_first_error() { # LOG → the first line that says what went wrong
    grep -m1 -E '^(E|Err|W|FAILED|ninja): |error:|CMake Error|FAILED' "$1" || tail -n1 "$1"
}

# Compile jobs: one per processor, but no more than memory allows (a sanitized Asio file takes up to 2 GB).
rocio_jobs() {
    local processors gigabytes
    processors=$(nproc)
    gigabytes=$(awk '/MemAvailable/{print int($2 / 2000000)}' /proc/meminfo)
    [[ $gigabytes -lt 1 ]] && gigabytes=1
    echo $((processors < gigabytes ? processors : gigabytes))
}

# rocio_build FOLDER TARGETS…: builds; on a pipe it passes on every tenth of the progress and all that is not progress.
# ROCIO_KEEP_GOING=0 shows every error instead of the first.
rocio_build() {
    local folder=$1 targets=()
    shift
    [[ $# -gt 0 ]] && targets=(--target "$@")
    export NINJA_STATUS='[%f/%t %es] '
    if [[ -t 1 ]]; then
        cmake --build "$folder" -j "$(rocio_jobs)" "${targets[@]}" -- -k "${ROCIO_KEEP_GOING:-1}"
        return
    fi
    cmake --build "$folder" -j "$(rocio_jobs)" "${targets[@]}" -- -k "${ROCIO_KEEP_GOING:-1}" 2>&1 | awk '
        match($0, /^\[[0-9]+\/[0-9]+/) {
            split(substr($0, 2, RLENGTH - 1), at, "/")
            tenth = int(10 * at[1] / at[2])
            if (tenth != last || at[2] != total) { print; fflush() }
            last = tenth; total = at[2]
            next
        }
        { print; fflush() }'
}
