// The rbf kernel in many dimensions, by inner products:
//
//   |x - p|^2 = |x|^2 + |p|^2 - 2 x . p,   x and p from the mean of the pivots, in units of the
//                                          bandwidth
//
// Where the difference is much smaller than what it is the difference of, it is computed
// feature by feature instead. The value of an entry depends on nothing but its row and the pivots;
// it is symmetric in x and p, and exactly 1 where they are equal.
#pragma once

#include "products.hpp"
#include "tiles.hpp"

namespace sparseksc {
namespace {

// The exponent from the differences of two points.
template <typename T>
SPARSEKSC_NOINLINE T exponent_of_differences(const T* x, const T* p, const T* scale,
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
    Products<T> products_;
    std::size_t first_ = 0, end_ = 0;

  public:
    Rows(const T* X, std::size_t rows, const Pivots<T>& pivots)
        : X_(X), rows_(rows), pivots_(pivots), products_(pivots) {}

    void operator()(std::size_t i, T* __restrict out) {
        if (i >= end_) load(i);
        using Values = typename Register<T>::Values;
        constexpr std::size_t lanes = Register<T>::lanes;
        const T* products = products_.of(i - first_);
        const T* lengths = products_.lengths;
        const Values own = products_.length(i - first_) - Values{};
        auto accurate = own == own;
        for (std::size_t r = 0; r < products_.width; r += block<T>) {
            T exponents[block<T>];
            for (std::size_t j = 0; j < block<T>; j += lanes) {
                const Values sum = own + *reinterpret_cast<const Values*>(lengths + r + j);
                const Values exponent =
                    sum - 2 * *reinterpret_cast<const Values*>(products + r + j);
                accurate &= Accuracy<T>::holds(exponent, sum);
                *reinterpret_cast<Values*>(exponents + j) = exponent > 0 ? exponent : Values{};
            }
            for (std::size_t j = 0; j < block<T>; ++j) out[r + j] = exp_minus(exponents[j]);
        }
        bool all = true;
        for (std::size_t j = 0; j < lanes; ++j) all &= lane(accurate, j) != 0;
        if (!all) correct(i, out);
    }

  private:
    void load(std::size_t i) {
        first_ = i;
        end_ = rows_ - i < wide_rows ? rows_ : i + wide_rows;
        const T *center = pivots_.center, *scale = pivots_.scale;
        products_.load(X_ + i * pivots_.features, end_ - i,
                       [=](T x, std::size_t f) { return (x - center[f]) * scale[f]; });
    }

    // Computes the entries that are not accurate from differences.
    SPARSEKSC_NOINLINE void correct(std::size_t i, T* out) const {
        const std::size_t features = pivots_.features;
        const T* products = products_.of(i - first_);
        for (std::size_t r = 0; r < pivots_.count; ++r) {
            const T sum = products_.length(i - first_) + products_.lengths[r];
            if (Accuracy<T>::holds(sum - 2 * products[r], sum)) continue;
            out[r] = exp_minus(exponent_of_differences(X_ + i * features,
                                                       pivots_.points + r * features,
                                                       pivots_.scale, features));
        }
    }
};

}  // namespace
}  // namespace sparseksc
