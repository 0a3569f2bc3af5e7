// The Python binding of the search for the nearest points.
#include <optional>
#include <vector>

#include "layout.hpp"

namespace sparseksc {

namespace {

using Int64 = std::int64_t;

// For so few rows, points are not laid out for products.
constexpr std::size_t few_rows = 8;

template <typename Function>
void by_type(const Input& X, const char* name, Function&& function) {
    if (X.dtype() == nb::dtype<double>()) function(double{}, active->full);
    else if (X.dtype() == nb::dtype<float>()) function(float{}, active->single);
    else throw nb::type_error((std::string(name) + " must be float32 or float64.").c_str());
}

void smallest_into(const Input& values, const Output& numbers) {
    by_type(values, "values", [&](auto zero, const auto& loops) {
        using T = decltype(zero);
        const T* v = data<T>(values, "values", {any, any});
        const std::size_t n = values.shape(0), R = values.shape(1);
        Int64* found = data<Int64>(numbers, "numbers", {n, any});
        const std::size_t count = numbers.shape(1);
        if (count < 1 || count > R) throw nb::value_error("numbers must have 1 to R columns.");
        keep_apart({{"numbers", numbers}}, {{"values", values}});
        if (n == 0) return;
        nb::gil_scoped_release release;
        std::vector<T> best(count);
        loops.smallest(v, n, R, count, best.data(), found);
    });
}

void nearest_into(const Input& X, const Input& P, const Output& numbers, const Output& distances) {
    by_type(X, "X", [&](auto zero, const auto& loops) {
        using T = decltype(zero);
        const T* x = data<T>(X, "X", {any, any});
        const std::size_t n = X.shape(0), d = X.shape(1);
        const T* p = data<T>(P, "P", {any, d});
        const std::size_t R = P.shape(0);
        Int64* found = data<Int64>(numbers, "numbers", {n, any});
        const std::size_t count = numbers.shape(1);
        double* out = data<double>(distances, "distances", {n, count});
        if (count < 1 || count > R) throw nb::value_error("numbers must have 1 to R columns.");
        keep_apart({{"numbers", numbers}, {"distances", distances}}, {{"X", X}, {"P", P}});
        if (n == 0) return;
        nb::gil_scoped_release release;
        std::vector<Int64> candidates(R + 1);
        if (n <= few_rows || d == 0) {
            loops.nearest(x, n, p, R, d, nullptr, count, candidates.data(), found, out);
            return;
        }
        const std::vector<float> points(p, p + R * d), scale(d, 1.0f);
        const Layout<float> layout(points.data(), R, scale, std::vector<float>(d, 0.0f));
        loops.nearest(x, n, p, R, d, &layout.pivots, count, candidates.data(), found, out);
    });
}

void distances_into(const Input& X, const Input& P, const Output& numbers,
                    const Output& distances) {
    by_type(X, "X", [&](auto zero, const auto& loops) {
        using T = decltype(zero);
        const T* x = data<T>(X, "X", {any, any});
        const std::size_t n = X.shape(0), d = X.shape(1);
        const T* p = data<T>(P, "P", {any, d});
        const std::size_t R = P.shape(0);
        Int64* found = data<Int64>(numbers, "numbers", {n, any});
        const std::size_t count = numbers.shape(1);
        double* out = data<double>(distances, "distances", {n, count});
        keep_apart({{"numbers", numbers}, {"distances", distances}}, {{"X", X}, {"P", P}});
        for (std::size_t i = 0; i < n * count; ++i) {
            if (found[i] < 0 || found[i] >= static_cast<Int64>(R)) {
                throw nb::value_error("a number is out of range.");
            }
        }
        nb::gil_scoped_release release;
        loops.distances_to(x, n, d, p, count, found, out);
    });
}

}  // namespace

void bind_neighbours(nb::module_& module) {
    module.def("smallest_into", &smallest_into, nb::arg("values").noconvert(),
               nb::arg("numbers").noconvert());
    module.def("nearest_into", &nearest_into, nb::arg("X").noconvert(), nb::arg("P").noconvert(),
               nb::arg("numbers").noconvert(), nb::arg("distances").noconvert());
    module.def("distances_into", &distances_into, nb::arg("X").noconvert(),
               nb::arg("P").noconvert(), nb::arg("numbers").noconvert(),
               nb::arg("distances").noconvert());
}

}  // namespace sparseksc
