// Inner products of sparse rows and sparse points.
#pragma once

#include "kernels.hpp"

namespace sparseksc {
namespace {

template <typename T>
bool sparse_products(const std::int64_t* starts, const std::int64_t* features, const T* values,
                     std::size_t n, const SparsePoints<T>& points, T* out) {
    for (std::size_t i = 0; i < n; ++i) {
        T* __restrict row = out + i * points.count;
        for (std::size_t r = 0; r < points.count; ++r) row[r] = T(0);
        for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
            const auto f = static_cast<std::size_t>(features[e]);
            if (f >= points.features) return false;
            const T value = values[e];
            if (points.places[f] >= 0) {
                const auto place = static_cast<std::size_t>(points.places[f]);
                if (place >= points.dense_rows) return false;
                const T* __restrict others = points.dense + place * points.count;
                for (std::size_t r = 0; r < points.count; ++r) row[r] += value * others[r];
                continue;
            }
            for (std::int64_t k = points.starts[f]; k < points.starts[f + 1]; ++k) {
                const auto number = static_cast<std::size_t>(points.numbers[k]);
                if (number >= points.count) return false;
                row[number] += value * points.values[k];
            }
        }
    }
    return true;
}

}  // namespace
}  // namespace sparseksc
