#include <autotune/copied.h>
#include <stdio.h>
#include <string.h>

static float from[4096], to[4096];

/* Prints the rule of the pick and whether the copy is right ("exact right"), or "no GPU" without a
 * GPU. */
int main(void)
{
    autotune_copied_problem problem = {4096};
    autotune_copied_buffers buffers;
    autotune_plan plan;
    void *src, *dst;
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
        puts("no GPU");
        return 0;
    }
    for (int i = 0; i < 4096; i++)
        from[i] = (float)i;
    status = cudaMalloc(&src, sizeof from);
    if (!status)
        status = cudaMalloc(&dst, sizeof to);
    if (!status)
        status = cudaMemcpy(src, from, sizeof from, cudaMemcpyHostToDevice);
    buffers.src = src;
    buffers.dst = dst;
    if (!status)
        status = autotune_copied_plan(NULL, &problem, NULL, &plan);
    if (!status)
        status = autotune_copied_launch(&problem, &buffers, NULL);
    if (!status)
        status = cudaMemcpy(to, dst, sizeof to, cudaMemcpyDeviceToHost);
    if (status) {
        printf("%s\n", cudaGetErrorString(status));
        return 1;
    }
    printf("%s %s\n", autotune_rule_name(plan.rule),
           memcmp(from, to, sizeof to) ? "wrong" : "right");
    return 0;
}
