// Conductance of clusters in the graph of landmarks, and of the best cut through each of them.
//
// Every cut has the resolution added to it, so that a few similarities more or less decide nothing.
// A row has shares z of its landmarks, which sum to one; two landmarks are connected by the sum of
// the products of their shares over the rows of a cluster.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "arrays.hpp"

namespace sparseksc {

namespace {

using Int64 = std::int64_t;

// Steps of Lanczos' algorithm: a mode that needs more is of a long shape, and any of its slow
// modes shows where it is cut.
constexpr std::size_t most_steps = 60;

// The rows of one cluster, with its landmarks numbered from 0.
struct Members {
    std::size_t shares_per_row;
    std::vector<std::uint32_t> landmarks;  // of each share
    std::vector<double> shares;
    std::vector<double> weights;  // of each row
    std::vector<double> volumes;  // of each landmark

    std::size_t rows() const { return weights.size(); }
    std::size_t size() const { return volumes.size(); }
};

// A number between -1/2 and 1/2 for each place, always the same.
double scattered(std::uint64_t place) {
    std::uint64_t bits = (place + 1) * 0x9E3779B97F4A7C15ull;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ull;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBull;
    return static_cast<double>((bits ^ (bits >> 31)) >> 11) * 0x1.0p-53 - 0.5;
}

// Several sums at once, which the compiler keeps in vectors.
double product(const std::vector<double>& x, const std::vector<double>& y) {
    constexpr std::size_t lanes = 16;
    double sums[lanes] = {};
    const std::size_t whole = x.size() / lanes * lanes;
    for (std::size_t r = 0; r < whole; r += lanes) {
        for (std::size_t j = 0; j < lanes; ++j) sums[j] += x[r + j] * y[r + j];
    }
    double rest = std::inner_product(x.begin() + whole, x.end(), y.begin() + whole, 0.0);
    for (std::size_t width = lanes / 2; width > 0; width /= 2) {
        for (std::size_t j = 0; j < width; ++j) sums[j] += sums[j + width];
    }
    return sums[0] + rest;
}

void subtract(std::vector<double>& x, double factor, const std::vector<double>& y) {
    for (std::size_t r = 0; r < x.size(); ++r) x[r] -= factor * y[r];
}

// The eigenvector of the largest eigenvalue of a symmetric tridiagonal matrix with eigenvalues
// between 0 and 1: bisection on the signs of the pivots, then inverse iteration just above it.
std::vector<double> leading_vector(const std::vector<double>& diagonal,
                                   const std::vector<double>& beside) {
    const std::size_t m = diagonal.size();
    std::vector<double> pivots(m);
    const auto is_above_all = [&](double shift) {
        for (std::size_t i = 0; i < m; ++i) {
            pivots[i] = diagonal[i] - shift;
            if (i > 0) pivots[i] -= beside[i - 1] * beside[i - 1] / pivots[i - 1];
            if (!(pivots[i] < 0.0)) return false;
        }
        return true;
    };
    double low = -1.0, high = 2.0;
    while (high - low > 1e-12) {
        const double middle = 0.5 * (low + high);
        (is_above_all(middle) ? high : low) = middle;
    }
    is_above_all(high);
    std::vector<double> vector(m, 1.0);
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 1; i < m; ++i) {
            vector[i] -= beside[i - 1] / pivots[i - 1] * vector[i - 1];
        }
        vector[m - 1] /= pivots[m - 1];
        for (std::size_t i = m - 1; i-- > 0;) {
            vector[i] = (vector[i] - beside[i] * vector[i + 1]) / pivots[i];
        }
        const double length = std::sqrt(product(vector, vector));
        for (double& entry : vector) entry /= length;
    }
    return vector;
}

