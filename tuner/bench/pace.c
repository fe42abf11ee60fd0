#include "bench/pace.h"

void gpu_pace_begin(gpu_pace *p, int64_t now_ns)
{
    p->begun_ns = now_ns;
}

int64_t gpu_pace_rest(gpu_pace *p, int64_t now_ns)
{
    if (p->share >= 1)
        return 0;
    if (p->due_ns < p->begun_ns)
        p->due_ns = p->begun_ns;
    p->due_ns += (int64_t)((double)(now_ns - p->begun_ns) / p->share);
    p->begun_ns = now_ns;
    int64_t rest_ns = p->due_ns - now_ns;
    return (double)rest_ns * p->share > (double)GPU_PACE_WORK_NS * (1 - p->share) ? rest_ns : 0;
}
