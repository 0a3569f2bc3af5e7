// The loops over rows, blocks of pivots and features. See kernels.hpp for the layout.
//
// Each kernel is exp(-a) with a sum `a` over features; a struct below holds the term of one
// feature. Terms are never negative, and an overflow makes them infinite, never NaN, so that the
// kernel is 0 there. Only `Rows` computes kernel values: every entry comes from the same
// instructions, wherever its row and column lie.
#pragma once

#include "exponential.hpp"
#include "kernels.hpp"
#include "registers.hpp"

namespace sparseksc {
namespace {

struct Rbf {
    // scale = sqrt(inverse bandwidth)
    template <typename T>
    static inline T term(T x, T p, T scale) {
        const T t = (x - p) * scale;
        return t * t;
    }
};

struct Laplacian {
    // scale = inverse bandwidth
    template <typename T>
    static inline T term(T x, T p, T scale) {
        const T t = x - p;
        return (t < 0 ? -t : t) * scale;
    }
};

struct Chi2 {
    // (x - p)^2 / (x + p) * scale, by half sums and a quotient of at most 2 for non-negative
    // data, so that nothing overflows early; scale = inverse bandwidth / 4
    template <typename T>
    static inline T term(T x, T p, T scale) {
        const T difference = x - p;
        const T half_sum = x * T(0.5) + p * T(0.5);
        const T quotient = half_sum == 0 ? T(0) : difference / half_sum;
        return difference * quotient * scale;
    }
};

// The terms of four consecutive features, p[0], p[block<T>], ...
template <typename K, typename T>
inline T four_terms(const T* x, const T* p, const T* scale) {
    return (K::term(x[0], p[0], scale[0]) + K::term(x[1], p[block<T>], scale[1])) +
           (K::term(x[2], p[2 * block<T>], scale[2]) + K::term(x[3], p[3 * block<T>], scale[3]));
}

// chi2 with one division for four features: the fractions are brought to a common denominator.
// Products of four sums must neither overflow nor vanish, so this serves only rows and pivots
// whose values are zero or between `lowest` and `highest`.
struct ModerateChi2 : Chi2 {
    static constexpr double lowest = 1e-60, highest = 1e60;

