/* Matrix products of a warp (mma) on a GPU of compute capability 9.0: dense, of bits, and with
 * sparse rows. Each form that unit.sim/machine.matrix tests is compared with its expected
 * result.
 *
 * Integers must be equal. Floats may differ, because the adders of the GPU have limited precision.
 * The difference is printed. Exit code: 0 if all forms agree, 1 if a form differs, 77 without such
 * a GPU. */
#include <stdio.h>
#include <stdlib.h>

#include "gpu_products.h"
#include "matrix_forms.h"
#include "sim_fixture.h"

static bool run_on_gpu(const cuda_driver *cuda, const char *ptx, matrix_data *d)
{
    gpu_copy copies[] = {{d->a, sizeof d->a, 0},
                         {d->b, sizeof d->b, 0},
                         {d->c, sizeof d->c, 0},
                         {d->d, sizeof d->d, 0},
                         {d->indices, sizeof d->indices, 0}};
    void *arguments[] = {&copies[0].at, &copies[1].at, &copies[2].at, &copies[3].at, &copies[4].at};
    return gpu_products_run(cuda, ptx, MATRIX_THREADS, 0, copies, 5, arguments);
}

int main(void)
{
    static matrix_data d;
    static char text[16384];
    cuda_driver cuda;
    uint64_t random = 7;
    int failed = 0, count = 0;
    if (!gpu_products_open(&cuda))
        return GPU_PRODUCTS_SKIPPED;
    for (const matrix_form *f = matrix_forms; f->opcode; f++, count++) {
        int row = 0, column = 0;
        matrix_fill(f, &random, &d);
        matrix_kernel(f, text, sizeof text);
        char *ptx = sim_test_ptx(text, "sm_90");
        const bool ran = run_on_gpu(&cuda, ptx, &d);
        const double distance = ran ? matrix_distance(f, &d, &row, &column) : 0;
        const bool fine = ran && distance <= gpu_products_most_apart;
        printf("%s mma%s %s", fine ? "ok  " : "FAIL", f->sparse ? f->sparse : "", f->opcode);
        if (f->sparse)
            printf(", selector %d", f->selector);
        if (ran)
            printf(": off by %.3g of the sum of sizes at most, in row %d, column %d\n", distance,
                   row, column);
        else
            printf(": the GPU does not run this\n");
        failed += !fine;
        free(ptx);
    }
    printf("%d forms of mma, %d differ\n", count, failed);
    return failed > 0;
}
