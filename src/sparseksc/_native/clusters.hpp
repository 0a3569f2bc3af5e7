// Loops over score vectors and clusters. The numbers of both are small, those of the rows are not.
#pragma once

#include <limits>

#include "kernels.hpp"
#include "portable.hpp"

namespace sparseksc {
namespace {

// Finds the prototype with the largest inner product for each row, the first of equals; across[f]
// are the entries f of the rows, `stride` apart. Says whether a label changed.
inline bool nearest(const double* across, std::size_t stride, std::size_t n, std::size_t m,
                    const double* prototypes, std::size_t K, std::int64_t* labels) {
    bool changed = false;
    for (std::size_t start = 0; start < n; start += row_lanes) {
        double most[row_lanes];
        std::int64_t best[row_lanes] = {};
        for (double& value : most) value = -std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < K; ++k) {
            double product[row_lanes] = {};
            for (std::size_t f = 0; f < m; ++f) {
                const double* entries = across + f * stride + start;
                const double factor = prototypes[k * m + f];
                for (std::size_t j = 0; j < row_lanes; ++j) product[j] += entries[j] * factor;
            }
            for (std::size_t j = 0; j < row_lanes; ++j) {
                const bool more = product[j] > most[j];
                most[j] = more ? product[j] : most[j];
                best[j] = more ? static_cast<std::int64_t>(k) : best[j];
            }
        }
        for (std::size_t j = 0; j < row_lanes && start + j < n; ++j) {
            changed |= labels[start + j] != best[j];
            labels[start + j] = best[j];
        }
    }
    return changed;
}

inline bool refine(const double* rows, std::size_t n, std::size_t m, const double* weights,
                   std::size_t K, std::size_t rounds, double* prototypes, std::int64_t* labels,
                   double* scratch, std::size_t stride) {
    double* mass = scratch;
    double* sums = mass + K;
    double* across = sums + K * m;
    for (std::size_t f = 0; f < m; ++f) {
        for (std::size_t i = 0; i < stride; ++i) {
            across[f * stride + i] = i < n ? rows[i * m + f] : 0.0;
        }
    }
    for (std::size_t round = 0; round < rounds; ++round) {
        if (!nearest(across, stride, n, m, prototypes, K, labels)) return false;
        for (std::size_t s = 0; s < K * (m + 1); ++s) scratch[s] = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            const double* row = rows + i * m;
            mass[labels[i]] += weights[i];
            double* __restrict sum = sums + labels[i] * m;
            for (std::size_t f = 0; f < m; ++f) sum[f] += weights[i] * row[f];
        }
        for (std::size_t k = 0; k < K; ++k) {
            if (!(mass[k] > 0.0)) continue;
            double length = 0.0;
            for (std::size_t f = 0; f < m; ++f) {
                const double mean = sums[k * m + f] / mass[k];
                prototypes[k * m + f] = mean;
                length += mean * mean;
            }
            length = length > 0.0 ? square_root(length) : 1.0;
            for (std::size_t f = 0; f < m; ++f) prototypes[k * m + f] /= length;
        }
    }
    return true;
}

inline std::size_t spread(double* rows, std::size_t n, std::size_t m, std::size_t K,
                          std::int64_t* chosen, double* scratch) {
    double* axis = scratch;
    for (std::size_t f = 0; f < m; ++f) axis[f] = 0.0;
    for (std::size_t k = 0; k < K; ++k) {
        std::size_t best = 0;
        double longest = -1.0;
        for (std::size_t i = 0; i < n; ++i) {
            double* __restrict row = rows + i * m;
            double along = 0.0, length = 0.0;
            for (std::size_t f = 0; f < m; ++f) along += row[f] * axis[f];
            for (std::size_t f = 0; f < m; ++f) {
                row[f] -= along * axis[f];
                length += row[f] * row[f];
            }
            if (length > longest) {
                longest = length;
                best = i;
            }
        }
        if (!(longest > 0.0)) return k;
        chosen[k] = static_cast<std::int64_t>(best);
        const double root = square_root(longest);
        for (std::size_t f = 0; f < m; ++f) axis[f] = rows[best * m + f] / root;
    }
    return K;
}

inline void assign(const double* distances, std::size_t n, std::size_t K, std::int64_t* labels,
                   double* membership, double* angular) {
    for (std::size_t i = 0; i < n; ++i) {
        const double* row = distances + i * K;
        std::size_t best = 0;
        for (std::size_t k = 1; k < K; ++k) best = row[k] < row[best] ? k : best;
        const double nearest = row[best];
        double closeness = 0.0, second = std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < K; ++k) {
            const double distance = row[k] > 1e-300 ? row[k] : 1e-300;
            closeness += row[k] == nearest ? 1.0 : nearest / distance;
            second = k != best && row[k] < second ? row[k] : second;
        }
        labels[i] = static_cast<std::int64_t>(best);
        membership[i] = 1.0 / closeness;
        angular[i] = second > 0.0 ? 1.0 - nearest / second : 0.0;
    }
}

inline void scatter(const double* rows, std::size_t n, std::size_t m, const std::int64_t* labels,
                    const double* weights, std::size_t K, double* means, double* mass,
                    double* scatter) {
    for (std::size_t s = 0; s < K; ++s) mass[s] = 0.0;
    for (std::size_t s = 0; s < K * m; ++s) means[s] = 0.0;
    for (std::size_t s = 0; s < K * m * m; ++s) scatter[s] = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        double* __restrict mean = means + labels[i] * m;
        mass[labels[i]] += weights[i];
        for (std::size_t f = 0; f < m; ++f) mean[f] += weights[i] * rows[i * m + f];
    }
    for (std::size_t k = 0; k < K; ++k) {
        for (std::size_t f = 0; f < m; ++f) means[k * m + f] /= mass[k] > 0.0 ? mass[k] : 1.0;
    }
    for (std::size_t i = 0; i < n; ++i) {
        const double* row = rows + i * m;
        const double* mean = means + labels[i] * m;
        double* matrix = scatter + labels[i] * m * m;
        for (std::size_t a = 0; a < m; ++a) {
            const double left = weights[i] * (row[a] - mean[a]);
            double* __restrict target = matrix + a * m;
            for (std::size_t b = 0; b <= a; ++b) target[b] += left * (row[b] - mean[b]);
        }
    }
    for (std::size_t k = 0; k < K; ++k) {
        double* matrix = scatter + k * m * m;
        for (std::size_t a = 0; a < m; ++a) {
            for (std::size_t b = a + 1; b < m; ++b) matrix[a * m + b] = matrix[b * m + a];
        }
    }
}

}  // namespace
}  // namespace sparseksc