    static inline bool holds(const double* x, std::size_t count) {
        bool moderate = true;
        for (std::size_t f = 0; f < count; ++f) {
            moderate &= x[f] == 0.0 || (x[f] >= lowest && x[f] <= highest);
        }
        return moderate;
    }
    static inline double numerator(double x, double p, double scale) {
        return (x - p) * (x - p) * scale;
    }
    // `speck` is lost in the rounding of any sum but zero. Where both values are zero the
    // numerator is zero too, and any denominator will do.
    static inline double denominator(double x, double p) {
        constexpr double speck = 1e-76;
        return (x + speck) + p;
    }
};

template <>
inline double four_terms<ModerateChi2, double>(const double* x, const double* p,
                                               const double* scale) {
    using M = ModerateChi2;
    const double n0 = M::numerator(x[0], p[0], scale[0]);
    const double n1 = M::numerator(x[1], p[block<double>], scale[1]);
    const double n2 = M::numerator(x[2], p[2 * block<double>], scale[2]);
    const double n3 = M::numerator(x[3], p[3 * block<double>], scale[3]);
    const double d0 = M::denominator(x[0], p[0]);
    const double d1 = M::denominator(x[1], p[block<double>]);
    const double d2 = M::denominator(x[2], p[2 * block<double>]);
    const double d3 = M::denominator(x[3], p[3 * block<double>]);
    const double d01 = d0 * d1, d23 = d2 * d3;
    const double n01 = n0 * d1 + n1 * d0, n23 = n2 * d3 + n3 * d2;
    return 2.0 * ((n01 * d23 + n23 * d01) / (d01 * d23));  // scale was meant for half sums
}

// a[j] = sum over features, for one block. With D features known in advance the sum stays in
// registers; D = 0 stands for any number of them.
template <typename K, int D, typename T>
inline void exponents(const T* x, const T* p, const T* scale, std::size_t features, T* a) {
    constexpr std::size_t lanes = block<T>;
    if constexpr (D > 0) {
        constexpr int fours = D / 4 * 4;
        for (std::size_t j = 0; j < lanes; ++j) {
            T sum = 0;
            for (int f = 0; f < fours; f += 4) {
                sum += four_terms<K>(x + f, p + f * lanes + j, scale + f);
            }
            for (int f = fours; f < D; ++f) sum += K::term(x[f], p[f * lanes + j], scale[f]);
            a[j] = sum;
        }
    } else {
        for (std::size_t j = 0; j < lanes; ++j) a[j] = 0;
        std::size_t f = 0;
        for (; f + 4 <= features; f += 4, p += 4 * lanes) {
            for (std::size_t j = 0; j < lanes; ++j) {
                a[j] += four_terms<K>(x + f, p + j, scale + f);
            }
        }
        for (; f < features; ++f, p += lanes) {
            for (std::size_t j = 0; j < lanes; ++j) a[j] += K::term(x[f], p[j], scale[f]);
        }
    }
}

// The kernel values of one row, padded: out[blocks * block<T>].
template <typename K, int D, typename T>
SPARSEKSC_NOINLINE void row_values(const T* x, const Pivots<T>& pivots, T* __restrict out) {
    const T* p = pivots.packed;
    const std::size_t features = D > 0 ? D : pivots.features;
    for (std::size_t b = 0; b < pivots.blocks; ++b, p += features * block<T>, out += block<T>) {
        T a[block<T>];
        exponents<K, D>(x, p, pivots.scale, features, a);
        for (std::size_t j = 0; j < block<T>; ++j) out[j] = exp_minus(a[j]);
    }
}

template <typename T>
using RowValues = void (*)(const T*, const Pivots<T>&, T*);

// What `function` returns for the number of features as a constant, or for 0 where it is unusual.
template <typename Function>
auto for_features(std::size_t features, Function function) {
    switch (features) {
        case 1: return function(std::integral_constant<int, 1>{});
        case 2: return function(std::integral_constant<int, 2>{});
        case 3: return function(std::integral_constant<int, 3>{});
        case 4: return function(std::integral_constant<int, 4>{});
        case 5: return function(std::integral_constant<int, 5>{});
        case 6: return function(std::integral_constant<int, 6>{});
        case 8: return function(std::integral_constant<int, 8>{});
        default: return function(std::integral_constant<int, 0>{});
    }
}

template <typename K, typename T>
RowValues<T> choose(std::size_t features) {
    return for_features(features, [](auto D) -> RowValues<T> {
        return row_values<K, decltype(D)::value, T>;
    });
}

// Kernel values of rows, which are to be asked for from the first to the last. Chooses the formula
// for a row: only its own values and the pivots decide, never the rows around.
template <typename K, typename T>
class Rows {
    const T* const X_;
    const Pivots<T>& pivots_;
    const RowValues<T> usual_;
    RowValues<T> moderate_ = nullptr;

