// Uniform numbers by hashing row numbers: the same for a row wherever and whenever it is met.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>

#include "arrays.hpp"

namespace sparseksc {

namespace {

// The 53 leading bits of the SplitMix64 hash, moved into the middle of their interval of (0, 1).
inline double uniform(std::uint64_t row, std::uint64_t state) {
    std::uint64_t bits = (row + 1) * 0x9E3779B97F4A7C15u + state;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
    bits ^= bits >> 31;
    return (static_cast<double>(static_cast<std::int64_t>(bits >> 11)) + 0.5) * 0x1p-53;
}

void uniform_into(const Input& rows, std::uint64_t state, const Output& out) {
    const std::int64_t* numbers = data<std::int64_t>(rows, "rows", {any});
    const std::size_t count = rows.shape(0);
    double* target = data<double>(out, "out", {count});
    keep_apart({{"out", out}}, {{"rows", rows}});
    nb::gil_scoped_release release;
    for (std::size_t i = 0; i < count; ++i) {
        target[i] = uniform(static_cast<std::uint64_t>(numbers[i]), state);
    }
}

// The places of the rows whose numbers are above a bound, and these numbers, as long as there is
// room for them; without row numbers, the places are the numbers. Returns how many there are.
std::size_t ahead_into(const std::optional<Input>& rows, std::size_t count, std::uint64_t state,
                       double bound, const Output& places, const Output& hashes) {
    const std::int64_t* numbers =
        rows ? data<std::int64_t>(*rows, "rows", {count}) : nullptr;
    std::int64_t* place = data<std::int64_t>(places, "places", {any});
    const std::size_t room = places.shape(0);
    double* hash = data<double>(hashes, "hashes", {room});
    if (count > static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())) {
        throw nb::value_error("count must be below 2**63.");
    }
    if (rows) keep_apart({{"places", places}, {"hashes", hashes}}, {{"rows", *rows}});
    else keep_apart({{"places", places}, {"hashes", hashes}}, {});
    nb::gil_scoped_release release;
    std::size_t found = 0;
    for (std::size_t start = 0; start < count;) {
        if (start > 0) check_signals();
        const std::size_t stop = start + std::min(count - start, std::size_t(1) << 24);
        for (std::size_t i = start; i < stop; ++i) {
            const double drawn =
                uniform(numbers ? static_cast<std::uint64_t>(numbers[i]) : i, state);
            if (found < room) {  // written for every row: which ones pass cannot be predicted
                place[found] = static_cast<std::int64_t>(i);
                hash[found] = drawn;
            }
            found += drawn > bound;
        }
        start = stop;
    }
    return found;
}

}  // namespace

void bind_hashing(nb::module_& module) {
    using namespace nb::literals;
    module.def("uniform_into", &uniform_into, nb::arg("rows").noconvert(), "state"_a,
               nb::arg("out").noconvert());
    module.def("ahead_into", &ahead_into, nb::arg("rows").noconvert().none(), "count"_a, "state"_a,
               "bound"_a, nb::arg("places").noconvert(), nb::arg("hashes").noconvert());
}

}  // namespace sparseksc
