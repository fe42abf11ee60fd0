/* Lua's arithmetic: it wraps around, and division rounds down. */
AUTOTUNE_FUNCTION int64_t autotune_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

AUTOTUNE_FUNCTION int64_t autotune_subtract(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

AUTOTUNE_FUNCTION int64_t autotune_multiply(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

AUTOTUNE_FUNCTION int64_t autotune_divide(int64_t a, int64_t b, int *failed)
{
    if (b == 0)
        *failed = 1;
    if (b == 0 || b == -1)
        return b == 0 ? 0 : autotune_subtract(0, a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

AUTOTUNE_FUNCTION int64_t autotune_remainder(int64_t a, int64_t b, int *failed)
{
    if (b == 0)
        *failed = 1;
    if (b == 0 || b == -1)
        return 0;
    return a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;
}

/* By n bits to the left, for a negative n to the right; zeros move in. */
AUTOTUNE_FUNCTION int64_t autotune_shift(int64_t a, int64_t n)
{
    if (n <= -64 || n >= 64)
        return 0;
    return (int64_t)(n < 0 ? (uint64_t)a >> -n : (uint64_t)a << n);
}

AUTOTUNE_FUNCTION int64_t autotune_ceil_div(int64_t a, int64_t b, int *failed)
{
    if (a < 0 || b <= 0) {
        *failed = 1;
        return 0;
    }
    return a / b + (a % b != 0 ? 1 : 0);
}

AUTOTUNE_FUNCTION int64_t autotune_round_up(int64_t a, int64_t b, int *failed)
{
    if (a < 0 || b <= 0 || a > INT64_MAX - b) {
        *failed = 1;
        return 0;
    }
    return (a + b - 1) / b * b;
}

AUTOTUNE_FUNCTION int64_t autotune_log2(int64_t n, int *failed)
{
    int64_t exponent = 0;
    if (n <= 0)
        *failed = 1;
    for (; n > 1; n /= 2)
        exponent += 1;
    return exponent;
}

AUTOTUNE_FUNCTION bool autotune_is_pow2(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

AUTOTUNE_FUNCTION int64_t autotune_min(int64_t a, int64_t b)
{
    return b < a ? b : a;
}

AUTOTUNE_FUNCTION int64_t autotune_max(int64_t a, int64_t b)
{
    return b > a ? b : a;
}

AUTOTUNE_FUNCTION double autotune_min_number(double a, double b)
{
    return b < a ? b : a;
}

AUTOTUNE_FUNCTION double autotune_max_number(double a, double b)
{
    return b > a ? b : a;
}

AUTOTUNE_FUNCTION double autotune_floor(double x)
{
    double whole = x;
    if (x > -9e15 && x < 9e15) {
        whole = (double)(int64_t)x;
        whole -= whole > x ? 1 : 0;
    }
    return whole;
}

AUTOTUNE_FUNCTION bool autotune_same_text(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

AUTOTUNE_FUNCTION bool autotune_text_before(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return (unsigned char)*a < (unsigned char)*b;
}

AUTOTUNE_FUNCTION bool autotune_contains(const char *text, const char *part)
{
    for (;; text++) {
        size_t i = 0;
        while (part[i] && text[i] == part[i])
            i++;
        if (!part[i])
            return true;
        if (!*text)
            return false;
    }
}
