#include <autotune.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static const int64_t blocks[] = {128, 256};
    at_error error;
    at_results *results = NULL;
    at_choice *choice = NULL;
    at_variable problem[1];
    at_parameter block;
    at_gpu gpu;
    int failed;
    problem[0] = at_integer("n", 4096);
    block = at_integers("block", blocks, 2);
    sprintf(gpu.name, "NVIDIA H100");
    gpu.major = 9;
    gpu.minor = 0;
    failed = argc != 2 || at_open(argv[1], &results, &error) ||
             at_pick(results, "copied", &gpu, problem, 1, &choice, &error);
    if (failed)
        fprintf(stderr, "%s\n", error.message);
    else
        printf("%s %s %d\n", at_rule_name(at_choice_rule(choice)), at_choice_text(choice),
               (int)block.count + 1);
    at_choice_free(choice);
    at_close(results);
    return failed;
}
