# From lines of TEST MODE SIZE WHO ROUND FIGURE: a table of medians, and the medians of each round's ratio of rocio and
# of the soft device to the others. Ratios above 1 mean slower (latency) or faster (stream). Writes ratios.txt too, lines
# of: ratio TEST MODE SIZE WHO RATIO, where WHO is what rocio on rdma_rxe is compared with, and soft: what the soft device
# is to perftest on rdma_rxe.

{
    row = $1 " " $2 " " $3
    if (!(row in known)) {
        known[row] = 1
        rows[++row_count] = row
    }
    value[row, $4, $5] = $6
    if ($5 > rounds) rounds = $5
}

function sorted_median(list, n,    i, j, t) {
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && list[j - 1] > list[j]; j--) {
            t = list[j]
            list[j] = list[j - 1]
            list[j - 1] = t
        }
    if (n == 0) return 0
    return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}

function median(row, who,    list, n, r) {
    for (r = 1; r <= rounds; r++)
        if ((row, who, r) in value) list[++n] = value[row, who, r]
    return sorted_median(list, n)
}

function ratio(row, who, other,    list, n, r) {
    for (r = 1; r <= rounds; r++)
        if ((row, who, r) in value && (row, other, r) in value && value[row, other, r] > 0)
            list[++n] = value[row, who, r] / value[row, other, r]
    return sorted_median(list, n)
}

END {
    printf "medians of %d rounds on rdma_rxe: half a round trip in us, stream in MB/s (2^20)\n", rounds
    format = "%-20s %10s %10s %10s %10s %16s %13s %15s\n"
    printf format, "test", "perftest", "plain", "rocio", "soft", "rocio/perftest", "rocio/plain", "soft/perftest"
    for (i = 1; i <= row_count; i++) {
        row = rows[i]
        to_perftest = ratio(row, "rocio", "perftest")
        to_plain = ratio(row, "rocio", "plain")
        soft_to_perftest = ratio(row, "soft", "perftest")
        printf format, row, sprintf("%.1f", median(row, "perftest")), sprintf("%.1f", median(row, "plain")),
            sprintf("%.1f", median(row, "rocio")), sprintf("%.1f", median(row, "soft")),
            sprintf("%.2f", to_perftest), sprintf("%.2f", to_plain), sprintf("%.2f", soft_to_perftest)
        printf "ratio %s perftest %.3f\n", row, to_perftest >"ratios.txt"
        printf "ratio %s plain %.3f\n", row, to_plain >"ratios.txt"
        printf "ratio %s soft %.3f\n", row, soft_to_perftest >"ratios.txt"
    }
}
