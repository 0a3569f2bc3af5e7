// The nearest of many points, for each row.
#pragma once

#include <limits>

#include "kernels.hpp"

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

// Squared distances of each row to its points, in float64, ascending; of equal ones the first.
template <typename T>
void distances_to(const T* X, std::size_t n, std::size_t d, const T* P, std::size_t count,
                  std::int64_t* numbers, double* distances) {
    for (std::size_t i = 0; i < n; ++i) {
        const T* x = X + i * d;
        std::int64_t* mine = numbers + i * count;
        double* out = distances + i * count;
        for (std::size_t k = 0; k < count; ++k) {
            const std::int64_t number = mine[k];
            const T* p = P + static_cast<std::size_t>(number) * d;
            double parts[8] = {};
            std::size_t f = 0;
            for (; f + 8 <= d; f += 8) {
                for (std::size_t j = 0; j < 8; ++j) {
                    const double difference = static_cast<double>(x[f + j]) - p[f + j];
                    parts[j] += difference * difference;
                }
            }
            for (; f < d; ++f) {
                const double difference = static_cast<double>(x[f]) - p[f];
                parts[f % 8] += difference * difference;
            }
            double sum = 0.0;
            for (const double part : parts) sum += part;
            std::size_t place = k;
            for (; place > 0 && (sum < out[place - 1] ||
                                 (sum == out[place - 1] && number < mine[place - 1]));
                 --place) {
                out[place] = out[place - 1];
                mine[place] = mine[place - 1];
            }
            out[place] = sum;
            mine[place] = number;
        }
    }
}

}  // namespace
}  // namespace sparseksc
