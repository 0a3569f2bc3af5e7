// The Python binding of the products of sparse rows.
#include "layout.hpp"

namespace sparseksc {

namespace {

// Whether these are places of values, the first of each line and the end of the last.
bool are_starts(const std::int64_t* starts, std::size_t lines, std::size_t values) {
    if (starts[0] < 0 || starts[lines] > static_cast<std::int64_t>(values)) return false;
    for (std::size_t i = 0; i < lines; ++i) {
        if (starts[i] > starts[i + 1]) return false;
    }
    return true;
}

template <typename T>
void products(const Input& starts, const Input& features, const Input& values,
              const Input& point_starts, const Input& numbers, const Input& point_values,
              const Input& places, const Input& dense, const Output& out) {
    T* target = data<T>(out, "out", {any, any});
    const std::size_t n = out.shape(0), count = out.shape(1);
    const std::int64_t* rows = data<std::int64_t>(starts, "starts", {n + 1});
    const T* v = data<T>(values, "values", {any});
    const std::int64_t* f = data<std::int64_t>(features, "features", {values.shape(0)});
    const std::int64_t* place = data<std::int64_t>(places, "places", {any});
    const std::size_t d = places.shape(0);
    const T* table = data<T>(dense, "dense", {any, count});
    const std::int64_t* lines = data<std::int64_t>(point_starts, "point_starts", {d + 1});
    const T* p = data<T>(point_values, "point_values", {any});
    const std::int64_t* number = data<std::int64_t>(numbers, "numbers", {point_values.shape(0)});
    keep_apart({{"out", out}}, {{"starts", starts},
                                {"features", features},
                                {"values", values},
                                {"point_starts", point_starts},
                                {"numbers", numbers},
                                {"point_values", point_values},
                                {"places", places},
                                {"dense", dense}});
    bool inside = are_starts(rows, n, values.shape(0)) && are_starts(lines, d, numbers.shape(0));
    if (inside) {
        nb::gil_scoped_release release;
        const SparsePoints<T> points{lines, number, p, place, table, d, dense.shape(0), count};
        inside = loops<T>().sparse_products(rows, f, v, n, points, target);
    }
    if (!inside) throw nb::value_error("a number is out of range.");
}

void sparse_products_into(const Input& starts, const Input& features, const Input& values,
                          const Input& point_starts, const Input& numbers,
                          const Input& point_values, const Input& places, const Input& dense,
                          const Output& out) {
    const auto call = [&](auto function) {
        function(starts, features, values, point_starts, numbers, point_values, places, dense, out);
    };
    if (values.dtype() == nb::dtype<double>()) call(products<double>);
    else if (values.dtype() == nb::dtype<float>()) call(products<float>);
    else throw nb::type_error("values must be float32 or float64.");
}

}  // namespace

void bind_sparse(nb::module_& module) {
    module.def("sparse_products_into", &sparse_products_into, nb::arg("starts").noconvert(),
               nb::arg("features").noconvert(), nb::arg("values").noconvert(),
               nb::arg("point_starts").noconvert(), nb::arg("numbers").noconvert(),
               nb::arg("point_values").noconvert(), nb::arg("places").noconvert(),
               nb::arg("dense").noconvert(), nb::arg("out").noconvert());
}

}  // namespace sparseksc
