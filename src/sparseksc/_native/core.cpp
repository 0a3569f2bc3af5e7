// The Python binding: checks the arguments, lays out the pivots, and calls the loops that suit
// the machine. The Python side (__init__.py) allocates the results and words the errors that
// users see; the checks here make sure that no call can reach memory it does not own.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <vector>

#include "machine.hpp"
#include "neighbourhoods.hpp"

namespace sparseksc {

const Variant* active = nullptr;
void bind_clusters(nb::module_& module);     // clusters.cpp
void bind_conductance(nb::module_& module);  // conductance.cpp
void bind_hashing(nb::module_& module);      // hashing.cpp
void bind_neighbours(nb::module_& module);   // neighbours.cpp
void bind_sparse(nb::module_& module);       // sparse.cpp

namespace baseline { extern const Variant variant; }
#ifdef SPARSEKSC_HAVE_avx2
namespace avx2 { extern const Variant variant; }
#endif
#ifdef SPARSEKSC_HAVE_avx512
namespace avx512 { extern const Variant variant; }
#endif

namespace {

// The variants that this machine can run, the best one last.
std::vector<const Variant*> runnable() {
    std::vector<const Variant*> found{&baseline::variant};
#if defined(SPARSEKSC_HAVE_avx2) && defined(SPARSEKSC_X86)
    if (machine::has_avx2()) found.push_back(&avx2::variant);
#endif
#if defined(SPARSEKSC_HAVE_avx512) && defined(SPARSEKSC_X86)
    if (machine::has_avx512()) found.push_back(&avx512::variant);
#endif
    return found;
}

Kernel kernel_named(const std::string& name) {
    if (name == "rbf") return rbf;
    if (name == "laplacian") return laplacian;
    if (name == "chi2") return chi2;
    throw nb::value_error(("there is no native kernel named '" + name + "'.").c_str());
}

template <typename Function>
void by_type(const Input& X, Function&& function) {
    if (X.dtype() == nb::dtype<double>()) function(double{});
    else if (X.dtype() == nb::dtype<float>()) function(float{});
    else throw nb::type_error("X must have the type float32 or float64.");
}

void check_matrices(const Input& X, const Input& P) {
    if (X.ndim() != 2 || P.ndim() != 2) throw nb::value_error("X and P must be matrices.");
    if (X.shape(1) != P.shape(1) || X.shape(1) == 0) {
        throw nb::value_error("X and P must have the same number of columns, at least one.");
    }
    if (P.shape(0) == 0) throw nb::value_error("P must have at least one row.");
    if (std::max(X.shape(0), P.shape(0)) > std::numeric_limits<Numbers::value_type>::max()) {
        throw nb::value_error("X and P must have fewer than 2**32 rows.");
    }
}

void check_floor(double floor) {
    if (!(floor >= 0.0)) throw nb::value_error("floor must not be negative.");
}

void tile_into(const std::string& name, const Input& X, const Input& P,
               const Input& inverse_bandwidth, const Output& out) {
    check_matrices(X, P);
    const Kernel kernel = suited(kernel_named(name), X.shape(1));
    const std::size_t n = X.shape(0), d = X.shape(1), R = P.shape(0);
    by_type(X, [&](auto zero) {
        using T = decltype(zero);
        const T* x = data<T>(X, "X", {any, d});
        const T* p = data<T>(P, "P", {any, d});
        const double* factors = data<double>(inverse_bandwidth, "inverse_bandwidth", {d});
        T* target = data<T>(out, "out", {n, R});
        keep_apart({{"out", out}},
                   {{"X", X}, {"P", P}, {"inverse_bandwidth", inverse_bandwidth}});
        nb::gil_scoped_release release;
        const std::vector<T> scale = term_factors<T>(kernel, factors, d);
        const Layout<T> layout = Layout<T>::of(kernel, p, R, scale);
        std::vector<T> row(layout.width());
        loops<T>().tile[kernel](x, n, layout.pivots, row.data(), target);
    });
}

void scores_into(const std::string& name, const Input& X, const Input& P,
                 const Input& inverse_bandwidth, const Input& coef, const Input& bias,
                 const Output& out) {
    check_matrices(X, P);
    const Kernel kernel = suited(kernel_named(name), X.shape(1));
    const std::size_t n = X.shape(0), d = X.shape(1), R = P.shape(0);
    const double* c = data<double>(coef, "coef", {R, any});
    const std::size_t m = coef.shape(1);
    const double* b = data<double>(bias, "bias", {m});
    by_type(X, [&](auto zero) {
        using T = decltype(zero);
        const T* x = data<T>(X, "X", {any, d});
        const T* p = data<T>(P, "P", {any, d});
        const double* factors = data<double>(inverse_bandwidth, "inverse_bandwidth", {d});
        T* target = data<T>(out, "out", {n, m});
        keep_apart({{"out", out}}, {{"X", X},
                                    {"P", P},
                                    {"inverse_bandwidth", inverse_bandwidth},
                                    {"coef", coef},
                                    {"bias", bias}});
        nb::gil_scoped_release release;
        const Neighbourhoods<T> pivots(kernel, p, R, d, factors);
        std::vector<double> padded;
        std::vector<T> row, results;
        pivots.each_group(x, n, 1, [&](const Group<T>& group) {
            const std::size_t width = group.width();
            padded.assign(m * width, 0.0);
            for (std::size_t r = 0; r < group.pivots.count; ++r) {
                for (std::size_t k = 0; k < m; ++k) {
                    padded[k * width + r] = c[group.order[r] * m + k];
                }
            }
            row.resize(width);
            if (!group.numbers) {
                loops<T>().scores[kernel](group.X, group.rows, group.pivots, padded.data(), b, m,
                                          row.data(), target);
                return;
            }
            results.resize(group.rows * m);
            loops<T>().scores[kernel](group.X, group.rows, group.pivots, padded.data(), b, m,
                                      row.data(), results.data());
            for (std::size_t i = 0; i < group.rows; ++i) {
                std::copy_n(results.data() + i * m, m, target + group.numbers[i] * m);
            }
        });
    });
}

void column_sums_into(const std::string& name, const Input& X, const Input& P,
                      const Input& inverse_bandwidth, const Input& weights, const Output& out) {
    check_matrices(X, P);
    const Kernel kernel = suited(kernel_named(name), X.shape(1));
    const std::size_t n = X.shape(0), d = X.shape(1), R = P.shape(0);
    const double* w = data<double>(weights, "weights", {n});
    double* target = data<double>(out, "out", {R});
    by_type(X, [&](auto zero) {
        using T = decltype(zero);
        const T* x = data<T>(X, "X", {any, d});
        const T* p = data<T>(P, "P", {any, d});
        const double* factors = data<double>(inverse_bandwidth, "inverse_bandwidth", {d});
        keep_apart({{"out", out}}, {{"X", X},
                                    {"P", P},
                                    {"inverse_bandwidth", inverse_bandwidth},
                                    {"weights", weights}});
        nb::gil_scoped_release release;
        const Neighbourhoods<T> pivots(kernel, p, R, d, factors);
        std::fill_n(target, R, 0.0);
        std::vector<double> sums, shares;
        std::vector<T> row;
        pivots.each_group(x, n, panel_rows, [&](const Group<T>& group) {
            sums.assign(group.width(), 0.0);
            row.resize(group.width());
            loops<T>().column_sums[kernel](group.X, group.rows, group.pivots,
                                           group.gathered(w, shares), row.data(), sums.data());
            for (std::size_t r = 0; r < group.pivots.count; ++r) target[group.order[r]] += sums[r];
        });
    });
}

// Adds the upper triangle of `square` to both triangles of the matrix (R, R), block by block, so
// that both sides stay in the cache; order[i] is the row of the matrix that row i belongs to.
void add_mirrored(const double* square, std::size_t stride, const Numbers& order, double* matrix,
                  std::size_t R) {
    const std::size_t side = 32, count = order.size();
    for (std::size_t top = 0; top < count; top += side) {
        for (std::size_t left = top; left < count; left += side) {
            for (std::size_t i = top; i < std::min(top + side, count); ++i) {
                for (std::size_t j = std::max(left, i); j < std::min(left + side, count); ++j) {
                    const double value = square[i * stride + j];
                    matrix[order[i] * R + order[j]] += value;
                    if (i != j) matrix[order[j] * R + order[i]] += value;
                }
            }
        }
    }
}

// `totals` receives the sum of the shares, and the number and weight of the rows left out.
void moments_into(const std::string& name, const Input& X, const Input& P,
                  const Input& inverse_bandwidth, const Input& weights, const Input& q,
                  double floor, const Output& moment, const Output& mean, const Output& totals) {
    check_matrices(X, P);
    const Kernel kernel = suited(kernel_named(name), X.shape(1));
    const std::size_t n = X.shape(0), d = X.shape(1), R = P.shape(0);
    const double* w = data<double>(weights, "weights", {n});
    const double* coef = data<double>(q, "q", {R});
    double* matrix = data<double>(moment, "moment", {R, R});
    double* vector = data<double>(mean, "mean", {R});
    double* sums = data<double>(totals, "totals", {3});
    check_floor(floor);
    by_type(X, [&](auto zero) {
        using T = decltype(zero);
        const T* x = data<T>(X, "X", {any, d});
        const T* p = data<T>(P, "P", {any, d});
        const double* factors = data<double>(inverse_bandwidth, "inverse_bandwidth", {d});
        keep_apart({{"moment", moment}, {"mean", mean}, {"totals", totals}},
                   {{"X", X},
                    {"P", P},
                    {"inverse_bandwidth", inverse_bandwidth},
                    {"weights", weights},
                    {"q", q}});
        nb::gil_scoped_release release;
        const Neighbourhoods<T> pivots(kernel, p, R, d, factors);
        std::fill_n(sums, 3, 0.0);
        std::fill_n(matrix, R * R, 0.0);
        std::fill_n(vector, R, 0.0);
        std::vector<T> row;
        std::vector<double> padded, average, panel, square, shares;
        pivots.each_group(x, n, panel_rows, [&](const Group<T>& group) {
            const std::size_t count = group.pivots.count, width = group.width();
            const std::size_t line = 64 / sizeof(double);
            // An odd number of cache lines, so that the rows of a tile fall into different sets.
            const std::size_t stride = ((count + column_margin + line - 1) / line | 1) * line;
            row.assign(width + column_margin, T(0));
            padded.assign(width, 0.0);
            average.assign(width + column_margin, 0.0);
            panel.resize(panel_rows * (count + column_margin));
            square.assign((count + row_margin) * stride, 0.0);
            for (std::size_t r = 0; r < count; ++r) padded[r] = coef[group.order[r]];
            loops<T>().moments[kernel](group.X, group.rows, group.pivots, group.gathered(w, shares),
                                       padded.data(), floor, row.data(), panel.data(),
                                       square.data(), stride, average.data(), sums);
            for (std::size_t r = 0; r < count; ++r) vector[group.order[r]] += average[r];
            add_mirrored(square.data(), stride, group.order, matrix, R);
        });
    });
}

// Continues a decomposition of rank `rank`: `residual` and the rows of G so far are its state.
std::size_t greedy_into(const std::string& name, const Input& X, const Input& inverse_bandwidth,
                        const Input& weights, double trace, double tol, double floor,
                        std::size_t rank, const Output& residual, const Output& G,
                        const Output& pivots, const Output& path) {
    const Kernel kernel = kernel_named(name);
    check_matrices(X, X);
    const std::size_t n = X.shape(0), d = X.shape(1);
    const double* w = data<double>(weights, "weights", {n});
    double* rest = data<double>(residual, "residual", {n});
    double* factor = data<double>(G, "G", {any, n});
    const std::size_t most = G.shape(0);
    std::int64_t* chosen = data<std::int64_t>(pivots, "pivots", {most});
    double* left = data<double>(path, "path", {most});
    if (rank > most) throw nb::value_error("rank must not be larger than the number of rows of G.");
    check_floor(floor);
    by_type(X, [&](auto zero) {
        using T = decltype(zero);
        const T* x = data<T>(X, "X", {any, d});
        const double* factors = data<double>(inverse_bandwidth, "inverse_bandwidth", {d});
        keep_apart({{"residual", residual}, {"G", G}, {"pivots", pivots}, {"path", path}},
                   {{"X", X}, {"inverse_bandwidth", inverse_bandwidth}, {"weights", weights}});
        nb::gil_scoped_release release;
        const std::vector<T> scale = term_factors<T>(kernel, factors, d);
        const Layout<T> layout(x, all_numbers(n), scale);
        std::vector<T> row(layout.width());
        rank = loops<T>().greedy[kernel](x, layout.pivots, w, trace, tol, floor, rank, most,
                                         row.data(), rest, factor, chosen, left);
    });
    return rank;
}

// `out` may be `values` itself, or overlap it: all values are copied first.
void exponential_into(const Input& values, const Output& out) {
    by_type(values, [&](auto zero) {
        using T = decltype(zero);
        const T* source = data<T>(values, "values", {any});
        const std::size_t count = values.shape(0), lanes = block<T>;
        T* target = data<T>(out, "out", {count});
        std::vector<T> padded((count + lanes - 1) / lanes * lanes, T(0)), result(padded.size());
        std::copy_n(source, count, padded.begin());
        loops<T>().exponential(padded.data(), padded.size(), result.data());
        std::copy_n(result.begin(), count, target);
    });
}

std::vector<std::string> variants() {
    std::vector<std::string> names;
    for (const Variant* variant : runnable()) names.emplace_back(variant->name);
    return names;
}

void use_variant(const std::string& name) {
    for (const Variant* variant : runnable()) {
        if (name == variant->name) {
            active = variant;
            return;
        }
    }
    throw nb::value_error(("this machine cannot run the variant '" + name + "'.").c_str());
}

}  // namespace
}  // namespace sparseksc

