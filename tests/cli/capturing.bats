# Tests `autotune capture` with a fake driver, which loads libraries into programs as CUDA does, and `check --captured`.
load helpers

program() { # program ARGUMENT...: runs capture with its options, "--", and the program's arguments
    export AUTOTUNE_LIBCUDA=${FAKE_CUDA:?} AUTOTUNE_LIBCUPTI=${FAKE_CUPTI:?}
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    tool capture "${options[@]}" -- "${CAPTURED_PROGRAM:?}" "${IMAGE:-$FIXTURES/captured.ptx}" "$@"
}

member() { # member DIR PYTHON: prints the expression, with capture.json as `d`
    python3 -c "import json; d = json.load(open('$1/capture.json')); print($2)"
}

@test "the table of launches has names, grids, blocks, counts, and times if requested" {
    program -o seen --time -- scale 1000 scale 1000 scale 64 view 300 refused
    succeeds
    says "the program is done"
    says "2 8 128 0 4.00 us 2.00 us scale_by(float*, float const*, unsigned int, float)"
    says "1 5 64 0 2.00 us 2.00 us scale_view(view, float)"
    [ "$(member seen '[l["refused"] for l in d["launches"] if l["block"][0] == 2048]')" = "[1]" ]
    program -o untimed -- scale 64
    [ "$(member untimed 'd["launches"][0]["time"]')" = None ]
}

@test "a chosen launch is captured with its arguments and the memory before and after it" {
    program -o seen --kernel scale_by --nth 2 -- scale 64 scale 1000
    succeeds
    says "launch 2 of the chosen kernels"
    says "4 arguments with 2 pointers into 2 allocations, 7.8 KiB, of which 1 changed"
    cmp seen/*/0-0-before x.before
    cmp seen/*/0-1-before x.in
    cmp seen/*/0-0-after x.after
    [ ! -e seen/*/0-1-after ]
    [ "$(member seen 'd["captured"][0]["arguments"][2]["bytes"]')" = e8030000 ]
}

