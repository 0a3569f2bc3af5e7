// Arrays as they come from Python: checked for type and shape before anybody reads them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
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
    if (array.size() > 0 && reinterpret_cast<std::uintptr_t>(array.data()) % alignof(T) != 0) {
        throw nb::value_error((std::string(name) + " must be aligned in memory.").c_str());
    }
    if constexpr (std::is_same_v<Array, Input>) return static_cast<const T*>(array.data());
    else return static_cast<T*>(array.data());
}

// The addresses that an array covers.
struct Range {
    const char* name;
    std::uintptr_t begin, end;

    template <typename Array>
    Range(const char* name, const Array& array)
        : name(name),
          begin(reinterpret_cast<std::uintptr_t>(array.data())),
          end(begin + array.nbytes()) {}

    bool overlaps(const Range& other) const {
        return std::max(begin, other.begin) < std::min(end, other.end);
    }
};

// The loops read inputs after they have written outputs: each output needs memory of its own.
inline void keep_apart(std::initializer_list<Range> outputs, std::initializer_list<Range> inputs) {
    const auto check = [](const Range& output, const Range& other) {
        if (!output.overlaps(other)) return;
        throw nb::value_error(
            (std::string(output.name) + " must not share memory with " + other.name + ".").c_str());
    };
    for (auto output = outputs.begin(); output != outputs.end(); ++output) {
        for (auto other = output + 1; other != outputs.end(); ++other) check(*output, *other);
        for (const Range& input : inputs) check(*output, input);
    }
}

// Lets Ctrl-C end a loop whose length is not bounded by the size of an array.
// For calls that have released the GIL.
inline void check_signals() {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace sparseksc
