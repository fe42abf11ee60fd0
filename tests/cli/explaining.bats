load helpers

@test "explain shows counters beside the lines that touch memory, and a verdict" {
    tool explain transpose.lua --arch sm_90 --set rows=256 --set cols=256
    succeeds
    says 'global loads'
    says 'Verdict'
    says 'no access to shared memory conflicts'
    says 'Occupancy: 8 blocks of 256 threads'
}

@test "explain names the line that conflicts when the padding is gone" {
    tool explain transpose.lua --arch sm_90 --set rows=256 --set cols=256 --config pad=0
    succeeds
    says 'conflicts: it reads shared memory with 32.0 wavefronts where 1 would do'
}

@test "explain --json uses Nsight Compute's names and counts every block of a small grid" {
    tool explain transpose.lua --arch sm_90 --set rows=256 --set cols=256 --json
    succeeds
    says '"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 8192'
    says '"blocks_counted": 64'
}

@test "explain refuses a configuration that breaks a constraint" {
    tool explain transpose.lua --arch sm_90 --config load_vec=4,store_vec=1
    fails_with 2 "constraint"
}

@test "explain knows which chips it simulates" {
    tool explain transpose.lua --arch sm_87
    fails_with 2 "sm_90"
}
