load helpers

# Tests threads per block and resident blocks of matmul's tiles. The script expects these numbers of resident blocks.
@test "each tile has the expected number of resident blocks and does not spill" {
    while read -r tile threads blocks; do
        tool inspect matmul.lua --arch sm_90 --set m=1000 --set n=1000 --set k=1000 \
            --config "algorithm=tile,lanes_m=4,pad=4,vec=4,group=8,overhead=2,$tile" --json
        succeeds
        says "\"threads\": $threads,"
        says '"spill_store_bytes": 0,'
        share=$(sed -n 's/.*"occupancy": \([0-9.]*\),.*/\1/p' out.txt)
        awk -v share="$share" -v threads="$threads" -v blocks="$blocks" \
            'BEGIN { exit !(share > 0 && share * 2048 >= threads * blocks) }' ||
            { echo "$tile: occupancy $share, of $blocks blocks of $threads threads"; return 1; }
    done <<'END'
tile_m=32,tile_n=64,tile_k=8,thread_m=4,thread_n=8,layout_a=columns,staging=async,stages=4,unroll=8,registers=96 64 10
tile_m=32,tile_n=64,tile_k=8,thread_m=4,thread_n=4,layout_a=columns,staging=async,stages=4,unroll=8,registers=64 128 8
tile_m=32,tile_n=128,tile_k=8,thread_m=4,thread_n=8,layout_a=columns,staging=async,stages=4,unroll=8,registers=96 128 5
tile_m=32,tile_n=128,tile_k=16,thread_m=4,thread_n=8,layout_a=columns,staging=async,stages=3,unroll=16,registers=96 128 5
tile_m=64,tile_n=64,tile_k=8,thread_m=4,thread_n=8,layout_a=columns,staging=async,stages=4,unroll=8,registers=96 128 5
tile_m=64,tile_n=64,tile_k=16,thread_m=8,thread_n=8,layout_a=columns,staging=async,stages=2,unroll=16,registers=168 64 6
tile_m=64,tile_n=64,tile_k=16,thread_m=8,thread_n=4,layout_a=rows,staging=async,stages=2,unroll=16,registers=128 128 4
tile_m=64,tile_n=64,tile_k=16,thread_m=8,thread_n=4,layout_a=rows,staging=async,stages=3,unroll=16,registers=96 128 5
tile_m=64,tile_n=128,tile_k=8,thread_m=8,thread_n=8,layout_a=columns,staging=async,stages=4,unroll=8,registers=168 128 3
tile_m=64,tile_n=128,tile_k=16,thread_m=8,thread_n=8,layout_a=columns,staging=async,stages=2,unroll=16,registers=168 128 3
tile_m=64,tile_n=128,tile_k=16,thread_m=8,thread_n=8,layout_a=columns,staging=registers,stages=2,unroll=16,registers=168 128 3
tile_m=128,tile_n=64,tile_k=16,thread_m=8,thread_n=8,layout_a=columns,staging=async,stages=2,unroll=16,registers=168 128 3
tile_m=128,tile_n=128,tile_k=16,thread_m=8,thread_n=16,layout_a=columns,staging=async,stages=2,unroll=16,registers=255 128 2
tile_m=128,tile_n=256,tile_k=16,thread_m=8,thread_n=16,layout_a=columns,staging=registers,stages=2,unroll=16,registers=255 256 1
END
}
