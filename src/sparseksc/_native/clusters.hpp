// Loops over score vectors and clusters. The numbers of both are small, those of the rows are not.
#pragma once

#include "kernels.hpp"

namespace sparseksc {
namespace {

constexpr std::size_t cluster_lanes = 8;

inline std::size_t padded(std::size_t K) {
    return (K + cluster_lanes - 1) / cluster_lanes * cluster_lanes;
}

inline void refine(const double* rows, std::size_t n, std::size_t m, const double* weights,
                   std::size_t K, std::size_t rounds, double* prototypes, std::int64_t* labels,
                   double* scratch) {
    const std::size_t width = padded(K);
    double* mass = scratch;
    double* sums = mass + K;
    double* across = sums + K * m;  // the prototypes, one column each; the padding is zero
    for (std::size_t i = 0; i < n; ++i) labels[i] = -1;
    for (std::size_t round = 0; round < rounds; ++round) {
        for (std::size_t f = 0; f < m; ++f) {
            for (std::size_t k = 0; k < width; ++k) {
                across[f * width + k] = k < K ? prototypes[k * m + f] : 0.0;
            }
        }
        for (std::size_t s = 0; s < K * (m + 1); ++s) scratch[s] = 0.0;
        bool changed = false;
        for (std::size_t i = 0; i < n; ++i) {
            const double* row = rows + i * m;
            std::size_t best = 0;
            double most = 0.0;
            for (std::size_t k0 = 0; k0 < K; k0 += cluster_lanes) {
                double cosine[cluster_lanes] = {};
                for (std::size_t f = 0; f < m; ++f) {
                    const double* column = across + f * width + k0;
                    for (std::size_t j = 0; j < cluster_lanes; ++j) cosine[j] += row[f] * column[j];
                }
                for (std::size_t j = 0; j < cluster_lanes && k0 + j < K; ++j) {
                    if (cosine[j] > most || k0 + j == 0) {
                        most = cosine[j];
                        best = k0 + j;
                    }
                }
            }
            changed |= labels[i] != static_cast<std::int64_t>(best);
            labels[i] = static_cast<std::int64_t>(best);
            mass[best] += weights[i];
            double* __restrict sum = sums + best * m;
            for (std::size_t f = 0; f < m; ++f) sum[f] += weights[i] * row[f];
        }
        if (!changed) break;
        for (std::size_t k = 0; k < K; ++k) {
            if (!(mass[k] > 0.0)) continue;
            double length = 0.0;
            for (std::size_t f = 0; f < m; ++f) {
                const double mean = sums[k * m + f] / mass[k];
                prototypes[k * m + f] = mean;
                length += mean * mean;
            }
            length = length > 0.0 ? __builtin_sqrt(length) : 1.0;
            for (std::size_t f = 0; f < m; ++f) prototypes[k * m + f] /= length;
        }
    }
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
        const double root = __builtin_sqrt(longest);
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
        double closeness = 0.0, second = __builtin_inf();
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
