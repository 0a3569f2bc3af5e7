// Which instruction sets this machine and its system have. The processor is asked directly: the
// compilers' own __builtin_cpu_supports needs a library that not every system links.
#pragma once

#include "portable.hpp"

#if defined(SPARSEKSC_X86)
#include <cstdint>
#if defined(_MSC_VER)
#include <immintrin.h>
#include <intrin.h>
#else
#include <cpuid.h>
#endif

namespace sparseksc {
namespace machine {

struct Registers {
    unsigned a, b, c, d;
};

#if defined(_MSC_VER)
inline Registers cpuid(unsigned leaf) {
    int r[4];
    __cpuidex(r, static_cast<int>(leaf), 0);
    return {static_cast<unsigned>(r[0]), static_cast<unsigned>(r[1]), static_cast<unsigned>(r[2]),
            static_cast<unsigned>(r[3])};
}
#if defined(__clang__)
__attribute__((target("xsave")))
#endif
inline std::uint64_t saved_registers() { return _xgetbv(0); }
#else
inline Registers cpuid(unsigned leaf) {
    Registers r;
    __cpuid_count(leaf, 0, r.a, r.b, r.c, r.d);
    return r;
}
inline std::uint64_t saved_registers() {
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return static_cast<std::uint64_t>(high) << 32 | low;
}
#endif

// The bits are those of Intel's manual, volume 2, CPUID and XGETBV: what the processor has, and
// which registers the system saves. macOS begins to save those of AVX-512 when they are first used.
struct Features {
    bool avx2 = false, avx512 = false;

    Features() {
        if (cpuid(0).a < 7) return;
        const unsigned basic = cpuid(1).c, extended = cpuid(7).b;
        const bool fma = basic >> 12 & 1, saves = basic >> 27 & 1;
        if (!fma || !saves) return;
        const std::uint64_t saved = saved_registers();
        const auto has = [&](int bit) { return (extended >> bit & 1) != 0; };
        avx2 = (saved & 0x6) == 0x6 && has(5);
#if defined(__APPLE__)
        const bool saves_avx512 = true;
#else
        const bool saves_avx512 = (saved & 0xe6) == 0xe6;
#endif
        avx512 = avx2 && saves_avx512 && has(16) && has(17) && has(30) && has(31);
    }
};
inline bool has_avx2() { return Features().avx2; }
inline bool has_avx512() { return Features().avx512; }

}  // namespace machine
}  // namespace sparseksc
#endif
