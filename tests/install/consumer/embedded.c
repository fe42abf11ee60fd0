#include <autotune/copied.h>
#include <stdio.h>

int main(void)
{
    autotune_copied_problem problem = {4096};
    autotune_device device = autotune_device_named("NVIDIA H200", 9, 0);
    autotune_copied_choice choice = autotune_copied_find(&device, &problem);
    printf("%s block=%d vec=%d\n", autotune_rule_name(choice.rule), choice.config.block,
           choice.config.vec);
    return 0;
}
