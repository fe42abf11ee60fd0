load helpers

# A product for each of the tiles that matmul fits, its threads and the blocks that its estimate counts on side by side.
@test "of a tile that fits as many blocks find room as its estimate counts on, and none spills" {
    while read -r m n k threads blocks; do
        tool inspect matmul.lua --arch sm_90 --set "m=$m" --set "n=$n" --set "k=$k" --config algorithm=fit --json
        succeeds
        says "\"threads\": $threads,"
        says '"spill_store_bytes": 0,'
        share=$(sed -n 's/.*"occupancy": \([0-9.]*\),.*/\1/p' out.txt)
        awk -v share="$share" -v threads="$threads" -v blocks="$blocks" \
            'BEGIN { exit !(share > 0 && share * 2048 >= threads * blocks) }' ||
            { echo "$m $n $k: occupancy $share, of $blocks blocks of $threads threads"; return 1; }
    done <<'END'
935 133 271 64 10
650 300 842 64 9
141 642 3365 128 5
276 353 1247 128 5
1696 209 716 128 5
1720 2392 136 128 3
943 631 1693 128 3
470 2504 940 128 3
1104 393 879 128 3
1108 1673 2014 128 2
1421 1278 1780 256 1
END
}
