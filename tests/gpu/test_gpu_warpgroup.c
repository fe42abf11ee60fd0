/* Matrix products of warpgroups (wgmma) on a GPU of compute capability 9.0. Each form that
 * unit.sim/machine.warpgroup tests is compared with its expected result.
 *
 * Integers must be equal. Floats may differ, because the accumulators of the GPU have limited
 * precision. The difference is printed. Exit code: 0 if all forms agree, 1 if a form differs, 77
 * without such a GPU. */
#include <stdio.h>
#include <stdlib.h>

#include "gpu_products.h"
#include "sim_fixture.h"
#include "warpgroup_forms.h"

static bool run_on_gpu(const cuda_driver *cuda, const char *ptx, const warpgroup_form *f,
                       warpgroup_data *d)
{
    gpu_copy copies[] = {{d->image, sizeof d->image, 0},
                         {d->a_registers, sizeof d->a_registers, 0},
                         {d->d_registers, sizeof d->d_registers, 0},
                         {d->metadata, sizeof d->metadata, 0}};
    int keeps = f->keeps;
    void *arguments[] = {&copies[0].at, &copies[1].at, &copies[2].at, &d->at_a,
                         &d->at_b,      &keeps,        &copies[3].at};
    return gpu_products_run(cuda, ptx, WARPGROUP_THREADS, WARPGROUP_IMAGE_BYTES, copies, 4,
                            arguments);
}

int main(void)
{
    static warpgroup_data d;
    static char text[32768];
    cuda_driver cuda;
    int failed = 0, count = 0;
    if (!gpu_products_open(&cuda))
        return GPU_PRODUCTS_SKIPPED;
    for (const warpgroup_form *f = warpgroup_forms; f->types; f++, count++) {
        int row = 0, column = 0;
        warpgroup_fill(f, &d);
        warpgroup_kernel(f, text, sizeof text);
        char *ptx = sim_test_ptx(text, "sm_90a");
        const bool ran = run_on_gpu(&cuda, ptx, f, &d);
        const double distance = ran ? warpgroup_distance(f, &d, &row, &column) : 0;
        const bool fine = ran && distance <= gpu_products_most_apart;
        printf("%s wgmma %s, n %d, swizzle %d%s%s%s%s%s: ", fine ? "ok  " : "FAIL", f->types, f->n,
               f->swizzle, f->a_in_registers ? ", a in registers" : "",
               f->turned_a ? ", a turned" : "", f->turned_b ? ", b turned" : "",
               f->base ? ", base offset" : "", f->sparse ? ", sparse" : "");
        if (ran)
            printf("off by %.3g of the sum of sizes at most, in row %d, column %d\n", distance, row,
                   column);
        else
            printf("the GPU does not run this\n");
        failed += !fine;
        free(ptx);
    }
    printf("%d forms of wgmma, %d differ\n", count, failed);
    return failed > 0;
}
