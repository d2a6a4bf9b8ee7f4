# restarts per node
NR > 1 { n[$7] += $4; c[$7]++ }
END {
    for (k in n)
        if (k != "") { printf "%s\t%d\n", k, c[k] | "sort" }
}
