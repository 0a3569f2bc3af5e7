// The rbf kernel in many dimensions, by inner products:
//
//   |x - p|^2 = |x|^2 + |p|^2 - 2 x . p,   x and p from the mean of the pivots, in units of the
//                                          bandwidth
//
// Products are taken of many rows and pivots at once, which read neither of them again from
// memory. Where the difference is much smaller than what it is the difference of, it is computed
// feature by feature instead. The value of an entry depends on nothing but its row and the pivots;
// it is symmetric in x and p, and exactly 1 where they are equal.
#pragma once

#include "tiles.hpp"

namespace sparseksc {
namespace {

// Rows and registers of columns whose sums of products are held in registers.
#if defined(__AVX512F__)
constexpr std::size_t product_rows = 12, product_vectors = 2;
#elif defined(__aarch64__)
constexpr std::size_t product_rows = 6, product_vectors = 4;
#else
constexpr std::size_t product_rows = 6, product_vectors = 2;
#endif
static_assert(wide_rows % product_rows == 0);

// Products of this many features are summed before they are added to the others: these parts of
// rows and pivots stay in the nearest cache, and sums of sums are more accurate. The sums of this
// many blocks of pivots stay in the next one.
constexpr std::size_t wide_step = 128, wide_blocks = 8;

// Features in parts of nearly equal size.
inline std::size_t part_size(std::size_t features) {
    const std::size_t parts = (features + wide_step - 1) / wide_step;
    return (features + parts - 1) / parts;
}

// The squared lengths of `lanes` points side by side, in the order of `add_products`: then the
// difference of equal points is exactly zero.
template <std::size_t lanes, typename T>
__attribute__((noinline)) void squared_lengths(const T* points, std::size_t features, T* out) {
    T total[lanes] = {};
    const std::size_t step = part_size(features);
    for (std::size_t start = 0; start < features; start += step) {
        const std::size_t stop = start + step < features ? start + step : features;
        T sum[lanes] = {};
        for (std::size_t f = start; f < stop; ++f) {
            const T* values = points + f * lanes;
            for (std::size_t j = 0; j < lanes; ++j) sum[j] += values[j] * values[j];
        }
        for (std::size_t j = 0; j < lanes; ++j) total[j] += sum[j];
    }
    for (std::size_t j = 0; j < lanes; ++j) out[j] = total[j];
}

// The exponent from the differences of two points.
template <typename T>
__attribute__((noinline)) T exponent_of_differences(const T* x, const T* p, const T* scale,
                                                    std::size_t features) {
    constexpr std::size_t lanes = block<T> / 2;
    T sums[lanes] = {};
    std::size_t f = 0;
    for (; f + lanes <= features; f += lanes) {
        for (std::size_t j = 0; j < lanes; ++j) {
            const T t = (x[f + j] - p[f + j]) * scale[f + j];
            sums[j] += t * t;
        }
    }
    for (std::size_t j = 0; f < features; ++f, ++j) {
        const T t = (x[f] - p[f]) * scale[f];
        sums[j] += t * t;
    }
    for (std::size_t half = lanes / 2; half > 0; half /= 2) {
        for (std::size_t j = 0; j < half; ++j) sums[j] += sums[half + j];
    }
    return sums[0];
}

// Where an exponent that is the difference of `sum` and twice a product is accurate. The error is
// some roundings of `sum`: as good as none where that is small, that of differences where the
// exponent is not much smaller, and without effect where the kernel is 0 anyway.
template <typename T>
struct Accuracy {
    static constexpr bool full = sizeof(T) == sizeof(double);
    static constexpr T small = full ? T(1024) : T(4), share = T(0.125);
    static constexpr T vanishing = full ? T(1500) : T(180), large = full ? T(1e15) : T(1e7);

    // For numbers and for registers of them; no comparison is true of NaN.
    template <typename V>
    static inline auto holds(V exponent, V sum) {
        return (sum <= small) | (exponent >= share * sum) |
               ((exponent >= vanishing) & (sum <= large));
    }
};

struct WideRbf;

template <typename T>
class Rows<WideRbf, T> {
    const T* const X_;
    const std::size_t rows_;
    const Pivots<T>& pivots_;
    const std::size_t width_;
    T* const lengths_;   // of the pivots, [width]
    T* const own_;       // of some rows, [wide_rows]
    T* const products_;  // [wide_rows, width]
    T* const packed_;    // the rows, [wide_rows / product_rows][features][product_rows]
    std::size_t first_ = 0, end_ = 0;

  public:
    Rows(const T* X, std::size_t rows, const Pivots<T>& pivots)
        : X_(X),
          rows_(rows),
          pivots_(pivots),
          width_(pivots.blocks * block<T>),
          lengths_(pivots.work),
          own_(lengths_ + width_),
          products_(own_ + wide_rows),
          packed_(products_ + wide_rows * width_) {
        for (std::size_t r = 0; r < width_; r += panel<T>) {
            squared_lengths<panel<T>>(pivots.packed + r * pivots.features, pivots.features,
                                      lengths_ + r);
        }
    }

