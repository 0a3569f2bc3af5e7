// Arrays as they come from Python: checked for type and shape before anybody reads them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>

#include "kernels.hpp"

namespace sparseksc {

namespace nb = nanobind;

// The loops that suit this machine; chosen when the module is imported.
extern const Variant* active;

using Input = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Output = nb::ndarray<nb::c_contig, nb::device::cpu>;

// `any` stands for a size that is not prescribed.
constexpr std::size_t any = std::numeric_limits<std::size_t>::max();

template <typename T, typename Array>
auto* data(const Array& array, const char* name, std::initializer_list<std::size_t> shape) {
    if (array.dtype() != nb::dtype<T>()) {
        const char* wanted = std::is_same_v<T, float>    ? "float32"
                             : std::is_same_v<T, double> ? "float64"
                                                         : "int64";
        throw nb::type_error((std::string(name) + " must have the type " + wanted +
                              " here.").c_str());
    }
    bool fits = array.ndim() == shape.size();
    std::size_t axis = 0;
    for (std::size_t size : shape) {
        if (!fits) break;
        fits = size == any || array.shape(axis) == size;
        ++axis;
    }
    if (!fits) throw nb::value_error((std::string(name) + " has the wrong shape.").c_str());
    if constexpr (std::is_same_v<Array, Input>) return static_cast<const T*>(array.data());
    else return static_cast<T*>(array.data());
}

}  // namespace sparseksc
