// Inner products of many rows and points at once, which reads neither of them again from memory.
//
// Sums over features are taken in parts of nearly equal size, each feature by feature, and the
// parts are added in their order: the product of a row and a point depends on nothing else, and
// that of equal ones is the squared length of either.
#pragma once

#include "kernels.hpp"
#include "registers.hpp"

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

// Products of this many features are summed before they are added to the others: sums of sums are
// more accurate, and this part of a few rows and columns stays in the nearest cache, that of all
// rows in the next one, while points and sums pass by.
constexpr std::size_t wide_step = 256;

// Features in parts of nearly equal size.
inline std::size_t part_size(std::size_t features) {
    const std::size_t parts = (features + wide_step - 1) / wide_step;
    return (features + parts - 1) / parts;
}

// The squared lengths of `lanes` points side by side, in the order of `add_products`: then the
// difference of equal points is exactly zero.
template <std::size_t lanes, typename T>
SPARSEKSC_NOINLINE void squared_lengths(const T* points, std::size_t features, T* out) {
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

// The products of up to wide_rows rows with all points of a layout that is made for them.
template <typename T>
class Products {
    const Pivots<T>& pivots_;
    std::size_t count_ = 0;
    T* const own_;       // [wide_rows]
    T* const products_;  // [wide_rows, width]
    T* const packed_;    // the rows, [wide_rows / product_rows][features][product_rows]

  public:
    const std::size_t width;  // of points, with padding
    T* const lengths;         // squared, of the points, [width]

    explicit Products(const Pivots<T>& pivots)
        : pivots_(pivots),
          own_(pivots.work + pivots.blocks * block<T>),
          products_(own_ + wide_rows),
          packed_(products_ + wide_rows * pivots.blocks * block<T>),
          width(pivots.blocks * block<T>),
          lengths(pivots.work) {
        for (std::size_t r = 0; r < width; r += panel<T>) {
            squared_lengths<panel<T>>(pivots.packed + r * pivots.features, pivots.features,
                                      lengths + r);
        }
    }

    // Multiplies rows, whose entry x of feature f is value(x, f).
    template <typename S, typename Function>
    void load(const S* X, std::size_t count, Function&& value) {
        const std::size_t features = pivots_.features;
        count_ = count;
        for (std::size_t start = 0; start < count; start += product_rows) {
            T* tile = packed_ + start * features;
            const S* x[product_rows];
            for (std::size_t r = 0; r < product_rows; ++r) {
                x[r] = X + (start + r < count ? start + r : count - 1) * features;
            }
            for (std::size_t f = 0; f < features; ++f) {
                for (std::size_t r = 0; r < product_rows; ++r) {
                    tile[f * product_rows + r] = value(x[r][f], f);
                }
            }
            squared_lengths<product_rows>(tile, features, own_ + start);
        }
        multiply();
    }

    T* of(std::size_t i) const { return products_ + i * width; }
    T length(std::size_t i) const { return own_[i]; }

  private:
    static constexpr std::size_t columns = product_vectors * Register<T>::lanes;
    static_assert(block<T> % columns == 0);

    void multiply() const {
        const std::size_t features = pivots_.features, step = part_size(features);
        for (std::size_t start = 0; start < features; start += step) {
            const std::size_t stop = start + step < features ? start + step : features;
            for (std::size_t c = 0; c < width; c += columns) add_columns(c, start, stop);
        }
    }

    // Where feature f of the points from column c on is.
    const T* right(std::size_t c, std::size_t f) const {
        return pivots_.packed + (c - c % panel<T>) * pivots_.features + f * panel<T> + c % panel<T>;
    }

    // Adds the products of some features with some points.
    void add_columns(std::size_t c, std::size_t start, std::size_t stop) const {
        const std::size_t features = pivots_.features;
        // Registers lie side by side in a panel, or in one panel each.
        const std::size_t apart = vector_bytes < 64 ? Register<T>::lanes : features * panel<T>;
        const std::size_t tiles = (count_ + product_rows - 1) / product_rows;
        // The next points lie elsewhere, and are asked for while these are multiplied.
        const std::size_t next = c + columns, share = (stop - start + tiles - 1) / tiles;
        std::size_t asked = next < width && next % panel<T> == 0 ? start : stop;
        for (std::size_t row = 0; row < count_; row += product_rows) {
            for (std::size_t k = 0; k < share && asked < stop; ++k, ++asked) {
                prefetch(right(next, asked));
                if constexpr (columns > panel<T>) prefetch(right(next, asked) + apart);
            }
            const T* left = packed_ + row * features + start * product_rows;
            T* out = products_ + row * width + c;
            // A single row is that of a prediction, which should not wait for others.
            const auto add = count_ - row == 1 ? add_products<T, 1, product_vectors>
                                              : add_products<T, product_rows, product_vectors>;
            add(left, product_rows, right(c, start), panel<T>, apart, stop - start, out, width,
                start == 0);
        }
    }
};

}  // namespace
}  // namespace sparseksc
