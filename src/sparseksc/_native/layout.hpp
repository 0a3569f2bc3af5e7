// The pivots as the loops want them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "arrays.hpp"

namespace sparseksc {

template <typename T>
const Loops<T>& loops() {
    if constexpr (std::is_same_v<T, float>) return active->single;
    else return active->full;
}

// The factor of each feature's term. Factors are kept between the smallest and the largest normal
// number: 0 times infinity would be NaN.
template <typename T>
std::vector<T> term_factors(Kernel kernel, const double* inverse_bandwidth, std::size_t features) {
    constexpr double lowest = std::numeric_limits<T>::min();
    constexpr double highest = std::numeric_limits<T>::max();
    std::vector<T> scale(features);
    for (std::size_t f = 0; f < features; ++f) {
        const double factor = inverse_bandwidth[f];
        if (!(factor > 0.0) || std::isinf(factor)) {
            throw nb::value_error("inverse_bandwidth must be positive and finite.");
        }
        const double scaled = kernel == chi2        ? 0.25 * factor
                              : kernel == laplacian ? factor
                                                    : std::sqrt(factor);
        scale[f] = static_cast<T>(std::clamp(scaled, lowest, highest));
    }
    return scale;
}

using Numbers = std::vector<std::uint32_t>;

inline Numbers all_numbers(std::size_t count) {
    Numbers numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0u);
    return numbers;
}

// The kernel whose loops suit so many features.
inline Kernel suited(Kernel kernel, std::size_t features) {
    return kernel == rbf && features >= wide_features ? wide_rbf : kernel;
}

// The mean of the rows of P: products of differences from it cancel less.
template <typename T>
std::vector<T> mean_of(const T* P, std::size_t count, std::size_t features) {
    std::vector<double> sums(features, 0.0);
    for (std::size_t r = 0; r < count; ++r) {
        for (std::size_t f = 0; f < features; ++f) sums[f] += P[r * features + f];
    }
    std::vector<T> mean(features);
    for (std::size_t f = 0; f < features; ++f) {
        mean[f] = static_cast<T>(sums[f] / static_cast<double>(count));
    }
    return mean;
}

// The rows `order` of P in the layout of kernels.hpp; padding repeats the last one. Keeps pointers
// to `scale`.
template <typename T>
class Layout {
    using Store = std::unique_ptr<T[]>;
    Store packed_, work_;
    std::vector<T> center_;

    // Memory for `count` values, not set to anything, in which no vector of a loop lies across two
    // cache lines.
    static T* aligned(Store& store, std::size_t count) {
        constexpr std::uintptr_t line = 64;
        store.reset(new T[count + line / sizeof(T)]);
        const auto start = reinterpret_cast<std::uintptr_t>(store.get());
        return store.get() + (line - start % line) % line / sizeof(T);
    }

    // Writes the points `lanes` at a time, feature by feature, up to a multiple of block<T>.
    template <std::size_t lanes, typename Function>
    static void pack(const T* P, const Numbers& order, std::size_t features, T* target,
                     Function&& value) {
        const std::size_t count = order.size();
        const std::size_t width = (count + block<T> - 1) / block<T> * block<T>;
        for (std::size_t first = 0; first < width; first += lanes) {
            const T* rows[lanes];
            for (std::size_t j = 0; j < lanes; ++j) {
                rows[j] = P + order[std::min(first + j, count - 1)] * features;
            }
            for (std::size_t f = 0; f < features; ++f, target += lanes) {
                for (std::size_t j = 0; j < lanes; ++j) target[j] = value(rows[j][f], f);
            }
        }
    }

  public:
    Pivots<T> pivots;

    Layout(const T* P, const Numbers& order, const std::vector<T>& scale) {
        const std::size_t features = scale.size(), count = order.size();
        const std::size_t blocks = (count + block<T> - 1) / block<T>;
        T* packed = aligned(packed_, blocks * features * block<T>);
        pack<block<T>>(P, order, features, packed, [](T value, std::size_t) { return value; });
        pivots = {packed, scale.data(), count, blocks, features, nullptr, nullptr, nullptr};
    }

    // All rows of P, to which it keeps a pointer, for products of differences from a centre.
    Layout(const T* P, std::size_t count, const std::vector<T>& scale, std::vector<T> center)
        : center_(std::move(center)) {
        const std::size_t features = scale.size();
        const std::size_t blocks = (count + block<T> - 1) / block<T>;
        T* packed = aligned(packed_, blocks * features * block<T>);
        pack<panel<T>>(P, all_numbers(count), features, packed, [&](T value, std::size_t f) {
            return (value - center_[f]) * scale[f];
        });
        T* work = aligned(work_, work_values<T>(blocks, features));
        pivots = {packed, scale.data(), count, blocks, features, center_.data(), P, work};
    }

    // All rows of P for a kernel.
    static Layout of(Kernel kernel, const T* P, std::size_t count, const std::vector<T>& scale) {
        if (kernel == wide_rbf) return Layout(P, count, scale, mean_of(P, count, scale.size()));
        return Layout(P, all_numbers(count), scale);
    }
    Layout(Layout&&) = default;  // a moved vector keeps its data where it is
    Layout& operator=(Layout&&) = default;

    std::size_t width() const { return pivots.blocks * block<T>; }
};

}  // namespace sparseksc