// How many rows lie between each landmark and one end of the cluster: the slowest mode of a long
// shape goes up with it. The end is the landmark that is farthest from the first one.
std::vector<double> steps_from_an_end(const Members& cluster) {
    const std::size_t R = cluster.size(), s = cluster.shares_per_row;
    std::vector<std::size_t> start(R + 1), rows(cluster.landmarks.size());
    for (const std::uint32_t r : cluster.landmarks) ++start[r + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    std::vector<std::size_t> next(start.begin(), start.end() - 1);
    for (std::size_t k = 0; k < rows.size(); ++k) rows[next[cluster.landmarks[k]]++] = k / s;
    std::vector<double> steps(R);
    std::vector<std::uint32_t> queue;
    for (int walk = 0; walk < 2; ++walk) {
        // The first of the farthest, which does not depend on the order of the rows.
        const auto end = std::max_element(steps.begin(), steps.end()) - steps.begin();
        std::vector<char> seen(R), passed(cluster.rows());
        queue.assign(1, static_cast<std::uint32_t>(end));
        seen[queue.front()] = 1;
        steps[queue.front()] = 0.0;
        for (std::size_t first = 0; first < queue.size(); ++first) {
            const std::uint32_t here = queue[first];
            for (std::size_t k = start[here]; k < start[here + 1]; ++k) {
                if (passed[rows[k]]) continue;
                passed[rows[k]] = 1;
                for (std::size_t j = rows[k] * s; j < (rows[k] + 1) * s; ++j) {
                    const std::uint32_t there = cluster.landmarks[j];
                    if (seen[there]) continue;
                    seen[there] = 1;
                    steps[there] = steps[here] + 1.0;
                    queue.push_back(there);
                }
            }
        }
    }
    return steps;
}

// The slowest mode of the random walk between the landmarks, by Lanczos' algorithm; the constant
// one is projected out.
std::vector<double> slowest_mode(const Members& cluster) {
    const std::size_t R = cluster.size(), s = cluster.shares_per_row;
    std::vector<double> roots(R), trivial(R);
    const double total = std::accumulate(cluster.volumes.begin(), cluster.volumes.end(), 0.0);
    for (std::size_t r = 0; r < R; ++r) {
        roots[r] = cluster.volumes[r] > 0.0 ? std::sqrt(cluster.volumes[r]) : 1.0;
        trivial[r] = roots[r] / std::sqrt(total);
    }
    std::vector<double> scaled(R), next(R), diagonal, beside, weights;
    const auto multiply = [&](const std::vector<double>& x) {
        for (std::size_t r = 0; r < R; ++r) scaled[r] = x[r] / roots[r];
        std::fill(next.begin(), next.end(), 0.0);
        for (std::size_t i = 0; i < cluster.rows(); ++i) {
            const std::uint32_t* at = cluster.landmarks.data() + i * s;
            const double* z = cluster.shares.data() + i * s;
            double mean = 0.0;
            for (std::size_t j = 0; j < s; ++j) mean += z[j] * scaled[at[j]];
            mean *= cluster.weights[i];
            for (std::size_t j = 0; j < s; ++j) next[at[j]] += z[j] * mean;
        }
        for (std::size_t r = 0; r < R; ++r) next[r] /= roots[r];
    };
    std::vector<std::vector<double>> basis(1, std::vector<double>(R));
    const std::vector<double> along = steps_from_an_end(cluster);
    for (std::size_t r = 0; r < R; ++r) basis[0][r] = roots[r] * (along[r] + scattered(r));
    subtract(basis[0], product(basis[0], trivial), trivial);
    double length = std::sqrt(product(basis[0], basis[0]));
    for (double& entry : basis[0]) entry /= length;
    const std::size_t steps = std::min(most_steps, R - 1);
    for (std::size_t step = 1;; ++step) {
        multiply(basis.back());
        diagonal.push_back(product(next, basis.back()));
        // Three terms: the basis stays orthogonal until a mode has converged, which ends it (Paige,
        // 1980). The trivial mode has converged from the start.
        subtract(next, diagonal.back(), basis.back());
        if (step > 1) subtract(next, beside.back(), basis[step - 2]);
        subtract(next, product(next, trivial), trivial);
        length = std::sqrt(product(next, next));
        const bool last = step >= steps || length < 1e-10;
        if (last || step % 10 == 0) {
            weights = leading_vector(diagonal, beside);
            if (last || length * std::abs(weights.back()) < 1e-4) break;
        }
        beside.push_back(length);
        for (double& entry : next) entry /= length;
        basis.push_back(next);
    }
    std::vector<double> mode(R);
    for (std::size_t step = 0; step < basis.size(); ++step) {
        subtract(mode, -weights[step], basis[step]);
    }
    for (std::size_t r = 0; r < R; ++r) {
        mode[r] /= roots[r];
        if (std::isnan(mode[r])) mode[r] = 0.0;  // shares that are no numbers have no order
    }
    return mode;
}

// The least conductance of a cut between the first landmarks in an order and the rest.
double sweep(const Members& cluster, const std::vector<double>& mode, double resolution) {
    const std::size_t R = cluster.size(), s = cluster.shares_per_row;
    std::vector<std::uint32_t> order(R), place(R);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return mode[a] < mode[b]; });
    for (std::size_t r = 0; r < R; ++r) place[order[r]] = static_cast<std::uint32_t>(r);
    // A row whose first landmarks have the share c of it adds c (1 - c) to the cut after them.
    std::vector<double> steps(R);
    std::vector<std::pair<std::uint32_t, double>> found(s);
    for (std::size_t i = 0; i < cluster.rows(); ++i) {
        for (std::size_t j = 0; j < s; ++j) {
            found[j] = {place[cluster.landmarks[i * s + j]], cluster.shares[i * s + j]};
        }
        std::sort(found.begin(), found.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        double before = 0.0, crossing = 0.0;
        for (const auto& [at, share] : found) {
            before += share;
            const double now = before * (1.0 - before);
            steps[at] += cluster.weights[i] * (now - crossing);
            crossing = now;
        }
    }
    const double total = std::accumulate(cluster.volumes.begin(), cluster.volumes.end(), 0.0);
    double least = 1.0, cut = 0.0, volume = 0.0;
    for (std::size_t r = 0; r + 1 < R; ++r) {
        cut += steps[r];
        volume += cluster.volumes[order[r]];
        const double side = std::min(volume, total - volume);
        least = std::min(least, (std::max(cut, 0.0) + resolution) / side);
    }
    return least;
}