    // The values of row i, padded to `width`.
    void operator()(std::size_t i, T* __restrict out) {
        if (i >= end_) {
            first_ = i;
            end_ = rows_ - i < wide_rows ? rows_ : i + wide_rows;
            pack();
            multiply();
        }
        using Values = typename Register<T>::Values;
        constexpr std::size_t lanes = Register<T>::lanes;
        const T* products = products_ + (i - first_) * width_;
        const Values own = own_[i - first_] - Values{};
        auto accurate = own == own;
        for (std::size_t r = 0; r < width_; r += block<T>) {
            T exponents[block<T>];
            for (std::size_t j = 0; j < block<T>; j += lanes) {
                const Values sum = own + *reinterpret_cast<const Values*>(lengths_ + r + j);
                const Values exponent =
                    sum - 2 * *reinterpret_cast<const Values*>(products + r + j);
                accurate &= Accuracy<T>::holds(exponent, sum);
                *reinterpret_cast<Values*>(exponents + j) = exponent > 0 ? exponent : Values{};
            }
            for (std::size_t j = 0; j < block<T>; ++j) out[r + j] = exp_minus(exponents[j]);
        }
        bool all = true;
        for (std::size_t j = 0; j < lanes; ++j) all &= accurate[j] != 0;
        if (!all) correct(i, out);
    }

  private:
    // Computes the entries that are not accurate from differences.
    __attribute__((noinline)) void correct(std::size_t i, T* out) const {
        const std::size_t features = pivots_.features;
        const T* products = products_ + (i - first_) * width_;
        for (std::size_t r = 0; r < pivots_.count; ++r) {
            const T sum = own_[i - first_] + lengths_[r];
            if (Accuracy<T>::holds(sum - 2 * products[r], sum)) continue;
            out[r] = exp_minus(exponent_of_differences(X_ + i * features,
                                                       pivots_.points + r * features,
                                                       pivots_.scale, features));
        }
    }

    void pack() {
        const std::size_t features = pivots_.features;
        for (std::size_t start = first_; start < end_; start += product_rows) {
            T* tile = packed_ + (start - first_) * features;
            const T* x[product_rows];
            for (std::size_t r = 0; r < product_rows; ++r) {
                x[r] = X_ + (start + r < end_ ? start + r : end_ - 1) * features;
            }
            for (std::size_t f = 0; f < features; ++f) {
                const T center = pivots_.center[f], scale = pivots_.scale[f];
                for (std::size_t r = 0; r < product_rows; ++r) {
                    tile[f * product_rows + r] = (x[r][f] - center) * scale;
                }
            }
            squared_lengths<product_rows>(tile, features, own_ + (start - first_));
        }
    }

    void multiply() {
        const std::size_t features = pivots_.features, count = end_ - first_;
        const std::size_t tiles = (count + product_rows - 1) / product_rows;
        const std::size_t step = part_size(features);
        for (std::size_t k = 0; k < tiles * product_rows * width_; ++k) products_[k] = 0;
        for (std::size_t first = 0; first < pivots_.blocks; first += wide_blocks) {
            const std::size_t end = first + wide_blocks;
            const std::size_t last = end < pivots_.blocks ? end : pivots_.blocks;
            for (std::size_t start = 0; start < features; start += step) {
                const std::size_t rest = features - start;
                for (std::size_t b = first; b < last; ++b) {
                    add_block(b, start, rest < step ? rest : step);
                }
            }
        }
    }

    // Adds the products of some features with one block of pivots.
    void add_block(std::size_t b, std::size_t start, std::size_t step) const {
        constexpr std::size_t columns = product_vectors * Register<T>::lanes;
        static_assert(block<T> % columns == 0);
        const std::size_t features = pivots_.features, count = end_ - first_;
        // Registers lie side by side in a panel, or in one panel each.
        const std::size_t apart = vector_bytes < 64 ? Register<T>::lanes : features * panel<T>;
        for (std::size_t c = 0; c < block<T>; c += columns) {
            const T* right = pivots_.packed + (b * block<T> + c - c % panel<T>) * features +
                             start * panel<T> + c % panel<T>;
            for (std::size_t row = 0; row < count; row += product_rows) {
                const T* left = packed_ + row * features + start * product_rows;
                T* out = products_ + row * width_ + b * block<T> + c;
                // A single row is that of a prediction, which should not wait for others.
                const auto add = count - row == 1 ? add_products<T, 1, product_vectors>
                                                  : add_products<T, product_rows, product_vectors>;
                add(left, product_rows, right, panel<T>, apart, step, out, width_);
            }
        }
    }
};

}  // namespace
}  // namespace sparseksc
