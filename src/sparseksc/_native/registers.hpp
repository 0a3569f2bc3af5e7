// Vectors as wide as the registers; GCC and Clang have arithmetic on them for any machine. With
// SPARSEKSC_SCALAR a vector is one value, and the same loops take one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "portable.hpp"

namespace sparseksc {
namespace {

#if defined(SPARSEKSC_SCALAR)
constexpr std::size_t vector_bytes = 0;
#elif defined(__AVX512F__)
constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX__)
constexpr std::size_t vector_bytes = 32;
#else
constexpr std::size_t vector_bytes = 16;
#endif

template <typename T>
using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

// As many values, or their bits, as fit into a register.
#if defined(SPARSEKSC_SCALAR)
template <typename T>
struct Register {
    static constexpr std::size_t lanes = 1;
    using Values = T;
    using Words = Bits<T>;

    static SPARSEKSC_INLINE Words words(Values values) { return same_bits<Words>(values); }
    static SPARSEKSC_INLINE Values values(Words words) { return same_bits<Values>(words); }
    // All bits set where a comparison is true.
    static SPARSEKSC_INLINE Words mask(bool is) { return Words(0) - Words(is); }
};

template <typename V>
SPARSEKSC_INLINE V lane(V vector, std::size_t) {
    return vector;
}
#else
template <typename T>
struct Register {
    static constexpr std::size_t lanes = vector_bytes / sizeof(T);
    typedef T Values __attribute__((vector_size(vector_bytes), aligned(sizeof(T)), may_alias));
    typedef Bits<T> Words __attribute__((vector_size(vector_bytes), aligned(sizeof(T)), may_alias));

    static SPARSEKSC_INLINE Words words(Values values) { return (Words)values; }
    static SPARSEKSC_INLINE Values values(Words words) { return (Values)words; }
    // All bits set where a comparison is true.
    template <typename V>
    static SPARSEKSC_INLINE Words mask(V is) {
        return (Words)is;
    }
};

template <typename V>
SPARSEKSC_INLINE auto lane(const V& vector, std::size_t j) {
    return vector[j];
}
#endif

// The sum of 2 * half lanes, by halves; unrolled, so that the lanes stay in registers.
template <std::size_t half>
SPARSEKSC_INLINE double folded(double* lanes) {
    for (std::size_t j = 0; j < half; ++j) lanes[j] += lanes[half + j];
    if constexpr (half > 1) return folded<half / 2>(lanes);
    return lanes[0];
}

// Adds products of `Rows` columns of `left` and `Vectors` registers of columns of `right`, which
// are `apart` from each other: out[r, c] += sum over k of left[k, r] right[k, c], or = where out is
// `fresh`. The sums stay in registers, and each is taken in the order of k, so that it is the same
// whatever is computed beside it.
template <typename T, std::size_t Rows, std::size_t Vectors>
inline void add_products(const T* left, std::size_t left_stride, const T* right,
                         std::size_t right_stride, std::size_t apart, std::size_t count, T* out,
                         std::size_t stride, bool fresh = false) {
    using Values = typename Register<T>::Values;
    constexpr std::size_t lanes = Register<T>::lanes;
    Values sums[Rows][Vectors];
    SPARSEKSC_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
        prefetch(out + r * stride);  // where the sums are added at the end
        SPARSEKSC_UNROLL
        for (std::size_t c = 0; c < Vectors; ++c) sums[r][c] = Values{};
    }
    for (std::size_t k = 0; k < count; ++k, left += left_stride, right += right_stride) {
        Values columns[Vectors];
        SPARSEKSC_UNROLL
        for (std::size_t c = 0; c < Vectors; ++c) {
            columns[c] = *reinterpret_cast<const Values*>(right + c * apart);
        }
        SPARSEKSC_UNROLL
        for (std::size_t r = 0; r < Rows; ++r) {
            SPARSEKSC_UNROLL
            for (std::size_t c = 0; c < Vectors; ++c) sums[r][c] += left[r] * columns[c];
        }
    }
    SPARSEKSC_UNROLL
    for (std::size_t r = 0; r < Rows; ++r, out += stride) {
        SPARSEKSC_UNROLL
        for (std::size_t c = 0; c < Vectors; ++c) {
            Values& target = *reinterpret_cast<Values*>(out + c * lanes);
            target = fresh ? sums[r][c] : target + sums[r][c];
        }
    }
}

}  // namespace
}  // namespace sparseksc