// The part of each landmark, where landmarks of one row are in one part; numbered from 0.
std::vector<std::uint32_t> connected_parts(const Members& cluster) {
    const std::size_t R = cluster.size(), s = cluster.shares_per_row;
    std::vector<std::uint32_t> root(R);
    std::iota(root.begin(), root.end(), 0u);
    const auto find = [&](std::uint32_t r) {
        while (root[r] != r) r = root[r] = root[root[r]];
        return r;
    };
    for (std::size_t i = 0; i < cluster.rows(); ++i) {
        const std::uint32_t* at = cluster.landmarks.data() + i * s;
        for (std::size_t j = 1; j < s; ++j) {
            const std::uint32_t a = find(at[0]), b = find(at[j]);
            root[std::max(a, b)] = std::min(a, b);
        }
    }
    std::vector<std::uint32_t> part(R);
    std::uint32_t count = 0;
    for (std::size_t r = 0; r < R; ++r) {  // the root of a part is its first landmark
        part[r] = root[r] == r ? count++ : part[find(static_cast<std::uint32_t>(r))];
    }
    return part;
}

// The rows and landmarks of one part of a cluster.
Members rows_of_part(const Members& cluster, const std::vector<std::uint32_t>& part,
                     std::uint32_t chosen) {
    const std::size_t s = cluster.shares_per_row;
    Members found{s, {}, {}, {}, {}};
    std::vector<std::uint32_t> local(cluster.size());
    for (std::size_t r = 0; r < cluster.size(); ++r) {
        local[r] = static_cast<std::uint32_t>(found.size());
        if (part[r] == chosen) found.volumes.push_back(cluster.volumes[r]);
    }
    for (std::size_t i = 0; i < cluster.rows(); ++i) {
        if (part[cluster.landmarks[i * s]] != chosen) continue;
        found.weights.push_back(cluster.weights[i]);
        for (std::size_t j = i * s; j < (i + 1) * s; ++j) {
            found.landmarks.push_back(local[cluster.landmarks[j]]);
            found.shares.push_back(cluster.shares[j]);
        }
    }
    return found;
}

// The least conductance of a cut through a cluster. One in parts falls apart for nothing: the
// largest part from the rest, which is at most half; otherwise the largest part is divided.
double least_conductance(const Members& cluster, double resolution) {
    const std::vector<std::uint32_t> part = connected_parts(cluster);
    std::vector<double> volumes(cluster.size());
    for (std::size_t r = 0; r < cluster.size(); ++r) volumes[part[r]] += cluster.volumes[r];
    const auto largest = std::max_element(volumes.begin(), volumes.end());
    const double total = std::accumulate(volumes.begin(), volumes.end(), 0.0);
    const double rest = std::min(total - *largest, 0.5 * total);
    const bool whole = *std::max_element(part.begin(), part.end()) == 0;
    const double apart = whole || !(rest > 0.0) ? 1.0 : std::min(1.0, resolution / rest);
    const auto chosen = static_cast<std::uint32_t>(largest - volumes.begin());
    const Members core = whole ? cluster : rows_of_part(cluster, part, chosen);
    if (core.size() < 2) return apart;
    return std::min(apart, sweep(core, slowest_mode(core), resolution));
}

