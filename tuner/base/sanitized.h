/* SANITIZED: 1 in a build with the address sanitizer, which reserves terabytes of address space; 0
 * in others. */
#ifndef AUTOTUNE_BASE_SANITIZED_H
#define AUTOTUNE_BASE_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