  public:
    Rows(const T* X, std::size_t /*rows*/, const Pivots<T>& pivots)
        : X_(X), pivots_(pivots), usual_(choose<K, T>(pivots.features)) {
        if constexpr (std::is_same_v<K, Chi2> && std::is_same_v<T, double>) {
            const std::size_t values = pivots.blocks * pivots.features * block<T>;
            if (pivots.features >= 4 && ModerateChi2::holds(pivots.packed, values)) {
                moderate_ = choose<ModerateChi2, T>(pivots.features);
            }
        }
    }
    void operator()(std::size_t i, T* out) const {
        const T* x = X_ + i * pivots_.features;
        if constexpr (std::is_same_v<K, Chi2> && std::is_same_v<T, double>) {
            if (moderate_ && ModerateChi2::holds(x, pivots_.features)) {
                moderate_(x, pivots_, out);
                return;
            }
        }
        usual_(x, pivots_, out);
    }
};

template <typename K, typename T>
void tile(const T* X, std::size_t rows, const Pivots<T>& pivots, T* row, T* out) {
    Rows<K, T> values(X, rows, pivots);
    const std::size_t width = pivots.blocks * block<T>, end = rows * pivots.count;
    for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t start = i * pivots.count;
        // The padding of a row falls on the next rows, which are written afterwards. Only where
        // it would leave the array is the row written elsewhere first.
        if (start + width <= end) {
            values(i, out + start);
        } else {
            values(i, row);
            for (std::size_t r = 0; r < pivots.count; ++r) out[start + r] = row[r];
        }
    }
}

template <typename K, typename T>
void scores(const T* X, std::size_t rows, const Pivots<T>& pivots, const double* coef,
            const double* bias, std::size_t outputs, T* row, T* out) {
    Rows<K, T> values(X, rows, pivots);
    const std::size_t width = pivots.blocks * block<T>;
    for (std::size_t i = 0; i < rows; ++i) {
        values(i, row);
        for (std::size_t k = 0; k < outputs; ++k) {
            const double* c = coef + k * width;
            double lanes[block<T>] = {};
            for (std::size_t r = 0; r < width; r += block<T>) {
                for (std::size_t j = 0; j < block<T>; ++j) {
                    lanes[j] += static_cast<double>(row[r + j]) * c[r + j];
                }
            }
            out[i * outputs + k] = static_cast<T>(folded<block<T> / 2>(lanes) + bias[k]);
        }
    }
}

template <typename K, typename T>
void column_sums(const T* X, std::size_t rows, const Pivots<T>& pivots, const double* weights,
                 T* row, double* __restrict sums) {
    Rows<K, T> values(X, rows, pivots);
    const std::size_t width = pivots.blocks * block<T>;
    for (std::size_t i = 0; i < rows; ++i) {
        values(i, row);
        const double weight = weights[i];
        for (std::size_t r = 0; r < width; r += block<T>) {
            for (std::size_t j = 0; j < block<T>; ++j) {
                sums[r + j] += weight * static_cast<double>(row[r + j]);
            }
        }
    }
}

// Rows and registers of columns of the moment whose sums are held in registers.
#if defined(SPARSEKSC_SCALAR)
constexpr std::size_t tile_rows = 3;
#elif defined(__AVX512F__)
constexpr std::size_t tile_rows = 8;
#elif defined(__AVX__)
constexpr std::size_t tile_rows = 4;
#elif defined(__aarch64__)
constexpr std::size_t tile_rows = 6;
#else
constexpr std::size_t tile_rows = 3;
#endif
constexpr std::size_t tile_vectors = 3;
constexpr std::size_t tile_columns = tile_vectors * Register<double>::lanes;
static_assert(tile_rows <= row_margin && tile_columns <= column_margin);
static_assert(tile_columns % tile_rows == 0);

// The panel holds rows in blocks of tile_columns columns, one block after the other, so that
// tiles read it from front to back.
constexpr std::size_t panel_block = panel_rows * tile_columns;

// Adds the products of the panel's columns, in tiles on and above the diagonal.
inline void add_panel(const double* panel, std::size_t rows, std::size_t count, double* moment,
                      std::size_t stride) {
    for (std::size_t j = 0; j < count; j += tile_columns) {
        const double* right = panel + j / tile_columns * panel_block;
        for (std::size_t i = 0; i < j + tile_columns && i < count; i += tile_rows) {
            const double* left = panel + i / tile_columns * panel_block + i % tile_columns;
            add_products<double, tile_rows, tile_vectors>(left, tile_columns, right, tile_columns,
                                                          Register<double>::lanes, rows,
                                                          moment + i * stride + j, stride);
        }
    }
}

template <typename K, typename T>
void moments(const T* X, std::size_t rows, const Pivots<T>& pivots, const double* weights,
             const double* q, double floor, T* row, double* panel, double* moment,
             std::size_t stride, double* __restrict mean, double* totals) {
    Rows<K, T> values(X, rows, pivots);
    const std::size_t width = pivots.blocks * block<T>;
    std::size_t used = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        if (!(weights[i] > 0.0)) continue;
        values(i, row);
        double lanes[block<T>] = {};
        for (std::size_t r = 0; r < width; r += block<T>) {
            for (std::size_t j = 0; j < block<T>; ++j) {
                lanes[j] += static_cast<double>(row[r + j]) * q[r + j];
            }
        }
        const double degree = folded<block<T> / 2>(lanes);
        if (!(degree > floor)) {
            totals[1] += 1.0;
            totals[2] += weights[i];
            continue;
        }
        const double share = weights[i] / degree, root = square_root(share);
        totals[0] += share;
        double* __restrict target = panel + used * tile_columns;
        for (std::size_t r = 0; r < pivots.count; r += tile_columns, target += panel_block) {
            for (std::size_t j = 0; j < tile_columns; ++j) {
                const double value = static_cast<double>(row[r + j]);
                mean[r + j] += share * value;
                target[j] = root * value;
            }
        }
        if (++used == panel_rows) {
            add_panel(panel, used, pivots.count, moment, stride);
            used = 0;
        }
    }
    if (used > 0) add_panel(panel, used, pivots.count, moment, stride);
}

template <typename T>
void exponential(const T* values, std::size_t count, T* __restrict out) {
    for (std::size_t r = 0; r < count; r += block<T>) {
        for (std::size_t j = 0; j < block<T>; ++j) out[r + j] = exp_minus(values[r + j]);
    }
}

}  // namespace
}  // namespace sparseksc
