/* Makes a test's executable one from which workers can be started: the first step of the program's
 * main(), done before the test's main(). */
#include "bench/worker.h"
#include "compile/worker.h"

__attribute__((constructor)) static void enter(int argc, char **argv)
{
    static const worker_program *const workers[] = {&compile_worker_program, &device_worker_program,
                                                    &device_proof_program, &device_list_program,
                                                    NULL};
    worker_enter(argc, argv, workers);
}
