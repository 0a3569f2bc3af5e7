// Which regions of pivots matter to a row. See kernels.hpp for the regions.
//
// The nearest point of a box gives the least exponent that a pivot inside can have, because the
// terms of all kernels grow with the distance from x on either side of it.
#pragma once

#include <limits>

#include "tiles.hpp"

namespace sparseksc {
namespace {

// The smallest of 2 * half lanes, by halves, as `folded` in tiles.hpp.
template <std::size_t half, typename T>
SPARSEKSC_INLINE T smallest(T* lanes) {
    for (std::size_t j = 0; j < half; ++j) {
        lanes[j] = lanes[half + j] < lanes[j] ? lanes[half + j] : lanes[j];
    }
    if constexpr (half > 1) return smallest<half / 2>(lanes);
    return lanes[0];
}

// The least exponent of x in a block of pivots.
template <typename K, int D, typename T>
SPARSEKSC_NOINLINE T least_exponent(const T* x, const T* packed, const T* scale,
                                           std::size_t features) {
    T a[block<T>];
    exponents<K, D>(x, packed, scale, features, a);
    return smallest<block<T> / 2>(a);
}

// bounds[j] += the least term that a value between lower and upper can have at x[j]. A function of
// its own, or compilers vectorise over regions instead of lanes.
template <typename K, typename T>
SPARSEKSC_NOINLINE void add_bounds(const T* x, T lower, T upper, T scale,
                                          T* __restrict bounds) {
    for (std::size_t j = 0; j < block<T>; ++j) {
        const T above = x[j] < lower ? lower : x[j];
        bounds[j] += K::term(x[j], above > upper ? upper : above, scale);
    }
}

// The number of the region with the least bound, for each lane. Numbers travel in the last bits of
// the bounds, so that the least of these brings its own along.
template <typename T>
SPARSEKSC_NOINLINE void nearest_regions(const T* bounds, std::size_t count,
                                               Bits<T>* nearest) {
    static_assert(most_regions == 64);
    using Values = typename Register<T>::Values;
    using Words = typename Register<T>::Words;
    constexpr Bits<T> last = 63;
    for (std::size_t j = 0; j < block<T>; j += Register<T>::lanes) {
        Values least = Values{} + std::numeric_limits<T>::infinity();
        for (std::size_t g = 0; g < count; ++g) {
            const Values bound = *reinterpret_cast<const Values*>(bounds + g * block<T> + j);
            const auto number = static_cast<Bits<T>>(g);
            const Values marked = Register<T>::values((Register<T>::words(bound) & ~last) | number);
            least = marked < least ? marked : least;  // a marked infinity is NaN, which is not less
        }
        *reinterpret_cast<Words*>(nearest + j) = Register<T>::words(least) & last;
    }
}

// Bit g of the key of a lane is set where its bound for region g is within the limit. The bits of
// 64 regions fill one or two words.
template <typename T>
SPARSEKSC_NOINLINE void mark_reached(const T* bounds, std::size_t count, const T* limit,
                                            std::uint64_t* keys) {
    using Values = typename Register<T>::Values;
    using Words = typename Register<T>::Words;
    constexpr std::size_t size = 8 * sizeof(T);
    for (std::size_t j = 0; j < block<T>; j += Register<T>::lanes) {
        const Values limits = *reinterpret_cast<const Values*>(limit + j);
        for (std::size_t start = 0; start < count; start += size) {
            Words word{};
            for (std::size_t g = start; g < count && g < start + size; ++g) {
                const Values bound = *reinterpret_cast<const Values*>(bounds + g * block<T> + j);
                // Not "bound <= limits": a NaN reaches everything, and stays one.
                word |= ~Register<T>::mask(bound > limits) & (Bits<T>(1) << (g - start));
            }
            for (std::size_t k = 0; k < Register<T>::lanes; ++k) {
                keys[j + k] |= static_cast<std::uint64_t>(lane(word, k)) << start;
            }
        }
    }
}

// The keys of block<T> rows at a time, in lanes.
template <typename K, typename T>
void reach(const T* X, std::size_t rows, const Pivots<T>& pivots, const Regions<T>& regions,
           std::uint64_t* keys) {
    constexpr std::size_t lanes = block<T>;
    const auto least_of = for_features(pivots.features, [](auto D) {
        return &least_exponent<K, decltype(D)::value, T>;
    });
    const std::size_t features = pivots.features, count = regions.count;
    for (std::size_t first = 0; first < rows; first += lanes) {
        const std::size_t used = rows - first < lanes ? rows - first : lanes;
        const T* group = X + first * features;
        T bounds[most_regions][lanes];
        for (std::size_t g = 0; g < count; ++g) {
            for (std::size_t j = 0; j < lanes; ++j) bounds[g][j] = 0;
        }
        for (std::size_t f = 0; f < features; ++f) {
            const T scale = pivots.scale[f];
            T x[lanes];
            for (std::size_t j = 0; j < lanes; ++j) {
                x[j] = group[(j < used ? j : used - 1) * features + f];
            }
            for (std::size_t g = 0; g < count; ++g) {
                add_bounds<K>(x, regions.lower[g * features + f], regions.upper[g * features + f],
                              scale, bounds[g]);
            }
        }
        Bits<T> nearest[lanes];
        nearest_regions(bounds[0], count, nearest);
        // The least exponent in the block where the nearest region starts bounds the least of all.
        T limit[lanes];
        for (std::size_t j = 0; j < lanes; ++j) {
            const std::size_t row = j < used ? j : used - 1;
            const std::size_t start = nearest[row] * regions.size;
            const T* near = pivots.packed + start / lanes * features * lanes;
            limit[j] = reach_depth<T> +
                       least_of(group + row * features, near, pivots.scale, features);
        }
        std::uint64_t key[lanes] = {};
        mark_reached(bounds[0], count, limit, key);
        for (std::size_t j = 0; j < used; ++j) keys[first + j] = key[j];
    }
}

}  // namespace
}  // namespace sparseksc
