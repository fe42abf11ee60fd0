# For scripts that compare the winners of several runs. The scripts set $build, $device, $script and $folder, an
# absolute path for all files.

# Writes a run's JSON to OUT. OUT exists only if the run is complete.
tune() { # tune OUT SCRIPT [OPTION]...
    XDG_STATE_HOME=$folder/state "$build/bin/autotune" "${@:2}" --device "$device" --no-record \
        --json --quiet >"$1.part"
    mv "$1.part" "$1"
}

# Prints the configurations in a run's JSON as constraints, one on each line and followed by its time. MEMBER is "best"
# or "results".
configurations() { # configurations MEMBER FILE
    awk -v member="$1" '
        $1 == "\"" member "\":" { here = 1; next }
        here && $1 == "\"config\":" { inside = 1; text = ""; next }
        inside && /}/ { inside = 0; next }
        inside {
            sub(/,$/, ""); name = $1; gsub(/[":]/, "", name)
            value = $0; sub(/^[^:]*: /, "", value); gsub(/"/, "\047", value)
            text = text (text == "" ? "" : " and ") name " == " value
        }
        here && $1 == "\"time_ns\":" {
            sub(/,$/, "", $2); print text "\t" $2
            if (member != "results") exit
        }' "$2"
}

# Measures the winners of the given runs together, at length, and prints them by time. Fails if a winner is more than 1
# % behind the best.
compare_winners() { # compare_winners RUN_JSON...
    local run any
    for run in "$@"; do
        configurations best "$run" | cut -f 1
    done >"$folder/winners"
    # The same pattern, reduced to the winners and the default. A script must keep its default.
    any=$({ cat "$folder/winners"; configurations baseline "$1" | cut -f 1; } | sort -u | sed 's/.*/(&)/' | paste -s -d '|' | sed 's/|/ or /g')
    awk -v any="$any" '{ print } /^  where = \{/ { print "    \"" any "\"," }' "$script" \
        >"$folder/winners.lua"
    cp "$(dirname "$script")"/*.tmpl "$folder" 2>/dev/null || true
    tune "$folder/together.json" "$folder/winners.lua" --finals 400 --top 1000
    configurations results "$folder/together.json" | sort -t "$(printf '\t')" -k 2 -n |
        while IFS=$(printf '\t') read -r constraint time_ns; do
            count=$(grep -c -F -x -e "$constraint" "$folder/winners") || continue
            printf '%s\t%s\t%s\n' "$time_ns" "$count" "$constraint"
        done >"$folder/table"
    awk -F '\t' 'NR == 1 { best = $1 }
        { behind = 100 * ($1 / best - 1); if (behind > worst) worst = behind
          printf "%12.2f us  +%.2f %%  won %d  %s\n", $1 / 1000, behind, $2, $3 }
        END { printf "\n%d winners, the last %.2f %% behind the best (at most 1 %%)\n", NR, worst
              exit worst > 1 || NR == 0 }' "$folder/table"
}
