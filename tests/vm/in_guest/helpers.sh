# All that a case can use.
# shellcheck shell=bash source-path=SCRIPTDIR
source /rocio/devices.sh
source /rocio/processes.sh
source /rocio/pingpong.sh
source /rocio/stream.sh
source /rocio/interop.sh
source /rocio/comparison.sh
