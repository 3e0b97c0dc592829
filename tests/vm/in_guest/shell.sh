# Start-up of the interactive shell: the topology is up, the cases' helpers are at hand.
# shellcheck shell=bash
export CASE=shell
read -r topology mtu </share/plan
bash /rocio/topology.sh up "$topology" "$mtu"
source /rocio/helpers.sh
cd /share || exit
PS1='guest:\w# '
echo
echo "$topology, MTU $mtu: veth0 10.0.0.1 fd00::1, veth1 10.0.0.2 fd00::2"
rdma link
echo "helpers: in_ns1 in_ns2 start finish wait_for lose_packets …, see /rocio/*.sh; cases: /rocio/cases; leave: exit"
