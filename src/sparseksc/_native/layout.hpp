// The pivots as the loops want them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
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
        const double scaled = kernel == rbf    ? std::sqrt(factor)
                              : kernel == chi2 ? 0.25 * factor
                                               : factor;
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

// The rows `order` of P in the layout of kernels.hpp; padding repeats the last one. Keeps pointers
// to `scale`.
template <typename T>
class Layout {
    std::vector<T> packed_;

  public:
    Pivots<T> pivots;

    Layout(const T* P, const Numbers& order, const std::vector<T>& scale) {
        const std::size_t features = scale.size(), count = order.size();
        const std::size_t blocks = (count + block<T> - 1) / block<T>;
        packed_.resize(blocks * features * block<T>);
        for (std::size_t r = 0; r < blocks * block<T>; ++r) {
            const T* pivot = P + order[std::min(r, count - 1)] * features;
            T* target = packed_.data() + r / block<T> * features * block<T> + r % block<T>;
            for (std::size_t f = 0; f < features; ++f) target[f * block<T>] = pivot[f];
        }
        pivots = {packed_.data(), scale.data(), count, blocks, features};
    }
    Layout(Layout&&) = default;  // a moved vector keeps its data where it is
    Layout& operator=(Layout&&) = default;

    std::size_t width() const { return pivots.blocks * block<T>; }
};

}  // namespace sparseksc
