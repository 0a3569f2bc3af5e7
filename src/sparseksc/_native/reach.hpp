// Which regions of pivots matter to a row. See kernels.hpp for the regions.
//
// The nearest point of a box gives the least exponent that a pivot inside can have, because the
// terms of all kernels grow with the distance from x on either side of it.
#pragma once

#include <type_traits>

#include "tiles.hpp"

namespace sparseksc {
namespace {

// The smallest of 2 * half lanes, by halves, as `folded` in tiles.hpp.
template <std::size_t half, typename T>
__attribute__((always_inline)) inline T smallest(T* lanes) {
    for (std::size_t j = 0; j < half; ++j) {
        lanes[j] = lanes[half + j] < lanes[j] ? lanes[half + j] : lanes[j];
    }
    if constexpr (half > 1) return smallest<half / 2>(lanes);
    return lanes[0];
}

// The least exponent of x among `blocks` blocks of pivots.
template <typename K, int D, typename T>
__attribute__((noinline)) T least_exponent(const T* x, const T* packed, std::size_t blocks,
                                           const T* scale, std::size_t features) {
    T least[block<T>];
    for (std::size_t j = 0; j < block<T>; ++j) least[j] = __builtin_huge_val();
    for (std::size_t b = 0; b < blocks; ++b, packed += features * block<T>) {
        T a[block<T>];
        exponents<K, D>(x, packed, scale, features, a);
        for (std::size_t j = 0; j < block<T>; ++j) least[j] = a[j] < least[j] ? a[j] : least[j];
    }
    return smallest<block<T> / 2>(least);
}

template <typename K, typename T>
auto choose_least(std::size_t features) {
    switch (features) {
        case 1: return least_exponent<K, 1, T>;
        case 2: return least_exponent<K, 2, T>;
        case 3: return least_exponent<K, 3, T>;
        case 4: return least_exponent<K, 4, T>;
        default: return least_exponent<K, 0, T>;
    }
}

// bounds[j] += the least term that a value between lower and upper can have at x[j]. A function of
// its own, or compilers vectorise over regions instead of lanes.
template <typename K, typename T>
__attribute__((noinline)) void add_bounds(const T* x, T lower, T upper, T scale,
                                          T* __restrict bounds) {
    for (std::size_t j = 0; j < block<T>; ++j) {
        const T above = x[j] < lower ? lower : x[j];
        bounds[j] += K::term(x[j], above > upper ? upper : above, scale);
    }
}

// Notes for each lane whether region g is nearer than the nearest one so far.
template <typename T, typename Number>
__attribute__((noinline)) void compare_bounds(const T* bounds, Number g, T* __restrict best,
                                              Number* __restrict nearest) {
    for (std::size_t j = 0; j < block<T>; ++j) {
        nearest[j] = bounds[j] < best[j] ? g : nearest[j];
        best[j] = bounds[j] < best[j] ? bounds[j] : best[j];
    }
}

// The keys of block<T> rows at a time, in lanes.
template <typename K, typename T>
void reach(const T* X, std::size_t rows, const Pivots<T>& pivots, const Regions<T>& regions,
           std::uint64_t* keys) {
    constexpr std::size_t lanes = block<T>;
    using Number = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
    const auto least_of = choose_least<K, T>(pivots.features);
    const std::size_t features = pivots.features, count = regions.count;
    for (std::size_t first = 0; first < rows; first += lanes) {
        const std::size_t used = rows - first < lanes ? rows - first : lanes;
        const T* batch = X + first * features;
        T bounds[most_regions][lanes];
        for (std::size_t g = 0; g < count; ++g) {
            for (std::size_t j = 0; j < lanes; ++j) bounds[g][j] = 0;
        }
        for (std::size_t f = 0; f < features; ++f) {
            const T scale = pivots.scale[f];
            T x[lanes];
            for (std::size_t j = 0; j < lanes; ++j) {
                x[j] = batch[(j < used ? j : used - 1) * features + f];
            }
            for (std::size_t g = 0; g < count; ++g) {
                add_bounds<K>(x, regions.lower[g * features + f], regions.upper[g * features + f],
                              scale, bounds[g]);
            }
        }
        T best[lanes];
        Number nearest[lanes];
        for (std::size_t j = 0; j < lanes; ++j) best[j] = bounds[0][j], nearest[j] = 0;
        for (std::size_t g = 1; g < count; ++g) {
            compare_bounds(bounds[g], static_cast<Number>(g), best, nearest);
        }
        // The least exponent in the nearest region bounds the least of all.
        T limit[lanes];
        for (std::size_t j = 0; j < lanes; ++j) {
            const std::size_t row = j < used ? j : used - 1;
            const std::size_t b = static_cast<std::size_t>(nearest[row]) * regions.blocks;
            const std::size_t left = pivots.blocks - b;
            limit[j] = reach_depth<T> +
                       least_of(batch + row * features, pivots.packed + b * features * lanes,
                                left < regions.blocks ? left : regions.blocks, pivots.scale,
                                features);
        }
        std::uint64_t key[lanes] = {};
        for (std::size_t g = 0; g < count; ++g) {
            for (std::size_t j = 0; j < lanes; ++j) {
                key[j] |= static_cast<std::uint64_t>(bounds[g][j] <= limit[j]) << g;
            }
        }
        for (std::size_t j = 0; j < used; ++j) keys[first + j] = key[j];
    }
}

}  // namespace
}  // namespace sparseksc
