// The interface between the Python binding and the loops, which are compiled once for each
// instruction set. Plain pointers and sizes only: code that is built for different instruction
// sets must not share inline functions, or the linker may keep the copy that the machine lacks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sparseksc {

// `wide_rbf` is rbf in many dimensions (wide.hpp). It has no regions, and no greedy selection, which
// takes one row at a time.
enum Kernel : int { rbf, laplacian, chi2, wide_rbf, kernel_count };
inline constexpr int kernels_with_regions = 3;
inline constexpr std::size_t wide_features = 32;

// Rows of wide_rbf that are multiplied by the pivots at once: these are read again for each block.
inline constexpr std::size_t wide_rows = 192;
// Its pivots are held in blocks of one cache line.
template <typename T>
inline constexpr std::size_t panel = 64 / sizeof(T);


// Pivots are held in blocks of block<T> columns (two cache lines), feature by feature within a
// block, so that the innermost loops run over pivots. The last block is padded.
template <typename T>
inline constexpr std::size_t block = 128 / sizeof(T);

template <typename T>
struct Pivots {
    const T* packed;        // [blocks][features][block<T>]; for wide_rbf, panels instead of blocks
    const T* scale;         // [features], see `term_factors` in layout.hpp
    std::size_t count;      // pivots, without padding
    std::size_t blocks;
    std::size_t features;
    // For wide_rbf, where `packed` holds (pivot - center) * scale; null elsewhere.
    const T* center;        // [features]
    const T* points;        // [count, features], as they were given
    T* work;                // scratch of work_values() values
};

template <typename T>
constexpr std::size_t work_values(std::size_t blocks, std::size_t features) {
    return (wide_rows + 1) * blocks * block<T> + wide_rows * (features + 1);
}

// Consecutive pivots that lie close together, and a box around each of these regions.
// Bit g of a row's key says that region g is within its reach: it may hold a kernel value above
// exp(-reach_depth<T>) times the row's largest. The rest is below the rounding of the sums.
template <typename T>
struct Regions {
    const T* lower;         // [count][features]
    const T* upper;
    std::size_t count;      // at most most_regions
    std::size_t size;       // pivots in each region, a multiple of region_step; the last may have fewer
};

inline constexpr std::size_t most_regions = 64, region_step = 8;
template <typename T>
inline constexpr T reach_depth = sizeof(T) == sizeof(double) ? T(40) : T(24);

// Rows that are gathered before they enter the moment, and how far the tiles of the moment may
// reach beyond its last row and column.
inline constexpr std::size_t panel_rows = 64, row_margin = 8, column_margin = 24;

// Points by their features, in which many of them are zero: values[starts[f] .. starts[f + 1]) are
// those of feature f, and numbers the points that they belong to. Where places[f] is not negative,
// all points have a value in row places[f] of `dense` instead.
template <typename T>
struct SparsePoints {
    const std::int64_t* starts;   // [features + 1]
    const std::int64_t* numbers;
    const T* values;
    const std::int64_t* places;   // [features]
    const T* dense;               // [dense_rows][count]
    std::size_t features, dense_rows, count;
};

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
    // keys[i] = the regions within the reach of row i.
    using Reach = void (*)(const T* X, std::size_t rows, const Pivots<T>&, const Regions<T>&,
                           std::uint64_t* keys);
    // Greedy pivots of an incomplete Cholesky decomposition, `pivots` being all n points, from
    // `rank` on. Row l of G is the l-th column of the factor, residual[i] what is left of the
    // diagonal and path[l] what is left of the trace after pivot l, relative to `trace`. Ends at
    // `most` pivots, where path reaches `tol`, or where no residual is above `floor`; returns the
    // rank. `row` is scratch as in Tile.
    using Greedy = std::size_t (*)(const T* X, const Pivots<T>& pivots, const double* weights,
                                   double trace, double tol, double floor, std::size_t rank,
                                   std::size_t most, T* row, double* residual, double* G,
                                   std::int64_t* chosen, double* path);
    Tile tile[kernel_count];
    Scores scores[kernel_count];
    ColumnSums column_sums[kernel_count];
    Moments moments[kernel_count];
    Reach reach[kernels_with_regions];
    Greedy greedy[kernels_with_regions];
    // out[i] = exp(-values[i]) for values >= 0; count is a multiple of block<T>.
    void (*exponential)(const T* values, std::size_t count, T* out);
    // numbers[i] = the columns of the `count` smallest values of row i, ascending by value; `best`
    // is scratch of `count` values.
    void (*smallest)(const T* values, std::size_t n, std::size_t R, std::size_t count, T* best,
                     std::int64_t* numbers);
    // The `count` nearest of the R points P of d features to each row, and their squared distances
    // in float64, ascending; of equally near ones the first. `points` are P in float32, which leave
    // a few to be compared, or null, and then all are; `candidates` is scratch of R + 1 numbers.
    void (*nearest)(const T* X, std::size_t n, const T* P, std::size_t R, std::size_t d,
                    const Pivots<float>* points, std::size_t count, std::int64_t* candidates,
                    std::int64_t* numbers, double* distances);
    // Squared distances of row i to the points numbers[i], both sorted by them.
    void (*distances_to)(const T* X, std::size_t n, std::size_t d, const T* P, std::size_t count,
                         std::int64_t* numbers, double* distances);
    // out[i, r] = the inner product of sparse row i, whose entries are those from starts[i] on, and
    // point r, summed in the order of the entries. False where a number is out of range.
    bool (*sparse_products)(const std::int64_t* starts, const std::int64_t* features,
                            const T* values, std::size_t n, const SparsePoints<T>&, T* out);
};

// Rows that are compared with a prototype at once, and values that are looked at together.
inline constexpr std::size_t row_lanes = 16, point_lanes = 16;

// Loops over rows of m scores or directions and K clusters; all arrays are dense, row by row.
struct ClusterLoops {
    // Moves the prototypes (K, m) to the mean directions of the rows (n, m) nearest to them, until
    // nothing changes or `rounds` are over, and says whether the latter ended it; labels[n] are -1
    // at first, and kept to go on; `scratch` has K * (m + 1) + stride * m values, and `stride` is n
    // or more, a multiple of row_lanes.
    bool (*refine)(const double* rows, std::size_t n, std::size_t m, const double* weights,
                   std::size_t K, std::size_t rounds, double* prototypes, std::int64_t* labels,
                   double* scratch, std::size_t stride);
    // chosen[k] = the longest row outside of the span of the k rows before it; `rows` (n, m) is
    // overwritten by what is left of them. Returns how many there are, at most K.
    std::size_t (*spread)(double* rows, std::size_t n, std::size_t m, std::size_t K,
                          std::int64_t* chosen, double* scratch);
    // From distances (n, K): the nearest, its membership, and 1 - nearest / second.
    void (*assign)(const double* distances, std::size_t n, std::size_t K, std::int64_t* labels,
                   double* membership, double* angular);
    // scatter[k] = sum of w (x - mean_k)(x - mean_k)^T over the rows (n, m) of cluster k.
    void (*scatter)(const double* rows, std::size_t n, std::size_t m, const std::int64_t* labels,
                    const double* weights, std::size_t K, double* means, double* mass,
                    double* scatter);
};

struct Variant {
    const char* name;
    ClusterLoops clusters;
    Loops<float> single;
    Loops<double> full;
};

}  // namespace sparseksc
