// Which instruction sets this machine and its system have.
#pragma once

#include "portable.hpp"

#if defined(SPARSEKSC_X86) && defined(_MSC_VER)
#include <immintrin.h>
#include <intrin.h>
#endif

namespace sparseksc {
namespace machine {

#if defined(SPARSEKSC_X86) && defined(_MSC_VER)
// clang-cl links no library that would answer; the bits are those of Intel's manual, volume 2,
// CPUID and XGETBV: what the processor has, and which registers the system saves.
struct Features {
    bool avx2 = false, avx512 = false;

#if defined(__clang__)
    __attribute__((target("xsave")))
#endif
    Features() {
        int leaf[4];
        __cpuid(leaf, 0);
        if (leaf[0] < 7) return;
        __cpuid(leaf, 1);
        const bool fma = leaf[2] >> 12 & 1, saves = leaf[2] >> 27 & 1;
        if (!fma || !saves) return;
        const unsigned long long saved = _xgetbv(0);
        __cpuidex(leaf, 7, 0);
        const auto has = [&](int bit) { return (leaf[1] >> bit & 1) != 0; };
        avx2 = (saved & 0x6) == 0x6 && has(5);
        avx512 = avx2 && (saved & 0xe6) == 0xe6 && has(16) && has(17) && has(30) && has(31);
    }
};
inline bool has_avx2() { return Features().avx2; }
inline bool has_avx512() { return Features().avx512; }
#elif defined(SPARSEKSC_X86)
inline bool has_avx2() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
inline bool has_avx512() {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}
#endif

}  // namespace machine
}  // namespace sparseksc