@test "pointers within a structure, and kernels of a library, are found" {
    program -o seen --kernel "scale_view(view" -- view 700
    succeeds
    [ "$(member seen '[p["at"] for p in d["captured"][0]["arguments"][0]["pointers"]]')" = "[8, 16]" ]
    cmp seen/*/0-1-after x.after
}

@test "captured files are not readable by other users" {
    (umask 0; program -o seen --kernel scale_by -- scale 64)
    [ "$(stat -c %a seen seen/*.0 | sort -u)" = 700 ]
    [ "$(stat -c %a seen/capture.json seen/*.0/* | sort -u)" = 600 ]
}

@test "several shapes of a kernel are captured with their counts" {
    program -o seen --kernel scale_by --shapes 4 -- scale 64 scale 1000 scale 64 scale 5000
    succeeds
    [ "$(member seen '[(c["grid"][0], c["count"]) for c in d["captured"]]')" = "[(1, 2), (8, 1), (40, 1)]" ]
    tool check --captured seen
    fails_with 2 "this capture has 3 captured launches: choose one by DIR:1 to DIR:3"
    tool check --captured seen:3
    succeeds
}

@test "launches are found in programs that call _exit, crash, fork, execute others or have threads" {
    program -o left --kernel scale_by -- scale 64 leave
    succeeds
    says "exit code 3"
    program -o crashed --kernel scale_by -- scale 64 crash
    succeeds
    says "Aborted"
    program -o forked -- fork scale 64
    [ "$(member forked '(d["processes"], d["launches"][0]["count"])')" = "(1, 1)" ]
    program -o again --kernel scale_by -- scale 1000 again
    succeeds
    [ "$(member again '(d["processes"], sorted(c["grid"][0] for c in d["captured"]))')" = "(2, [1, 8])" ]
    program -o threads --kernel scale_by --nth 77 -- threads 300
    succeeds
    [ "$(member threads 'd["launches"][0]["count"]')" = 200 ]
    tool check --captured threads
    succeeds
}

@test "launches in a graph are counted but cannot be chosen" {
    program -o seen -- graph 100
    says "2 launches of graphs"
    program -o chosen --kernel scale_by -- graph 100
    fails_with 2 "only recorded into graphs"
    program -o mixed --kernel scale_by -- graph 100 scale 64
    succeeds
    [ "$(member mixed 'd["captured"][0]["block"][0]')" = 128 ]
}

@test "a kernel that is put into a graph by hand has its name and shape in the table" {
    program -o seen -- node 7
    says "scale_by"
    [ "$(member seen 'd["launches"][0]["grid"][0]')" = 7 ]
    [ "$(member seen 'd["launches"][0]["recorded"]')" = True ]
    program -o chosen --kernel scale_by -- node 7
    fails_with 2 "only recorded into graphs"
}

@test "capturing does not change a program's output, messages or signals" {
    program -o seen -- scale 64
    [ "$(head -1 out.txt)" = "the program is done" ]
    tool capture -o words -- sh -c 'echo "$1"; exit 7' sh --kernel
    fails_with 3 "did not use CUDA"
    [ "$output" = "--kernel" ]
}

@test "the captured kernel is proven from its module, without its source" {
    program -o seen --kernel scale_by -- scale 5000
    tool check --captured seen
    succeeds
    says "proven"
    says "all 40 blocks, in two orders; the 20000 bytes that changed are what the program's GPU wrote"
    program -o view --kernel scale_view -- view 5000
    tool check --captured view --json
    succeeds
    says '"verdict": "proven"'
}

@test "a captured kernel that reads beyond its memory, or computes other results, is rejected as wrong" {
    sed 's/setp.ge.u32/setp.gt.u32/' "$FIXTURES/captured.ptx" >beyond.ptx
    IMAGE=beyond.ptx program -o beyond --kernel scale_by -- scale 5001
    tool check --captured beyond
    [ "$status" -eq 1 ]
    says "0 bytes after the end of allocation"
    sed 's/mul.f32 %f3, %f1, %f2/add.f32 %f3, %f1, %f2/' "$FIXTURES/captured.ptx" >other.ptx
    IMAGE=other.ptx program -o other --kernel scale_by -- scale 5000
    tool check --captured other
    [ "$status" -eq 1 ]
    says "differ from what the program's GPU computed"
}

@test "variables of the module are captured, and have their contents in the proof" {
    python3 - "$FIXTURES/captured.ptx" <<'END'
import sys
text = open(sys.argv[1]).read().replace(".address_size 64\n", ".address_size 64\n.const .align 4 .b8 fake_constant[16384] = {1, 1};\n"
                                        ".visible .global .align 4 .u32 other;\n")
text = text.replace("mul.f32 %f3, %f1, %f2;", "ld.const.u32 %r2, [fake_constant]; cvt.rn.f32.u32 %f3, %r2; fma.rn.f32 %f3, %f1, %f2, %f3;")
open("variable.ptx", "w").write(text)
END
    IMAGE=variable.ptx program -o seen --kernel scale_by -- scale 1000
    [ "$(member seen '[v["name"] for v in d["captured"][0]["variables"]], d["captured"][0]["variables_unread"]')" = "['fake_constant'] 1" ]
    tool check --captured seen
    succeeds
    says "some variables of the module could not be read"
}

@test "launches that cannot be captured are reported" {
    program -- scale 64
    fails_with 2 "-o DIR is missing, the folder for"
    mkdir full && touch full/file
    program -o full -- scale 64
    fails_with 2 "the folder full is not empty"
    program -o none --kernel nothing -- scale 64
    fails_with 2 "no launched kernel has 'nothing' in its name; without --kernel, this command lists"
    [ ! -e seen ]
    program -o late --kernel scale_by --nth 9 -- scale 64
    fails_with 2 "launched 1 times: there is no launch 9"
    FAKE_CUPTI_SUBSCRIBED=1 program -o busy -- scale 64
    fails_with 3 "CUPTI cannot watch this program"
    tool capture -o missing -- ./no-such-program
    fails_with 2 "cannot run ./no-such-program"
    tool capture -o nothing
    fails_with 2 "needs a program"
    AUTOTUNE_LIBCUPTI=/nowhere program -o large --kernel scale_by --limit 100 -- scale 64
    succeeds
    says "allocations of 512 bytes, but --limit is 100: give --limit 512"
    tool check --captured large
    fails_with 4 "the launch was not captured completely"
}

@test "without CUPTI the message says where it comes from" {
    export AUTOTUNE_LIBCUDA=$FAKE_CUDA AUTOTUNE_LIBCUPTI=$FIXTURES/captured.ptx
    tool capture -o seen -- "$CAPTURED_PROGRAM" "$FIXTURES/captured.ptx" scale 64
    fails_with 3 "CUPTI comes with the CUDA Toolkit"
}

broken() { # broken SED CODE TEXT: checks that capture.json, changed by SED, is refused with exit code CODE and TEXT
    rm -rf broken && cp -r seen broken && sed -i "$1" broken/capture.json
    tool check --captured broken
    fails_with "$2" "$3"
}

@test "folders without a valid capture are refused, and the message names file and member" {
    program -o seen --kernel scale_by -- scale 1000
    tool check --captured nowhere
    fails_with 2 "nowhere/capture.json: there is no capture"
    tool check --captured seen:2
    fails_with 2 "this capture has 1 captured launch: there is no number 2"
    tool check --captured seen:x
    fails_with 2 "does not name a captured launch"
    tool check --captured seen --set n=4
    fails_with 2 "--set, --config, --only and --budget need a SCRIPT"
    program -o table -- scale 64
    tool check --captured table
    fails_with 2 "this capture has a table of launches, but no captured launch:"
    broken '1s/{/[/' 4 "broken/capture.json:"
    broken 's/"version": 1/"version": 2/' 4 "this is not a capture, or one of another version of autotune:"
    broken '/"captured"/,${/"grid"/{n;s/8/0/}}' 4 'launch 1 has no "grid", or a damaged one'
    broken '/"captured"/,${/"block"/{n;s/128/4096/}}' 4 "8 x 1 x 1 blocks of 4096 x 1 x 1 threads, which no GPU can launch"
    broken '/"captured"/,${/"block"/{n;n;s/1/16/}}' 4 "blocks of 128 x 16 x 1 threads"
    broken 's/"size_bytes": 4000/"size_bytes": "many"/' 4 "size_bytes"
    broken 's/"allocation": 1/"allocation": 7/' 4 "argument 2 has a pointer that is not in its allocation"
    broken 's/"e8030000"/"e803"/' 4 "argument 3 has damaged bytes, or overlaps the argument before"
    broken 's#0-module#../../../etc/passwd#' 4 'launch 1 has no "module", or a damaged one'
    broken 's/"offset": 8,/"offset": -8,/' 4 'argument 2 has no "offset", or a damaged one'
    broken 's/"arch": "sm_/"arch": "xy_/' 4 'launch 1 has no "arch", or a damaged one'
    rm -rf broken && cp -r seen broken && truncate -s 10 broken/*/0-1-before
    tool check --captured broken
    fails_with 4 "the file has 10 bytes, the memory had 4000"
    rm broken/*/0-1-before
    tool check --captured broken
    fails_with 4 "the file is missing"
    rm -rf broken && cp -r seen broken && printf '\177ELF' >$(echo broken/*/0-module)
    tool check --captured broken
    fails_with 3 "only machine code: compile the"
}