NB_MODULE(_core, module) {
    namespace nb = nanobind;
    using namespace nb::literals;
    namespace ksc = sparseksc;
    ksc::active = ksc::runnable().back();

    module.def("tile_into", &ksc::tile_into, "name"_a, nb::arg("X").noconvert(),
               nb::arg("P").noconvert(), nb::arg("inverse_bandwidth").noconvert(),
               nb::arg("out").noconvert());
    module.def("scores_into", &ksc::scores_into, "name"_a, nb::arg("X").noconvert(),
               nb::arg("P").noconvert(), nb::arg("inverse_bandwidth").noconvert(),
               nb::arg("coef").noconvert(), nb::arg("bias").noconvert(),
               nb::arg("out").noconvert());
    module.def("column_sums_into", &ksc::column_sums_into, "name"_a, nb::arg("X").noconvert(),
               nb::arg("P").noconvert(), nb::arg("inverse_bandwidth").noconvert(),
               nb::arg("weights").noconvert(), nb::arg("out").noconvert());
    module.def("moments_into", &ksc::moments_into, "name"_a, nb::arg("X").noconvert(),
               nb::arg("P").noconvert(), nb::arg("inverse_bandwidth").noconvert(),
               nb::arg("weights").noconvert(), nb::arg("q").noconvert(), "floor"_a,
               nb::arg("moment").noconvert(), nb::arg("mean").noconvert(),
               nb::arg("totals").noconvert());
    module.def("greedy_into", &ksc::greedy_into, "name"_a, nb::arg("X").noconvert(),
               nb::arg("inverse_bandwidth").noconvert(), nb::arg("weights").noconvert(), "trace"_a,
               "tol"_a, "floor"_a, "rank"_a, nb::arg("residual").noconvert(),
               nb::arg("G").noconvert(), nb::arg("pivots").noconvert(),
               nb::arg("path").noconvert());
    ksc::bind_clusters(module);
    ksc::bind_conductance(module);
    ksc::bind_hashing(module);
    ksc::bind_neighbours(module);
    ksc::bind_sparse(module);
    module.def("exponential_into", &ksc::exponential_into, nb::arg("values").noconvert(),
               nb::arg("out").noconvert());
    module.def("variants", &ksc::variants);
    module.def("active_variant", [] { return std::string(ksc::active->name); });
    module.def("use_variant", &ksc::use_variant, "name"_a);
}
