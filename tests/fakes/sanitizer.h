/* Which sanitizer this program is built with: some have address space for fewer boxes or answer a fault themselves. */
#ifndef FAKES_SANITIZER_H
#define FAKES_SANITIZER_H

#ifdef __has_feature
#define FAKES_HAS_FEATURE(name) __has_feature(name)
#else
#define FAKES_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || FAKES_HAS_FEATURE(address_sanitizer)
#define ASAN 1
#else
#define ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || FAKES_HAS_FEATURE(thread_sanitizer)
#define TSAN 1
#else
#define TSAN 0
#endif

#define SANITIZED (ASAN || TSAN)

#endif
