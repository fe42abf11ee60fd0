load helpers

@test "a portfolio on a simulated device is predicted and not recorded" {
    tool portfolio "$FIXTURES/scale.lua" --over n=1000..4000 --device sim:sm_90 --problems 3 --held-out 1 \
        --budget 40 --quiet
    succeeds
    says "times are predicted"
    says "n=1000..4000; scale=3"
    says "on 1 problem held out"
    says "choice"
    [ ! -e results ]
}

@test "a portfolio over what the problem does not have, or cannot have, says so" {
    tool portfolio "$FIXTURES/scale.lua" --device sim:sm_90
    fails_with 2 "needs --over"
    tool portfolio "$FIXTURES/scale.lua" --over m=1..4 --device sim:sm_90
    fails_with 2 "the problem has no such variable"
    tool portfolio "$FIXTURES/scale.lua" --over n=16..4 --device sim:sm_90
    fails_with 2 "a range is LO..HI"
    tool portfolio "$FIXTURES/scale.lua" --over n=0..4 --device sim:sm_90
    fails_with 2 "a range is LO..HI"
    tool portfolio "$FIXTURES/scale.lua" --over n=1..8 --set n=3 --device sim:sm_90
    fails_with 2 "by both --over and --set"
    tool portfolio "$FIXTURES/scale.lua" --over n=1..8 --over n=3 --device sim:sm_90
    fails_with 2 "is given twice"
    tool portfolio "$FIXTURES/scale.lua" --over n --device sim:sm_90
    fails_with 2 "not 'n'"
    tool portfolio "$FIXTURES/scale.lua" --over n=1..8 --max 17 --device sim:sm_90
    fails_with 2 "from 1 to 16"
    tool portfolio "$FIXTURES/scale.lua" --over dtype=float,none --device sim:sm_90 --problems 1 --record
    fails_with 2 "--record is refused"
}
