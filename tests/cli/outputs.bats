load helpers

# Tests outputs that cannot be written. Every command that writes a file must fail at once, keep the old file, and
# leave no temporary file.

RESULTS="$BATS_TEST_DIRNAME/../../results"
LANDSCAPE=$RESULTS/nvidia-h200/landscapes/misaligned.json.gz # the smallest landscape

needs_gnuplot() {
    command -v gnuplot >/dev/null || skip "gnuplot is missing"
}

# Prints commands that write the file OUT, one on each line.
writers() {
    cat <<END
emit $FIXTURES/scale.lua -o OUT
emit $FIXTURES/scale.lua --ptx -o OUT
convert $LANDSCAPE --format t4 -o OUT
export transpose --format header --results $RESULTS -o OUT
export transpose --format json --results $RESULTS -o OUT
report --results $FIXTURES/results -o OUT
plot $LANDSCAPE -o OUT --format svg
plot $LANDSCAPE -o OUT --format png
plot $LANDSCAPE --kind heatmap -o OUT --format terminal
sweep strided.lua --over stride=1,2 --recorded --results $RESULTS --picture OUT.svg
END
}

# Runs LINE with OUT replaced. The file may have at most $blocks KiB. Sets $status to the exit code.
write_to() { # write_to OUT LINE
    # shellcheck disable=SC2086 # words are arguments
    limited ${2//OUT/$1}
}

limited() { # limited ARGUMENT...: runs with a limit of file size; stderr goes through a pipe, to which the limit does not apply
    { (ulimit -f "${blocks:-unlimited}" && exec timeout 20 "$AUTOTUNE" "$@") || echo "exit $?" >&2; } \
        2>&1 >/dev/null | cat >err.txt
    errors=$(cat err.txt)
    status=$(sed -n 's/^exit //p' err.txt)
    status=${status:-0}
}

all_fail_at() { # all_fail_at OUT: checks that each command fails and names OUT or its missing folder
    while read -r line; do
        write_to "$1" "$line"
        fails_with 4 "${1%%/x}" || { echo "$line"; return 1; }
        # No temporary file may remain.
        [ "$(find . -name '*tmp*' -o -name '.*.svg*' | wc -l)" -eq 0 ]
    done < <(writers)
}

@test "a pipe without a reader is an error at once" {
    needs_gnuplot
    mkfifo pipe pipe.svg
    all_fail_at pipe
    [[ "$errors" == *"nobody reads this pipe"* ]]
    [ -p pipe ]
    [ -p pipe.svg ]
}

@test "a pipe with a reader gets the contents of a file" {
    mkfifo pipe
    for line in "emit $FIXTURES/scale.lua -o OUT" "convert $LANDSCAPE --format t4 -o OUT"; do
        # Opening a pipe in both directions does not wait for a reader, and the pipe keeps its contents.
        exec 5<>pipe 6<pipe
        timeout 20 cat <&6 >got.txt 5>&- 6<&- &
        # shellcheck disable=SC2086 # words are arguments
        "$AUTOTUNE" ${line//OUT/pipe} 5>&- 6<&-
        exec 5>&- 6<&-
        wait
        rm -f want.txt
        # shellcheck disable=SC2086 # words are arguments
        "$AUTOTUNE" ${line//OUT/want.txt}
        cmp got.txt want.txt
    done
}

@test "the name - stands for the standard output" {
    needs_gnuplot
    while read -r line; do
        [[ "$line" == *"-o OUT"* ]] || continue
        rm -f want
        # shellcheck disable=SC2086 # words are arguments
        "$AUTOTUNE" ${line//OUT/want} 2>err.txt || { cat err.txt; return 1; }
        # shellcheck disable=SC2086 # words are arguments
        "$AUTOTUNE" ${line//OUT/-} >got 2>err.txt || { cat err.txt; return 1; }
        cmp got want || { echo "$line"; return 1; }
        [ ! -e ./- ]
    done < <(writers)
}

@test "a folder in the place of a file is an error" {
    needs_gnuplot
    mkdir x x.svg
    while read -r line; do
        [[ "$line" != export* ]] || continue # export also writes into folders
        write_to x "$line"
        fails_with 4 "x" || { echo "$line"; return 1; }
    done < <(writers)
    [ -d x ]
    [ -d x.svg ]
    [ -z "$(ls -A x x.svg | grep -v :)" ]
}

@test "a missing folder is an error that names the folder" {
    needs_gnuplot
    all_fail_at nowhere/x
}

@test "a full disk is an error" {
    needs_gnuplot
    ln -s /dev/full full
    ln -s /dev/full full.svg
    all_fail_at full
}

@test "after an error by a limit on file size, the old file is unchanged and no half-written file exists" {
    needs_gnuplot
    blocks=0
    while read -r line; do
        for file in old old.svg; do
            echo autotune 0.0.1 >$file # an earlier output
        done
        write_to old "$line"
        fails_with 4 old || { echo "$line"; return 1; }
        [[ "$errors" == *"ulimit -f"* ]] || { echo "$line: $errors"; return 1; }
        [ "$(sort -u old old.svg)" = "autotune 0.0.1" ] || { echo "$line wrote"; return 1; }
        [ "$(ls -A | grep -c tmp)" -eq 0 ]
    done < <(writers)
}

@test "a read-only file is not replaced" {
    "$AUTOTUNE" emit "$FIXTURES/scale.lua" -o out.cu
    chmod 444 out.cu
    chmod 777 .
    user=()
    [ "$(id -u)" -ne 0 ] || user=(setpriv --reuid=54321 --regid=54321 --clear-groups)
    status=0
    "${user[@]}" "$AUTOTUNE" emit "$FIXTURES/scale.lua" -o out.cu 2>err.txt || status=$?
    errors=$(cat err.txt)
    fails_with 4 "cannot write out.cu: Permission denied; chmod u+w allows it"
}

@test "if one file of a pattern cannot be written, no file is written" {
    blocks=1
    limited new mine
    fails_with 4 mine
    [ -z "$(ls | grep mine)" ]
}

# Prints commands that print to stdout, one on each line.
printers() {
    cat <<END
--version
--help
tune --help
$FIXTURES/scale.lua --arch sm_90 --budget 1 --quiet
$FIXTURES/scale.lua --arch sm_90 --budget 1 --quiet --json
space transpose.lua
space transpose.lua --list
plot $LANDSCAPE --kind heatmap
importance $LANDSCAPE --json
completion bash
completion man
help scripts
lint $FIXTURES/scale.lua
pick transpose --results $RESULTS --gpu nvidia-h200
results list --results $RESULTS
results show transpose --results $RESULTS
results validate $RESULTS
results diff $RESULTS $RESULTS
replay $LANDSCAPE --strategy random --repeat 2
convert $LANDSCAPE --format t4
export transpose --format header --results $RESULTS
report --results $FIXTURES/results
compare $LANDSCAPE $LANDSCAPE
emit $FIXTURES/scale.lua
inspect $FIXTURES/scale.lua --arch sm_90
explain $FIXTURES/scale.lua
check $FIXTURES/scale.lua
sweep strided.lua --over stride=1,2 --recorded --results $RESULTS
END
}

@test "failed output is an error in every command" {
    while read -r line; do
        status=0
        # shellcheck disable=SC2086 # words are arguments
        timeout 60 "$AUTOTUNE" $line >/dev/full 2>err.txt || status=$?
        errors=$(cat err.txt)
        fails_with 4 "cannot write stdout: No space left on device" || { echo "$line"; return 1; }
    done < <(printers)
}

@test "a standard output that is closed is an error in every command, and no other file gets the output" {
    while read -r line; do
        status=0
        # shellcheck disable=SC2086 # words are arguments
        timeout 60 "$AUTOTUNE" $line >&- 2>err.txt || status=$?
        errors=$(cat err.txt)
        fails_with 4 "cannot write stdout: it is closed" || { echo "$line"; return 1; }
    done < <(printers)
}

@test "output to a file is the same with any standard descriptors closed" {
    needs_gnuplot
    while read -r line; do
        case $line in sweep*) continue ;; esac # sweep only prints
        rm -f want
        write_to want "$line"
        for closed in '<&-' '>&-' '2>&-' '<&- >&-' '<&- 2>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
            rm -f got
            eval "timeout 20 \"\$AUTOTUNE\" ${line//OUT/got} $closed" >/dev/null 2>&1 || { echo "$line $closed"; return 1; }
            cmp got want || { echo "$line $closed"; return 1; }
        done
    done < <(writers)
}

@test "a run whose standard descriptors are closed is recorded as any other" {
    for closed in '>&-' '<&- >&- 2>&-'; do
        status=0
        eval "timeout 60 \"\$AUTOTUNE\" $FIXTURES/scale.lua --arch sm_90 --budget 3 --seed 7 $closed" 2>err.txt || status=$?
        [ "$status" -eq 4 ]
        lacks -i -e pipe -e socket -e worker err.txt
    done
}

@test "a non-blocking pipe gets the whole output" {
    python3 - "$AUTOTUNE" <<'PY'
import fcntl, os, subprocess, sys, time
reader, writer = os.pipe()
fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
program = subprocess.Popen([sys.argv[1], "space", "transpose.lua", "--list"], stdout=writer)
os.close(writer)
time.sleep(0.5)
with os.fdopen(reader, "rb") as f:
    got = f.read()
want = subprocess.run([sys.argv[1], "space", "transpose.lua", "--list"], capture_output=True).stdout
assert program.wait() == 0 and got == want and len(got) > 100000, (program.returncode, len(got), len(want))
PY
}

@test "only earlier outputs are replaced, not inputs, templates or other files" {
    cp "$FIXTURES"/scale.lua "$FIXTURES"/scale.cu.tmpl "$FIXTURES"/scale_ref.cu.tmpl "$FIXTURES/saxpy.cu" .
    gzip -dc "$LANDSCAPE" >landscape.json
    echo "autotune 1.0 is in the list" >mine.tmpl
    echo mine >t.h
    cp -r . "$WORK.kept"
    for line in "export scale.lua -o scale.lua" "export saxpy.cu --format cuda -o saxpy.cu" "emit saxpy.cu -o saxpy.cu" \
        "export scale.lua --template mine.tmpl -o mine.tmpl" "plot landscape.json --format terminal -o landscape.json"; do
        # shellcheck disable=SC2086 # words are arguments
        tool $line
        fails_with 2 "is a file that this command reads: name another file for the output" || { echo "$line"; return 1; }
    done
    for line in "export scale.lua -o scale.cu.tmpl" "export scale.lua --format json -o t.h" "report --results $FIXTURES/results -o t.h" \
        "export scale.lua --format cuda -o t.cu" "emit scale.lua -o t.h" "convert landscape.json --format t4 -o t.h"; do
        # shellcheck disable=SC2086 # words are arguments
        tool $line
        fails_with 2 "exists and is no earlier output of autotune: name another file, or remove this one first" ||
            { echo "$line"; return 1; }
    done
    rm -f out.txt err.txt "$WORK.kept/out.txt" "$WORK.kept/err.txt"
    diff -r --exclude cache --exclude state . "$WORK.kept" # no file changed, and there is no t.cu beside t.h
    rm -r "$WORK.kept"
}

@test "an earlier output is replaced, even by the output of another pattern" {
    needs_gnuplot
    : >empty.h
    tool export dot --results "$RESULTS" -o empty.h
    succeeds
    for pattern in dot transpose; do
        for format in header json cuda; do
            tool export $pattern --results "$RESULTS" --format $format -o out.${format/cuda/cu}
            succeeds
        done
        for template in cub_policy.cuh ggml_configs.h; do
            tool export $pattern --results "$RESULTS" --template $template -o $template.h
            succeeds
        done
    done
    while read -r line; do
        rm -f out
        write_to out "$line"
        write_to out "$line"
        succeeds || { echo "$line"; return 1; }
    done < <(writers)
}
