#include <autotune.h>
#include <stdio.h>

/* libautotune also uses these names inside. The names must not collide. */
int error_set(void);
int pick(void);

int error_set(void)
{
    return 1;
}

int pick(void)
{
    return 2;
}

int main(int argc, char **argv)
{
    at_error error;
    at_results *results = NULL;
    at_choice *choice = NULL;
    at_variable problem[] = {at_integer("n", 4096)};
    at_gpu gpu = {"NVIDIA H100", 9, 0};
    if (argc != 2 || at_open(argv[1], &results, &error) ||
        at_pick(results, "copied", &gpu, problem, 1, &choice, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("%s %s %d\n", at_rule_name(at_choice_rule(choice)), at_choice_text(choice),
           error_set() + pick());
    at_choice_free(choice);
    at_close(results);
    return 0;
}