void conductances_into(const Input& numbers, const Input& shares, const Input& weights,
                       const Input& volumes, const Input& labels, double resolution,
                       const Output& inside, const Output& outside, const Output& sizes) {
    const Int64* at = data<Int64>(numbers, "numbers", {any, any});
    const std::size_t n = numbers.shape(0), s = numbers.shape(1);
    const double* z = data<double>(shares, "shares", {n, s});
    const double* w = data<double>(weights, "weights", {n});
    const double* lam = data<double>(volumes, "volumes", {any});
    const Int64 R = static_cast<Int64>(volumes.shape(0));
    const Int64* cluster = data<Int64>(labels, "labels", {n});
    double* phi_in = data<double>(inside, "inside", {any});
    const std::size_t K = inside.shape(0);
    double* phi_out = data<double>(outside, "outside", {K});
    double* mass = data<double>(sizes, "sizes", {K});
    keep_apart({{"inside", inside}, {"outside", outside}, {"sizes", sizes}},
               {{"numbers", numbers}, {"shares", shares}, {"weights", weights},
                {"volumes", volumes}, {"labels", labels}});
    for (std::size_t i = 0; i < n * s; ++i) {
        if (at[i] < 0 || at[i] >= R) throw nb::value_error("a number is out of range.");
    }
    for (std::size_t i = 0; i < n; ++i) {
        if (cluster[i] < 0 || cluster[i] >= static_cast<Int64>(K)) {
            throw nb::value_error("a label is out of range.");
        }
    }
    nb::gil_scoped_release release;
    std::vector<std::vector<std::size_t>> rows(K);
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        if (w[i] > 0.0) rows[cluster[i]].push_back(i);
        total += std::max(w[i], 0.0);
    }
    constexpr std::uint32_t absent = 0xFFFFFFFFu;
    std::vector<std::uint32_t> local(R, absent);
    for (std::size_t k = 0; k < K; ++k) {
        Members members{s, {}, {}, {}, {}};
        std::vector<Int64> present;
        for (const std::size_t i : rows[k]) {
            for (std::size_t j = 0; j < s; ++j) {
                if (local[at[i * s + j]] != absent) continue;
                local[at[i * s + j]] = 0;
                present.push_back(at[i * s + j]);
            }
        }
        std::sort(present.begin(), present.end());  // in an order that is not that of the rows
        for (std::size_t r = 0; r < present.size(); ++r) {
            local[present[r]] = static_cast<std::uint32_t>(r);
        }
        members.volumes.resize(present.size());
        for (const std::size_t i : rows[k]) {
            members.weights.push_back(w[i]);
            for (std::size_t j = 0; j < s; ++j) {
                members.landmarks.push_back(local[at[i * s + j]]);
                members.shares.push_back(z[i * s + j]);
                members.volumes[members.landmarks.back()] += w[i] * z[i * s + j];
            }
        }
        mass[k] = std::accumulate(members.weights.begin(), members.weights.end(), 0.0);
        double kept = 0.0;
        for (std::size_t r = 0; r < present.size(); ++r) {
            kept += members.volumes[r] * members.volumes[r] / lam[present[r]];
            local[present[r]] = absent;
        }
        const double smaller = std::min(mass[k], total - mass[k]);
        const double leaving = std::max(mass[k] - kept, 0.0) + resolution;
        phi_out[k] = smaller > 0.0 ? leaving / smaller : 0.0;
        phi_in[k] = present.size() > 1 ? least_conductance(members, resolution) : 1.0;
    }
}

}  // namespace

void bind_conductance(nb::module_& module) {
    module.def("conductances_into", &conductances_into, nb::arg("numbers").noconvert(),
               nb::arg("shares").noconvert(), nb::arg("weights").noconvert(),
               nb::arg("volumes").noconvert(), nb::arg("labels").noconvert(),
               nb::arg("resolution"), nb::arg("inside").noconvert(), nb::arg("outside").noconvert(),
               nb::arg("sizes").noconvert());
}

}  // namespace sparseksc
