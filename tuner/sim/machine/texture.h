/* Reads through textures: coordinates, addressing modes, filters and formats. CUDA C++ Programming
 * Guide, "Texture Fetching"; PTX ISA, "tex". */
#ifndef AUTOTUNE_SIM_MACHINE_TEXTURE_H
#define AUTOTUNE_SIM_MACHINE_TEXTURE_H

#include "sim/machine/machine.h"
#include "sim/machine/texture_view.h"

/* Finds the texture or surface that the handle in a lane's slot a stands for, with as many sides,
 * and with layers or without, as the instruction asks for. NULL, with a fault: it is none such. */
const sim_texture *sim_texture_of(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                                  bool is_surface);

/* Reads a texel for each lane, or as many as its filter mixes. A place that the launch writes is a
 * race, as with other reads by the path that is not coherent. */
bool sim_texture_fetch(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

#endif
