load helpers

traced() { # traced: checks that trace.json has the right format and shows every stage
    python3 "$BATS_TEST_DIRNAME/trace.py" trace.json "$@"
}

@test "--trace shows the times of compile workers, device worker, search and race" {
    gpu
    tool "$TIMED" --device cuda:0 --budget 60 --trace trace.json
    succeeds
    traced emit ask tell compile start open "set up" try block race finals
}

@test "the trace of a run whose workers are lost shows that" {
    gpu
    needs_the_fake
    write_space few 99
    FAKE_CUDA_TIME_US=2000 start_run 5 --trace trace.json
    kill -KILL "$(worker_of "$pid" autotune-device)"
    end_run
    [ "$status" -eq 0 ]
    traced lost
}

@test "a trace that cannot be written is an error before anything is done" {
    gpu
    tool "$TIMED" --device cuda:0 --trace nowhere/trace.json
    fails_with 4 "nowhere/trace.json"
    [ ! -e results ]
}
