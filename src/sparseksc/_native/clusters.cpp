// The Python binding of the loops over clusters.
#include <algorithm>
#include <vector>

#include "arrays.hpp"

namespace sparseksc {

namespace {

using Int64 = std::int64_t;

void refine_into(const Input& rows, const Input& weights, std::size_t rounds,
                 const Output& prototypes) {
    const double* x = data<double>(rows, "rows", {any, any});
    const std::size_t n = rows.shape(0), m = rows.shape(1);
    const double* w = data<double>(weights, "weights", {n});
    double* target = data<double>(prototypes, "prototypes", {any, m});
    const std::size_t K = prototypes.shape(0);
    keep_apart({{"prototypes", prototypes}}, {{"rows", rows}, {"weights", weights}});
    // An array without values can have sides of any length: nothing may be as long as they are.
    if (n == 0 || m == 0 || K == 0) return;
    nb::gil_scoped_release release;
    std::vector<Int64> labels(n, -1);
    const std::size_t stride = (n + row_lanes - 1) / row_lanes * row_lanes;
    std::vector<double> scratch(K * (m + 1) + stride * m);
    // Weights that are not positive can let the prototypes go round in circles.
    constexpr std::size_t most = 1000;
    for (std::size_t part; rounds > 0; rounds -= part) {
        part = std::min(rounds, most);
        if (!active->clusters.refine(x, n, m, w, K, part, target, labels.data(), scratch.data(),
                                     stride)) {
            break;
        }
        check_signals();
    }
}

// `rows` is overwritten on purpose: the caller passes a copy.
std::size_t spread_into(const Output& rows, const Output& chosen) {
    double* x = data<double>(rows, "rows", {any, any});
    const std::size_t n = rows.shape(0), m = rows.shape(1);
    Int64* target = data<Int64>(chosen, "chosen", {any});
    const std::size_t K = std::min(chosen.shape(0), n);
    keep_apart({{"chosen", chosen}, {"rows", rows}}, {});
    if (n == 0 || m == 0) return 0;
    nb::gil_scoped_release release;
    std::vector<double> scratch(m);
    return active->clusters.spread(x, n, m, K, target, scratch.data());
}

void assign_into(const Input& distances, const Output& labels, const Output& membership,
                 const Output& angular) {
    const double* d = data<double>(distances, "distances", {any, any});
    const std::size_t n = distances.shape(0), K = distances.shape(1);
    Int64* nearest = data<Int64>(labels, "labels", {n});
    double* own = data<double>(membership, "membership", {n});
    double* strength = data<double>(angular, "angular", {n});
    if (K == 0) throw nb::value_error("distances must have at least one column.");
    keep_apart({{"labels", labels}, {"membership", membership}, {"angular", angular}},
               {{"distances", distances}});
    nb::gil_scoped_release release;
    active->clusters.assign(d, n, K, nearest, own, strength);
}

void scatter_into(const Input& rows, const Input& labels, const Input& weights,
                  const Output& scatter) {
    const double* x = data<double>(rows, "rows", {any, any});
    const std::size_t n = rows.shape(0), m = rows.shape(1);
    const Int64* cluster = data<Int64>(labels, "labels", {n});
    const double* w = data<double>(weights, "weights", {n});
    double* target = data<double>(scatter, "scatter", {any, m, m});
    const Int64 K = static_cast<Int64>(scatter.shape(0));
    keep_apart({{"scatter", scatter}}, {{"rows", rows}, {"labels", labels}, {"weights", weights}});
    for (std::size_t i = 0; i < n; ++i) {
        if (cluster[i] < 0 || cluster[i] >= K) throw nb::value_error("a label is out of range.");
    }
    if (m == 0) return;
    nb::gil_scoped_release release;
    std::vector<double> means(K * m), mass(K);
    active->clusters.scatter(x, n, m, cluster, w, K, means.data(), mass.data(), target);
}

}  // namespace

void bind_clusters(nb::module_& module) {
    using namespace nb::literals;
    module.def("refine_into", &refine_into, nb::arg("rows").noconvert(),
               nb::arg("weights").noconvert(), "rounds"_a, nb::arg("prototypes").noconvert());
    module.def("spread_into", &spread_into, nb::arg("rows").noconvert(),
               nb::arg("chosen").noconvert());
    module.def("assign_into", &assign_into, nb::arg("distances").noconvert(),
               nb::arg("labels").noconvert(), nb::arg("membership").noconvert(),
               nb::arg("angular").noconvert());
    module.def("scatter_into", &scatter_into, nb::arg("rows").noconvert(),
               nb::arg("labels").noconvert(), nb::arg("weights").noconvert(),
               nb::arg("scatter").noconvert());
}

}  // namespace sparseksc
