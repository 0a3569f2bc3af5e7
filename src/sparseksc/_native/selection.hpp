// Selection of pivots: the greedy rule, one pivot after the other.
#pragma once

#include "tiles.hpp"

namespace sparseksc {
namespace {

// Points whose new entries are computed together, so that they stay in the nearest cache.
constexpr std::size_t span = 512;

template <typename K, typename T>
std::size_t greedy(const T* X, const Pivots<T>& pivots, const double* weights, double trace,
                   double tol, double floor, std::size_t rank, std::size_t most, T* row,
                   double* __restrict residual, double* G, std::int64_t* chosen, double* path) {
    const Row<K, T> values(pivots);
    const std::size_t n = pivots.count;
    while (rank < most) {
        std::size_t p = 0;
        for (std::size_t i = 1; i < n; ++i) {
            if (residual[i] > residual[p]) p = i;
        }
        if (!(residual[p] > floor)) break;
        values(X + p * pivots.features, row);
        const double root = __builtin_sqrt(residual[p]);
        for (std::size_t start = 0; start < n; start += span) {
            const std::size_t count = n - start < span ? n - start : span;
            double sums[span];
            for (std::size_t j = 0; j < count; ++j) sums[j] = static_cast<double>(row[start + j]);
            std::size_t l = 0;
            for (; l + 4 <= rank; l += 4) {
                const double* g = G + l * n;
                const double a = g[p], b = g[n + p], c = g[2 * n + p], d = g[3 * n + p];
                g += start;
                for (std::size_t j = 0; j < count; ++j) {
                    sums[j] -= (a * g[j] + b * g[n + j]) + (c * g[2 * n + j] + d * g[3 * n + j]);
                }
            }
            for (; l < rank; ++l) {
                const double* g = G + l * n;
                const double a = g[p];
                for (std::size_t j = 0; j < count; ++j) sums[j] -= a * g[start + j];
            }
            double* __restrict target = G + rank * n + start;
            for (std::size_t j = 0; j < count; ++j) {
                const double g = sums[j] / root;
                const double rest = residual[start + j] - g * g;
                target[j] = g;
                residual[start + j] = rest > 0.0 ? rest : 0.0;
            }
        }
        residual[p] = 0.0;
        double left = 0.0;
        for (std::size_t i = 0; i < n; ++i) left += weights[i] * residual[i];
        chosen[rank] = static_cast<std::int64_t>(p);
        path[rank] = trace > 0.0 ? left / trace : 0.0;
        if (path[rank++] <= tol) break;
    }
    return rank;
}

}  // namespace
}  // namespace sparseksc
