/* Bits of a half or bfloat16 and the value they stand for. Rounding to nearest even. */
#ifndef AUTOTUNE_BASE_HALF_H
#define AUTOTUNE_BASE_HALF_H

#include <stdint.h>

float half_to_float(uint16_t bits);
uint16_t half_from_float(float v);
uint16_t half_from_double(double v);
float bfloat_to_float(uint16_t bits);
uint16_t bfloat_from_float(float v);
uint16_t bfloat_from_double(double v);

#endif
