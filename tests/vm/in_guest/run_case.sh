#!/usr/bin/env bash
# Runs one case with the helpers at hand; the current folder is the case's own in the results.
set -Eeuo pipefail
trap 'echo "$CASE: line $LINENO of ${BASH_SOURCE[0]##*/}: $BASH_COMMAND: status $?" >&2' ERR
source /rocio/helpers.sh
source "/rocio/cases/$1.sh"
