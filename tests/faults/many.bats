load helpers

gpus() { # gpus NAMES [SPEEDS]: makes a machine with these GPUs
    gpu
    needs_the_fake
    FAKE_CUDA_NAMES=$1 FAKE_CUDA_SPEEDS=${2:-}
    FAKE_CUDA_DEVICES=$(($(tr -dc , <<<"$1" | wc -c) + 1))
    export FAKE_CUDA_NAMES FAKE_CUDA_SPEEDS FAKE_CUDA_DEVICES
    write_space few 99
}

measured_by() { # measured_by ORDINAL: prints the number of variants in the journal that this GPU measured
    cat "$XDG_STATE_HOME"/autotune/journal/*.jsonl | grep -v '"asked"' |
        grep -c "\"gpu\":\"GPU-00000000-0000-0000-0000-00000000000$1\"" || true
}

@test "GPUs of one model share the screening, and one of them runs the race" {
    gpus "Fake A,Fake A"
    # As on a busy machine, one GPU opens long before the other.
    export FAKE_CUDA_TIME_US=20000
    tool "$TIMED" --device all --quiet
    succeeds
    found_the_best
    [ "$(measured_by 0)" -gt 20 ]
    [ "$(measured_by 1)" -gt 20 ]
    [ "$(cat "$XDG_STATE_HOME"/autotune/journal/*.jsonl | grep '"asked"' |
        grep -o '"gpu":"[^"]*"' | sort -u | wc -l)" -eq 1 ]
    [ "$(ls results)" = fake-a ]
}

# The second GPU takes three times as long: its best variants are slower than most variants of the first GPU.
@test "samples of different GPUs are never compared" {
    gpus "Fake A,Fake A" "100,300"
    tool "$TIMED" --device cuda:0,1 --quiet
    succeeds
    found_the_best
    rm -r results "$XDG_STATE_HOME"
    FAKE_CUDA_SPEEDS=300,100
    tool "$TIMED" --device cuda:0,1 --quiet
    succeeds
    found_the_best
}

@test "GPUs of different models are tuned side by side into their own records" {
    gpus "Fake A,Fake B,Fake A"
    tool "$TIMED" --device all --quiet
    succeeds
    [ "$(ls results | tr '\n' ' ')" = "fake-a fake-b " ]
    says 'on Fake A'
    says 'on Fake B'
    [ "$(grep -c 'best        a=11,b=5' out.txt)" -eq 2 ]
}

# lose_gpu LINES COMMAND...: runs the command. Removes GPU $LOST when the command $LINES prints at least 2.
lose_gpu() {
    lines=$1
    shift
    export FAKE_CUDA_GONE=$WORK/gone FAKE_CUDA_TIME_US=4000
    "$AUTOTUNE" "$@" --quiet >out.txt 2>err.txt &
    pid=$!
    wait_for 2 "$lines"
    echo "$LOST" >gone
    # Kills all device workers, because each of them may have the GPU.
    for worker in $(pgrep -P "$pid" -x autotune-device); do kill -KILL "$worker"; done
    end_run
    [ "$status" -eq 0 ]
}

@test "a lost GPU costs only its measurement in progress" {
    gpus "Fake A,Fake A"
    LOST=1 lose_gpu journal_lines "$TIMED" --device all
    found_the_best
    says 'GPUs failed'
    twice=$(grep -ho '"key":"[0-9a-f]*"' "$XDG_STATE_HOME"/autotune/journal/*.jsonl | sort | uniq -d)
    [ -z "$twice" ]
}

@test "if the GPU of the race is lost, another GPU runs the race" {
    gpus "Fake A,Fake A"
    LOST=0 lose_gpu race_lines "$TIMED" --device all
    found_the_best
    says 'GPUs failed'
}

@test "losing a GPU that samples beside the race's GPU costs nothing" {
    gpus "Fake A,Fake A"
    LOST=1 lose_gpu race_lines "$TIMED" --device all
    found_the_best
}

@test "if the race's GPU is lost before another GPU is open, the run waits for the other GPU" {
    gpus "Fake A,Fake A"
    FAKE_CUDA_OPEN_MS=0,2000 LOST=0 lose_gpu journal_lines "$TIMED" --device all
    found_the_best
    says 'GPUs failed'
    [ "$(measured_by 1)" -gt 50 ]
}

@test "a GPU that opens slowly does not delay the opening of the next GPU" {
    gpus "Fake A,Fake A,Fake A"
    export AUTOTUNE_LIBNVML=${FAKE_NVML:?} FAKE_NVML_NAMES="Fake A,Fake A,Fake A"
    export FAKE_CUDA_OPEN_MS=0,1000000,0 FAKE_CUDA_TIME_US=20000
    tool "$TIMED" --device all --quiet
    succeeds
    found_the_best
    [ "$(measured_by 1)" -eq 0 ]
    [ "$(measured_by 2)" -gt 0 ]
}

@test "later points of a sweep leave a lost GPU out" {
    gpus "Fake A,Fake A"
    for LOST in 1 0; do
        lose_gpu journal_lines sweep "$TIMED" --over n=4096,8192 --device cuda:0,1
        says '4096    22.00'
        says '8192    22.00'
        rm -r results "$XDG_STATE_HOME" gone
    done
}

@test "a killed run of several GPUs continues with the samples of each GPU" {
    gpus "Fake A,Fake A"
    FAKE_CUDA_TIME_US=500 start_many
    wait_for 40 journal_lines
    kill -KILL "$pid"
    end_run
    tool "$TIMED" --device all --quiet
    succeeds
    found_the_best
    twice=$(grep -ho '"key":"[0-9a-f]*"' "$XDG_STATE_HOME"/autotune/journal/*.jsonl | sort | uniq -d)
    [ -z "$twice" ]
}

start_many() {
    "$AUTOTUNE" "$TIMED" --device all --quiet >out.txt 2>err.txt &
    pid=$!
}

@test "--verify-on all races the winner on the other GPUs" {
    gpus "Fake A,Fake A,Fake A"
    tool "$TIMED" --device all --verify-on all --quiet
    succeeds
    says 'verified: on 2 of 2 other GPUs'
}

@test "a GPU's number is its place in CUDA_VISIBLE_DEVICES, alone and beside others" {
    gpus "Fake A,Fake B,Fake C"
    export CUDA_VISIBLE_DEVICES=2,0
    tool "$TIMED" --device cuda:1 --quiet
    succeeds
    [ "$(ls results)" = fake-a ]
    tool "$TIMED" --device all --quiet
    succeeds
    [ "$(ls results | tr '\n' ' ')" = "fake-a fake-c " ]
    tool "$TIMED" --device cuda:2 --quiet
    fails_with 3 "there is no cuda:2"
}

@test "a device that does not exist, or is named twice, is reported" {
    gpus "Fake A,Fake A"
    tool "$TIMED" --device cuda:0,7
    fails_with 3 "cuda:7"
    tool "$TIMED" --device cuda:0,0
    fails_with 2 "twice"
    tool "$TIMED" --device cuda:0,x
    fails_with 2 "cuda:0,2"
}

inits() { # inits NUMBER: checks how many processes of a run initialise the driver
    export FAKE_CUDA_INITS=$WORK/inits
    tool "$TIMED" --device all --budget 20 --fixed 1 --no-record --quiet
    succeeds
    [ "$(wc -l <inits)" -eq "$1" ]
    rm inits
}

@test "GPUs of one model are listed without initialising the driver" {
    gpus "Fake A,Fake A"
    export AUTOTUNE_LIBNVML=${FAKE_NVML:?} FAKE_NVML_NAMES="Fake A,Fake A"
    inits 1
    # The driver is initialised if NVML does not tell exactly which GPUs the driver shows.
    CUDA_VISIBLE_DEVICES=0,1 inits 2
    FAKE_NVML_NAMES="Fake A,Fake B" inits 2
    AUTOTUNE_LIBNVML=$WORK/no-such-library.so inits 2
}

@test "a GPU that opens slowly delays no other GPU" {
    gpus "Fake A,Fake A"
    export AUTOTUNE_LIBNVML=${FAKE_NVML:?} FAKE_NVML_NAMES="Fake A,Fake A" FAKE_CUDA_OPEN_MS=0,1000000
    tool "$TIMED" --device all --quiet
    succeeds
    found_the_best
    [ "$(measured_by 0)" -gt 90 ]
    [ "$(measured_by 1)" -eq 0 ]
}

@test "measurements of a GPU that opens slowly are not repeated" {
    gpus "Fake A,Fake A"
    FAKE_CUDA_TIME_US=500 start_many
    wait_for 4 measured_by 1
    kill -KILL "$pid"
    end_run
    FAKE_CUDA_OPEN_MS=0,1000 tool "$TIMED" --device all --quiet
    succeeds
    found_the_best
    twice=$(grep -ho '"key":"[0-9a-f]*"' "$XDG_STATE_HOME"/autotune/journal/*.jsonl | sort | uniq -d)
    [ -z "$twice" ]
}
