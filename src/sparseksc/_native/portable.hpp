// What compilers spell differently. GCC, Clang and clang-cl have arithmetic on vectors and compile
// the loops for several instruction sets; MSVC has neither, and takes one value at a time
// (SPARSEKSC_SCALAR, which can be defined for any compiler).
#pragma once

#include <cstdint>
#include <cstring>
#if !defined(__GNUC__) && !defined(__clang__)
#include <cmath>
#endif

#if defined(__clang__)
#define SPARSEKSC_UNROLL _Pragma("unroll")
#elif defined(__GNUC__)
#define SPARSEKSC_UNROLL _Pragma("GCC unroll 16")
#else
#define SPARSEKSC_UNROLL
#endif

#if defined(__GNUC__) || defined(__clang__)
#define SPARSEKSC_NOINLINE __attribute__((noinline))
#define SPARSEKSC_INLINE __attribute__((always_inline)) inline
#else
#define SPARSEKSC_NOINLINE __declspec(noinline)
#define SPARSEKSC_INLINE __forceinline
#ifndef SPARSEKSC_SCALAR
#define SPARSEKSC_SCALAR 1
#endif
#endif

#if defined(__x86_64__) || defined(_M_X64)
#define SPARSEKSC_X86 1
#endif

namespace sparseksc {
namespace {

// The number with the same bits.
template <typename To, typename From>
SPARSEKSC_INLINE To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From));
#if defined(__has_builtin)
#if __has_builtin(__builtin_bit_cast)
    return __builtin_bit_cast(To, from);
#define SPARSEKSC_BIT_CAST 1
#endif
#endif
#ifndef SPARSEKSC_BIT_CAST
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
#endif
}

// Asks for the cache line of an address that is needed soon.
SPARSEKSC_INLINE void prefetch(const void* address) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

// Not those of <cmath> where they may be functions that variants would share (see kernels.hpp).
#if defined(__GNUC__) || defined(__clang__)
SPARSEKSC_INLINE double square_root(double x) { return __builtin_sqrt(x); }
SPARSEKSC_INLINE float square_root(float x) { return __builtin_sqrtf(x); }
#else
SPARSEKSC_INLINE double square_root(double x) { return std::sqrt(x); }
SPARSEKSC_INLINE float square_root(float x) { return std::sqrt(x); }
#endif

}  // namespace
}  // namespace sparseksc
