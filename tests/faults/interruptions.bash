# Interrupts runs at many moments and resumes them.

# A moment is a number of pieces sent over sockets, so that slow and fast machines are interrupted at the same
# points. The moments take turns between four kinds of interruption and four kinds of machine.
interrupt_everywhere() { # interrupt_everywhere MOMENTS SPACE
    write_space "space_$2" "$2"
    # With this machine the energy is read, so that the winner's energy is sampled, too.
    on_machine 2
    measure_run
    # Samples in flight: four variants with three samples and one sample for the length of a batch; or a block of
    # every variant and a copy.
    under_way=$(($2 > 15 ? $2 + 1 : 16))
    for moment in $(seq "$1"); do
        at=$((pieces * moment / ($1 + 1)))
        on_machine $((moment % 4))
        case $((moment / 4 % 4)) in
        0) run_with_faults -i "$at:9" && ended_by 137 && ended=1 ;;
        1) run_with_faults -i "$at:2" && ended_by 130 && ended=1 ;;
        2) run_with_faults -r && ended_by 4 && ended=1 ;;
        3) # two interruptions
            run_with_faults -i "$at:15" && ended_by 130 || return 1
            # A run that is already complete cannot be resumed.
            [ "$status" -ne 0 ] || forget
            run_with_faults -i "$((pieces / 3)):9" && ended_by 137 && ended=2
            ;;
        esac || { echo "moment $moment of $1 in a space of $2, piece $at"; return 1; }
        if [ "$status" -ne 0 ]; then
            resumes "$ended" || { echo "moment $moment of $1 in a space of $2, piece $at"; return 1; }
        fi
        forget
    done
    on_machine 0
}

on_machine() { # on_machine KIND: 0 is a plain machine, 1 has a slow driver, 2 a slow board, 3 a slow set-up
    unset FAKE_CUDA_TIME_US FAKE_CUDA_ALLOCATION_MS AUTOTUNE_LIBNVML FAKE_NVML_ENERGY_MS \
        FAKE_NVML_ENERGY_STEP_MJ asking
    case $1 in
    1) export FAKE_CUDA_TIME_US=200 ;;
    2) export AUTOTUNE_LIBNVML=${FAKE_NVML:?} FAKE_NVML_ENERGY_STEP_MJ=100000 FAKE_NVML_ENERGY_MS=50 asking=--energy ;;
    3) export FAKE_CUDA_ALLOCATION_MS=20 ;;
    esac
}
