// The nearest of many points, for each row.
#pragma once

#include <limits>

#include "kernels.hpp"
#include "products.hpp"

namespace sparseksc {
namespace {

// Keeps the `count` smallest values seen so far, ascending; of equal ones the first.
template <typename T>
inline void insert(T value, std::int64_t number, std::size_t count, T* values,
                   std::int64_t* numbers) {
    std::size_t place = count - 1;
    for (; place > 0 && value < values[place - 1]; --place) {
        values[place] = values[place - 1];
        numbers[place] = numbers[place - 1];
    }
    values[place] = value;
    numbers[place] = number;
}

// Looks at a few values of a row at once: as a rule none of them is among the smallest.
template <typename T>
inline void offer(const T* values, std::size_t valid, std::int64_t first, std::size_t count,
                  T* best, std::int64_t* numbers) {
    T least = values[0];
    for (std::size_t j = 1; j < point_lanes; ++j) least = values[j] < least ? values[j] : least;
    if (!(least < best[count - 1])) return;
    for (std::size_t j = 0; j < valid; ++j) {
        if (values[j] < best[count - 1]) {
            insert(values[j], first + static_cast<std::int64_t>(j), count, best, numbers);
        }
    }
}

template <typename T>
inline void start(std::size_t count, T* best, std::int64_t* numbers) {
    for (std::size_t k = 0; k < count; ++k) {
        best[k] = std::numeric_limits<T>::infinity();
        numbers[k] = static_cast<std::int64_t>(k);
    }
}

template <typename T>
void smallest(const T* values, std::size_t n, std::size_t R, std::size_t count, T* best,
              std::int64_t* numbers) {
    T last[point_lanes];
    for (std::size_t i = 0; i < n; ++i) {
        const T* row = values + i * R;
        std::int64_t* mine = numbers + i * count;
        start(count, best, mine);
        std::size_t first = 0;
        for (; first + point_lanes <= R; first += point_lanes) {
            offer(row + first, point_lanes, static_cast<std::int64_t>(first), count, best, mine);
        }
        if (first == R) continue;
        for (std::size_t j = 0; j < point_lanes; ++j) {
            last[j] = first + j < R ? row[first + j] : std::numeric_limits<T>::infinity();
        }
        offer(last, R - first, static_cast<std::int64_t>(first), count, best, mine);
    }
}

// In float64; as many sums side by side as the latency of an addition leaves room for.
template <typename T>
inline double squared_distance(const T* x, const T* p, std::size_t d) {
    constexpr std::size_t width = 16;
    double parts[width] = {};
    std::size_t f = 0;
    for (; f + width <= d; f += width) {
        for (std::size_t j = 0; j < width; ++j) {
            const double difference = static_cast<double>(x[f + j]) - p[f + j];
            parts[j] += difference * difference;
        }
    }
    double rest = 0.0;  // apart, so that the other sums stay in registers
    for (; f < d; ++f) {
        const double difference = static_cast<double>(x[f]) - p[f];
        rest += difference * difference;
    }
    return folded<width / 2>(parts) + rest;
}

// Whether a point comes before another; of equally near ones the first.
inline bool comes_before(double distance, std::int64_t number, double other,
                         std::int64_t other_number) {
    return distance < other || (distance == other && number < other_number);
}

// Puts a point into its place among `count` others, for one of which there is room.
inline void put(double distance, std::int64_t number, std::size_t count, double* distances,
                std::int64_t* numbers) {
    std::size_t place = count;
    for (; place > 0 && comes_before(distance, number, distances[place - 1], numbers[place - 1]);
         --place) {
        distances[place] = distances[place - 1];
        numbers[place] = numbers[place - 1];
    }
    distances[place] = distance;
    numbers[place] = number;
}

// Squared distances of each row to its points, in float64, ascending; of equal ones the first.
template <typename T>
void distances_to(const T* X, std::size_t n, std::size_t d, const T* P, std::size_t count,
                  std::int64_t* numbers, double* distances) {
    for (std::size_t i = 0; i < n; ++i) {
        std::int64_t* mine = numbers + i * count;
        for (std::size_t k = 0; k < count; ++k) {
            const std::int64_t number = mine[k];
            const double distance =
                squared_distance(X + i * d, P + static_cast<std::size_t>(number) * d, d);
            put(distance, number, k, distances + i * count, mine);
        }
    }
}

// The `count` nearest of some points of P, at least as many.
template <typename T>
inline void nearest_of(const T* x, const T* P, std::size_t d, const std::int64_t* candidates,
                       std::size_t found, std::size_t count, std::int64_t* numbers,
                       double* distances) {
    std::size_t used = 0;
    for (std::size_t k = 0; k < found; ++k) {
        const std::int64_t number = candidates[k];
        const double distance = squared_distance(x, P + static_cast<std::size_t>(number) * d, d);
        if (used == count) {
            if (!comes_before(distance, number, distances[count - 1], numbers[count - 1])) continue;
            --used;
        }
        put(distance, number, used++, distances, numbers);
    }
}

// Puts the smaller one of lanes j and half + j into lane j; unrolled, so that they stay in registers.
template <std::size_t half>
SPARSEKSC_INLINE void fold_least(const float* lanes, float* out) {
    for (std::size_t j = 0; j < half; ++j) {
        out[j] = lanes[half + j] < lanes[j] ? lanes[half + j] : lanes[j];
    }
}
template <std::size_t half>
SPARSEKSC_INLINE float least_of(float* lanes) {
    fold_least<half>(lanes, lanes);
    if constexpr (half > 1) return least_of<half / 2>(lanes);
    return lanes[0];
}

// The least of `lanes` values that no fewer than `count` of them do not exceed. Counts instead of
// sorting: a processor cannot foresee the branches of a sort.
template <std::size_t lanes>
inline float value_in_place(const float* values, std::size_t count) {
    float ranks[lanes] = {}, enough[lanes];
    for (std::size_t k = 0; k < lanes; ++k) {
        const float value = values[k];
        for (std::size_t j = 0; j < lanes; ++j) ranks[j] += value <= values[j] ? 1.0f : 0.0f;
    }
    const float place = static_cast<float>(count);
    for (std::size_t j = 0; j < lanes; ++j) {
        enough[j] = ranks[j] >= place ? values[j] : std::numeric_limits<float>::infinity();
    }
    return least_of<lanes / 2>(enough);
}

// Writes which of the points may be among the `count` nearest of a row, from its products with
// them, which are overwritten by |p|^2 / 2 - x . p: that has the order of the distances up to
// `error`. Returns how many there are; there must be room for one more.
//
// The smallest value in each of some lanes, and among these the one in place `count`, which is no
// less than that among all values, tells in which lanes to look for what.
inline std::size_t choose_candidates(float* values, const float* lengths, std::size_t width,
                                     std::size_t count, float error, std::int64_t* candidates) {
    constexpr std::size_t lanes = 64;
    float least[lanes], folded[lanes / 2];
    if (count > lanes) return 0;
    for (std::size_t j = 0; j < lanes; ++j) least[j] = std::numeric_limits<float>::infinity();
    for (std::size_t r = 0; r < width; r += block<float>) {
        float* mine = least + r % lanes;
        for (std::size_t j = 0; j < block<float>; ++j) {
            const float value = 0.5f * lengths[r + j] - values[r + j];
            values[r + j] = value;
            mine[j] = value < mine[j] ? value : mine[j];
        }
    }
    fold_least<lanes / 2>(least, folded);
    const float most = 2.0f * error + (count <= lanes / 4 ? value_in_place<lanes / 2>(folded, count)
                                                          : value_in_place<lanes>(least, count));
    if (!(most < std::numeric_limits<float>::infinity())) return 0;
    // Every number is written, and the next one over it where it is not wanted.
    std::size_t used = 0, found = 0;
    std::uint8_t used_lanes[lanes + 1];
    for (std::size_t j = 0; j < lanes; ++j) {
        used_lanes[used] = static_cast<std::uint8_t>(j);
        used += least[j] <= most;
    }
    for (std::size_t k = 0; k < used; ++k) {
        for (std::size_t r = used_lanes[k]; r < width; r += lanes) {
            candidates[found] = static_cast<std::int64_t>(r);
            found += values[r] <= most;
        }
    }
    return found;
}

// The `count` nearest of the R points P of d features. `candidates` is scratch of R + 1 numbers.
template <typename T>
void nearest(const T* X, std::size_t n, const T* P, std::size_t R, std::size_t d,
             const Pivots<float>* points, std::size_t count, std::int64_t* candidates,
             std::int64_t* numbers, double* distances) {
    if (!points) {
        for (std::size_t r = 0; r < R; ++r) candidates[r] = static_cast<std::int64_t>(r);
        for (std::size_t i = 0; i < n; ++i) {
            nearest_of(X + i * d, P, d, candidates, R, count, numbers + i * count,
                       distances + i * count);
        }
        return;
    }
    // Roundings of sums within parts, of the parts, and of the values themselves.
    const std::size_t part = part_size(d);
    const float rounding = 0x1p-24f * 2 * static_cast<float>(part + d / part + 16);
    Products<float> products(*points);
    float longest = 0.0f;
    for (std::size_t r = 0; r < R; ++r) {
        longest = products.lengths[r] > longest ? products.lengths[r] : longest;
    }
    for (std::size_t r = R; r < products.width; ++r) {
        products.lengths[r] = std::numeric_limits<float>::infinity();
    }
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t place = i % wide_rows;
        if (place == 0) {
            products.load(X + i * d, n - i < wide_rows ? n - i : wide_rows,
                          [](T x, std::size_t) { return static_cast<float>(x); });
        }
        const float reach = square_root(products.length(place)) * square_root(longest);
        std::size_t found = choose_candidates(products.of(place), products.lengths, products.width,
                                              count, rounding * (reach + longest), candidates);
        if (found < count) {
            found = R;
            for (std::size_t r = 0; r < R; ++r) candidates[r] = static_cast<std::int64_t>(r);
        }
        nearest_of(X + i * d, P, d, candidates, found, count, numbers + i * count,
                   distances + i * count);
    }
}

}  // namespace
}  // namespace sparseksc
