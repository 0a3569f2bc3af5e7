// The interface between the Python binding and the loops, which are compiled once for each
// instruction set. Plain pointers and sizes only: code that is built for different instruction
// sets must not share inline functions, or the linker may keep the copy that the machine lacks.
#pragma once

#include <cstddef>

namespace sparseksc {

enum Kernel : int { rbf, laplacian, chi2, kernel_count };

// Pivots are held in blocks of block<T> columns (two cache lines), feature by feature within a
// block, so that the innermost loops run over pivots. The last block is padded.
template <typename T>
inline constexpr std::size_t block = 128 / sizeof(T);

template <typename T>
struct Pivots {
    const T* packed;        // [blocks][features][block<T>]
    const T* scale;         // [features], see `prepare` in core.cpp
    std::size_t count;      // pivots, without padding
    std::size_t blocks;
    std::size_t features;
};

// Rows that are gathered before they enter the moment, and how far the tiles of the moment may
// reach beyond its last row and column.
inline constexpr std::size_t panel_rows = 64, row_margin = 8, column_margin = 24;

template <typename T>
struct Loops {
    // out[i, r] = k(x_i, p_r). `row` is scratch of blocks * block<T> values.
    using Tile = void (*)(const T* X, std::size_t rows, const Pivots<T>&, T* row, T* out);
    // out[i, k] = sum_r k(x_i, p_r) coef[k, r] + bias[k]; coef is padded to blocks * block<T>.
    using Scores = void (*)(const T* X, std::size_t rows, const Pivots<T>&, const double* coef,
                            const double* bias, std::size_t outputs, T* row, T* out);
    // sums[r] += sum_i weights[i] k(x_i, p_r); sums is padded to blocks * block<T>.
    using ColumnSums = void (*)(const T* X, std::size_t rows, const Pivots<T>&,
                                const double* weights, T* row, double* sums);
    // With degree d_i = sum_r k(x_i, p_r) q[r] and share s_i = weights[i] / d_i, over the rows of
    // positive weight whose degree is above `floor`:
    //   moment[a, b] += sum_i s_i k(x_i, p_a) k(x_i, p_b) for a <= b (other entries are scratch),
    //   mean[r] += sum_i s_i k(x_i, p_r), totals[0] += sum_i s_i;
    // totals[1] and totals[2] count and weigh the other rows of positive weight. `q` is padded
    // with zeros to blocks * block<T>; `row` and `mean` have column_margin more values than that;
    // `panel` is scratch of panel_rows * (count + column_margin) values; `moment` has
    // count + row_margin rows of `stride` >= count + column_margin values.
    using Moments = void (*)(const T* X, std::size_t rows, const Pivots<T>&, const double* weights,
                             const double* q, double floor, T* row, double* panel,
                             double* moment, std::size_t stride, double* mean, double* totals);
    Tile tile[kernel_count];
    Scores scores[kernel_count];
    ColumnSums column_sums[kernel_count];
    Moments moments[kernel_count];
    // out[i] = exp(-values[i]) for values >= 0; count is a multiple of block<T>.
    void (*exponential)(const T* values, std::size_t count, T* out);
};

struct Variant {
    const char* name;
    Loops<float> single;
    Loops<double> full;
};

}  // namespace sparseksc
