#include "export/launch.h"

#include "export/text.h"

static const char plan[] = {
#include "plan.h.inc"
};

static const char queue[] = {
#include "queue.cu.inc"
};

void export_print_plan(FILE *to)
{
    fprintf(to, "\n\n%s\n", plan);
}

void export_print_queue(FILE *to)
{
    fprintf(to, "\n\n%s\n", queue);
}

void export_print_evaluate(const export_model *m, FILE *to)
{
    export_print_text(m,
                      "\n/* What a configuration launches on this device, for this problem; false where the\n"
                      " * pattern's expressions fail, or give what no launch can be. */\n"
                      "AUTOTUNE_HOST bool autotune_$_evaluate(\n"
                      "    const autotune_device *device, const autotune_$_problem *problem,\n"
                      "    const autotune_$_config *config, autotune_plan *plan)\n"
                      "{\n"
                      "    int broken = 0;\n"
                      "    int *failed = &broken;\n"
                      "    (void)failed;\n"
                      "    (void)device;\n"
                      "    (void)problem;\n"
                      "    (void)config;\n"
                      "    memset(plan, 0, sizeof *plan);\n",
                      to);
    fputs(m->launch.statements, to);
    fputs("    return broken == 0 && plan->launch_count > 0;\n}\n", to);
}
