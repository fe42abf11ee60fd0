#include <autotune/transpose.h>
#include <stdio.h>

int main(void)
{
    const autotune_device device = autotune_device_named("NVIDIA H200", 9, 0);
    const autotune_transpose_problem problem = {8192, 8192, AUTOTUNE_TRANSPOSE_DTYPE_FLOAT};
    const autotune_transpose_choice choice = autotune_transpose_find(&device, &problem);
    printf("tile %d x %d\n", (int)choice.config.tile_x, (int)choice.config.tile_y);
    return 0;
}
