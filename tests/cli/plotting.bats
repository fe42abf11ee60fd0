load helpers

LANDSCAPE="$BATS_TEST_DIRNAME/../../results/nvidia-h200/landscapes/dot.json.gz"

needs_gnuplot() {
    command -v gnuplot >/dev/null || skip "gnuplot is missing"
}

# As `tool`, where there is no gnuplot.
tool_without_gnuplot() {
    status=0
    PATH=/nonexistent "$AUTOTUNE" "$@" >out.txt 2>err.txt || status=$?
    output=$(cat out.txt)
    errors=$(cat err.txt)
}

@test "every kind that a recorded space has data for is drawn as SVG" {
    needs_gnuplot
    for kind in rank sweep heatmap convergence importance; do
        tool plot "$LANDSCAPE" --kind $kind -o picture.svg
        succeeds
        grep -q '</svg>' picture.svg
        rm picture.svg
    done
}

@test "PNG goes to a file, text to the terminal" {
    needs_gnuplot
    tool plot "$LANDSCAPE" -o picture.png
    succeeds
    [ "$(head -c 4 picture.png | tail -c 3)" = PNG ]
    tool plot "$LANDSCAPE" --kind sweep
    succeeds
    says 'us'
}

@test "a heat map in the terminal is of blocks and needs no gnuplot" {
    LC_ALL=C.UTF-8 tool_without_gnuplot plot "$LANDSCAPE" --kind heatmap
    succeeds
    says '██'
    LC_ALL=C tool_without_gnuplot plot "$LANDSCAPE" --kind heatmap
    succeeds
    says '## < 1 %'
    [ -z "$(tr -d '\0-\177' <out.txt)" ]
}

@test "without gnuplot the package to install is named" {
    tool_without_gnuplot plot "$LANDSCAPE" -o picture.svg
    fails_with 3 'gnuplot-nox'
}

@test "a kind that is not there names the nearest" {
    tool plot "$LANDSCAPE" --kind heatmp
    fails_with 2 'did you mean heatmap'
}

@test "what the file does not hold is said" {
    tool plot "$LANDSCAPE" --kind roofline
    fails_with 2 '--json'
}
