// Selection of pivots: the greedy rule, one pivot after the other.
#pragma once

#include "tiles.hpp"

namespace sparseksc {
namespace {

// Points whose new entries are computed together, so that they stay in the nearest cache, and
// columns of the factor that are subtracted from them together.
constexpr std::size_t span = 512, batch = 64;

// A column whose entry at the pivot is smaller than this, relative to the root of the residual
// there, changes nothing but the rounding. Narrow kernels have many of them.
constexpr double negligible = 1e-18;

// Sums and maxima are taken side by side in so many places, which the compiler can do at once.
constexpr std::size_t lanes = 8;

// The first place of the largest of n values, none of which is negative.
inline std::size_t first_largest(const double* values, std::size_t n) {
    double most[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        for (std::size_t j = 0; j < lanes; ++j) {
            most[j] = values[i + j] > most[j] ? values[i + j] : most[j];
        }
    }
    for (; i < n; ++i) most[0] = values[i] > most[0] ? values[i] : most[0];
    for (double value : most) most[0] = value > most[0] ? value : most[0];
    std::size_t place = 0;
    while (place + 1 < n && values[place] != most[0]) ++place;
    return place;
}

// Takes the squares of column / root from the residuals, and returns their weighted sum.
inline double deflate(double* __restrict column, double root, const double* weights,
                      double* __restrict residual, std::size_t n) {
    double left[lanes] = {};
    const auto step = [&](std::size_t i, double& sum) {
        column[i] /= root;
        const double rest = residual[i] - column[i] * column[i];
        residual[i] = rest > 0.0 ? rest : 0.0;
        sum += weights[i] * residual[i];
    };
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        for (std::size_t j = 0; j < lanes; ++j) step(i + j, left[j]);
    }
    for (; i < n; ++i) step(i, left[0]);
    return ((left[0] + left[1]) + (left[2] + left[3])) + ((left[4] + left[5]) + (left[6] + left[7]));
}

template <typename K, typename T>
std::size_t greedy(const T* X, const Pivots<T>& pivots, const double* weights, double trace,
                   double tol, double floor, std::size_t rank, std::size_t most, T* row,
                   double* __restrict residual, double* G, std::int64_t* chosen, double* path) {
    Rows<K, T> values(X, pivots.count, pivots);
    const std::size_t n = pivots.count;
    while (rank < most) {
        const std::size_t p = first_largest(residual, n);
        if (!(residual[p] > floor)) break;
        values(p, row);
        const double root = square_root(residual[p]);
        double* __restrict target = G + rank * n;
        for (std::size_t i = 0; i < n; ++i) target[i] = static_cast<double>(row[i]);
        for (std::size_t l = 0; l < rank;) {
            const double* columns[batch];
            double factors[batch];
            std::size_t used = 0;
            for (; l < rank && used < batch; ++l) {
                const double factor = G[l * n + p];
                if (factor <= negligible * root && -factor <= negligible * root) continue;
                columns[used] = G + l * n;
                factors[used++] = factor;
            }
            for (; used % 4 != 0; ++used) columns[used] = G, factors[used] = 0.0;
            for (std::size_t start = 0; start < n; start += span) {
                const std::size_t count = n - start < span ? n - start : span;
                double* __restrict sums = target + start;
                for (std::size_t c = 0; c < used; c += 4) {
                    const double* g0 = columns[c] + start;
                    const double* g1 = columns[c + 1] + start;
                    const double* g2 = columns[c + 2] + start;
                    const double* g3 = columns[c + 3] + start;
                    const double* f = factors + c;
                    for (std::size_t j = 0; j < count; ++j) {
                        sums[j] -= (f[0] * g0[j] + f[1] * g1[j]) + (f[2] * g2[j] + f[3] * g3[j]);
                    }
                }
            }
        }
        double left = deflate(target, root, weights, residual, n);
        left -= weights[p] * residual[p];
        residual[p] = 0.0;
        chosen[rank] = static_cast<std::int64_t>(p);
        path[rank] = trace > 0.0 && left > 0.0 ? left / trace : 0.0;
        if (path[rank++] <= tol) break;
    }
    return rank;
}

}  // namespace
}  // namespace sparseksc
