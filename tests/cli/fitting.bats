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
237 168 214 64 10
936 134 271 64 16
1088 199 129 64 12
451 1471 339 64 10
156 3757 139 128 8
1379 1140 148 128 5
223 2028 207 128 5
375 2184 677 128 5
3084 416 3150 64 6
382 678 1472 128 4
2623 265 270 128 5
3648 2834 361 128 3
708 2340 201 128 3
2243 621 552 128 3
2519 145 3395 128 3
1109 1674 2014 128 2
1980 984 3880 256 1
END
}
