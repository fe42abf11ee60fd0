load helpers

@test "a new pattern can be tuned without changes" {
    tool new mine
    succeeds
    for file in mine.lua mine.cu.tmpl mine_ref.cu.tmpl; do
        [ -f "$file" ]
    done
    lacks -l starter mine*
    tool mine.lua --device sim:sm_90 --budget 3 --json
    succeeds
    says '"pattern": "mine"'
    says '"ok": 3'
}

@test "lint has no warnings about a new pattern" {
    tool new mine
    tool lint mine.lua --arch sm_90
    succeeds
    says "no warnings"
}

@test "new overwrites no file" {
    echo precious >mine_ref.cu.tmpl
    tool new mine
    fails_with 2 "mine_ref.cu.tmpl exists"
    [ ! -e mine.lua ]
    [ "$(cat mine_ref.cu.tmpl)" = precious ]
}

@test "new warns that the new pattern hides an installed pattern of the same name" {
    tool new transpose
    succeeds
    [[ "$errors" == *"an installed pattern is called 'transpose', too"* ]]
    tool new mine
    [[ "$errors" != *warning* ]]
}

@test "new refuses names that no pattern can have" {
    for name in ../mine 1st "two words" mine.lua ""; do
        tool new "$name"
        fails_with 2 "is not a valid name of a pattern"
    done
}

@test "help prints pages, what templates can include, and the help of commands" {
    tool help
    succeeds
    says "  measuring"
    tool help tune
    succeeds
    says "Usage: autotune tune SCRIPT"
    tool help
    succeeds
    says "  scripts           Scripts: the fields"
    says "  spills            Where spills begin"
    # A page and a command of the same name must both be shown.
    tool help spills
    succeeds
    says "# Where spills begin"
    says "'autotune spills --help' has the options of the command."
    tool help scripts
    says_nothing_of "'autotune scripts --help'"
    succeeds
    says "at.pow2"
    says "tolerance *"
    tool help templates
    succeeds
    says "vector_type(dtype, n)"
    says "make_vector(element, parts)"
    says_nothing_of "transpose_common.tmpl"
    tool help template
    fails_with 2 "did you mean 'templates'?"
}

@test "tables of a page have headings and fit the page, and cells are wrapped in their columns" {
    tool help commands
    succeeds
    lacks -E '^\|' out.txt
    grep -q '^task  *command$' out.txt
    grep -A1 '^task  ' out.txt | tail -1 | grep -qE '^-{8,}  -{8,}$'
    # If a cell is empty, the next cell must stay in its column.
    grep -qE '^exit code  command +meaning$' out.txt
    grep -qE '^           `tune` ' out.txt
    lacks -E '^[^ ].*  .{81}' out.txt
}

@test "help begins with the tutorial, and lists pages for developers separately" {
    tool help
    succeeds
    [ "$(sed -n '2s/^  \([a-z]*\) .*/\1/p' out.txt)" = tutorial ]
    says "for those who work on autotune itself: instructions, kernel_file_trials"
    tool help record_table
    succeeds
    says "# The table that templates are given"
}

@test "lint warns of likely mistakes" {
    cp "$FIXTURES"/scale* .
    sed -i 's/vec   = { 1, 2, 4 }/vec = { 1, 2, 4, 1024 }, unread = { 1, 2 }/; s/"cached or vec > 1",/"cached or vec > 1", "block > 1",/; /ragged  =/d; s/scale_ref.cu.tmpl/scale.cu.tmpl/' scale.lua
    tool lint scale.lua --arch sm_90
    succeeds
    line=$(grep -n unread scale.lua | cut -d: -f1)
    says "scale.lua:$line: unread: no template"
    says "scale.lua:$line: vec=1024: no valid configuration has this value"
    says "block > 1"
    says "no ragged problem"
    says "scale.lua:$(grep -n reference scale.lua | cut -d: -f1): the reference uses the template of the variants ("
    says_nothing_of "cached: no template"
    lacks -v '^scale.lua:[0-9]*: ' out.txt
    # With `ragged = false` a script needs no ragged problem.
    sed -i 's/  reference =/  ragged = false,\n&/' scale.lua
    for command in lint space; do
        tool $command scale.lua
        succeeds
        says_nothing_of "no ragged problem"
        [[ "$errors" != *"no ragged problem"* ]]
    done
}

@test "lint examines some hundred variants of a parameter that nothing reads" {
    cp "$FIXTURES"/scale* .
    sed -i 's/vec   = { 1, 2, 4 }/vec = { 1, 2, 4 }, unread = at.range(1, 2000)/' scale.lua
    tool lint scale.lua --arch sm_90
    succeeds
    says "unread: no template, launch or option reads this parameter: in each of 256 pairs"
}

@test "lint warns of starts that the problem does not allow" {
    tool lint "$FIXTURES/started.lua" --arch sm_90
    says_nothing_of "starts["
    tool lint "$FIXTURES/started.lua" --arch sm_90 --set n=1048575
    succeeds
    says "starts[1] is not tried, because it is not a valid configuration for this problem: it breaks n % vec == 0"
    says_nothing_of "starts[2]"
}

@test "lint accepts a constraint that other problems or devices need, and warns of a missing reference" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    tool lint scale.lua
    succeeds
    says_nothing_of 'removes no configuration'
    sed -i 's/"cached or vec > 1",/&\n    "vec < 8",/; /reference = /d' scale.lua
    tool lint scale.lua
    says "scale.lua:$(grep -n 'vec < 8' scale.lua | cut -d: -f1): this constraint removes no configuration that the other constraints leave:"
    says 'there is no reference: variants are compared with the baseline only, so a mistake in the baseline is never found.'
}
