// The pivots as the loops want them, and the groups of rows that have the same pivots in reach.
//
// A narrow kernel is zero between most rows and pivots. Where that is so, pivots are put into an
// order in which blocks are compact, rows are grouped by the regions of pivots that they reach,
// and a group is computed with these pivots alone. The result for a row depends on nothing but
// itself and the pivots.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "arrays.hpp"

namespace sparseksc {

template <typename T>
const Loops<T>& loops() {
    if constexpr (std::is_same_v<T, float>) return active->single;
    else return active->full;
}

// The pivots in the layout of kernels.hpp, and the factor of each feature's term. Factors are kept
// between the smallest and the largest normal number: 0 times infinity would be NaN.
template <typename T>
struct Layout {
    std::vector<T> packed, scale, row;
    std::vector<std::uint32_t> order;  // order[r] is the number of the pivot in place r
    Pivots<T> pivots;

    Layout(Kernel kernel, const T* P, std::size_t count, std::size_t features,
           const double* inverse_bandwidth)
        : scale(features), order(count) {
        constexpr double lowest = std::numeric_limits<T>::min();
        constexpr double highest = std::numeric_limits<T>::max();
        for (std::size_t f = 0; f < features; ++f) {
            const double factor = inverse_bandwidth[f];
            if (!(factor > 0.0) || std::isinf(factor)) {
                throw nb::value_error("inverse_bandwidth must be positive and finite.");
            }
            const double scaled = kernel == rbf    ? std::sqrt(factor)
                                  : kernel == chi2 ? 0.25 * factor
                                                   : factor;
            scale[f] = static_cast<T>(std::clamp(scaled, lowest, highest));
        }
        std::iota(order.begin(), order.end(), 0u);
        const std::size_t blocks = (count + block<T> - 1) / block<T>;
        packed.resize(blocks * features * block<T>);
        row.resize(blocks * block<T>);
        pivots = {packed.data(), scale.data(), count, blocks, features};
        pack(P);
    }
    Layout(const Layout&) = delete;
    Layout& operator=(const Layout&) = delete;

    // Puts the pivots into their places; padding repeats the last one.
    void pack(const T* P) {
        const std::size_t features = scale.size(), last = order.size() - 1;
        for (std::size_t r = 0; r < row.size(); ++r) {
            const T* pivot = P + order[std::min(r, last)] * features;
            T* target = packed.data() + r / block<T> * features * block<T> + r % block<T>;
            for (std::size_t f = 0; f < features; ++f) target[f * block<T>] = pivot[f];
        }
    }
};

// Orders numbers[0 .. count) so that each run of block<T> of them is compact: halves are cut across
// the feature in which they are widest.
template <typename T>
void arrange(const T* P, const std::vector<T>& scale, std::uint32_t* numbers, std::size_t count) {
    if (count <= block<T>) return;
    const std::size_t features = scale.size();
    std::size_t widest = 0;
    T width = -1;
    for (std::size_t f = 0; f < features; ++f) {
        T low = P[numbers[0] * features + f], high = low;
        for (std::size_t r = 1; r < count; ++r) {
            low = std::min(low, P[numbers[r] * features + f]);
            high = std::max(high, P[numbers[r] * features + f]);
        }
        if ((high - low) * scale[f] > width) {
            width = (high - low) * scale[f];
            widest = f;
        }
    }
    const std::size_t blocks = (count + block<T> - 1) / block<T>;
    const std::size_t half = (blocks + 1) / 2 * block<T>;
    std::nth_element(numbers, numbers + half, numbers + count,
                     [&](std::uint32_t a, std::uint32_t b) {
                         const T left = P[a * features + widest], right = P[b * features + widest];
                         return left < right || (left == right && a < b);
                     });
    arrange(P, scale, numbers, half);
    arrange(P, scale, numbers + half, count - half);
}

// Some rows, and the pivots that matter to them.
template <typename T>
struct Group {
    const T* X;
    std::size_t rows;
    const std::uint32_t* numbers;     // of the rows; null where the group is all of them
    Pivots<T> pivots;
    const std::uint32_t* order;       // order[r] is the number of the pivot in place r

    std::size_t width() const { return pivots.blocks * block<T>; }

    // The values that belong to the rows of the group, kept in `store` where they must be copied.
    const double* gathered(const double* values, std::vector<double>& store) const {
        if (!numbers) return values;
        store.resize(rows);
        for (std::size_t i = 0; i < rows; ++i) store[i] = values[numbers[i]];
        return store.data();
    }
};

template <typename T>
class Neighbourhoods {
    const Kernel kernel_;
    Layout<T> layout_;
    std::vector<T> lower_, upper_;
    Regions<T> regions_{};  // without a region, all pivots matter to all rows

    // Regions are worth their cost where a row reaches less than this share of them.
    static constexpr double sparse_share = 0.5;

  public:
    Neighbourhoods(Kernel kernel, const T* P, std::size_t count, std::size_t features,
                   const double* inverse_bandwidth)
        : kernel_(kernel), layout_(kernel, P, count, features, inverse_bandwidth) {
        if (layout_.pivots.blocks < 3 || !mostly_apart(P)) return;
        arrange(P, layout_.scale, layout_.order.data(), count);
        layout_.pack(P);
        enclose();
        if (share_in_reach(P) <= sparse_share) return;
        regions_ = {};
        std::iota(layout_.order.begin(), layout_.order.end(), 0u);
        layout_.pack(P);
    }

    // Calls work(Group) for groups of rows that reach the same regions. Groups are joined until
    // they have `least_rows` rows: then a row may meet pivots beyond its reach.
    template <typename Function>
    void each_group(const T* X, std::size_t rows, std::size_t least_rows, Function&& work) const {
        const Pivots<T>& all = layout_.pivots;
        if (regions_.count == 0) {
            work(Group<T>{X, rows, nullptr, all, layout_.order.data()});
            return;
        }
        std::vector<std::uint64_t> keys(rows);
        loops<T>().reach[kernel_](X, rows, all, regions_, keys.data());
        std::vector<std::uint32_t> numbers(rows);
        const std::vector<Part> parts = parts_of(keys, numbers);
        const std::size_t features = all.features, size = features * block<T>;
        std::vector<T> gathered, packed;
        std::vector<std::uint32_t> order;
        for (std::size_t p = 0, begin = 0; p < parts.size();) {
            std::uint64_t key = 0;
            std::size_t count = 0;
            do {
                key |= parts[p].key;
                count += parts[p].rows;
            } while (++p < parts.size() && count < least_rows);
            gathered.resize(count * features);
            for (std::size_t i = 0; i < count; ++i) {
                std::copy_n(X + numbers[begin + i] * features, features,
                            gathered.data() + i * features);
            }
            packed.clear();
            order.clear();
            for (std::size_t b = 0; b < all.blocks; ++b) {
                if (!(key >> (b / regions_.blocks) & 1)) continue;
                packed.insert(packed.end(), all.packed + b * size, all.packed + (b + 1) * size);
                const std::size_t end = std::min((b + 1) * block<T>, all.count);
                order.insert(order.end(), layout_.order.begin() + b * block<T>,
                             layout_.order.begin() + end);
            }
            work(Group<T>{gathered.data(), count, numbers.data() + begin,
                          {packed.data(), all.scale, order.size(), packed.size() / size, features},
                          order.data()});
            begin += count;
        }
    }

  private:
    struct Part {
        std::uint64_t key;
        std::size_t rows;
    };

    // Orders the numbers of the rows by their keys.
    static std::vector<Part> parts_of(const std::vector<std::uint64_t>& keys,
                                      std::vector<std::uint32_t>& numbers) {
        constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
        std::size_t bits = 6;
        while ((std::size_t(1) << bits) < 2 * keys.size()) ++bits;
        std::vector<std::uint32_t> slots(std::size_t(1) << bits, none), part_of(keys.size());
        std::vector<Part> found;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            std::size_t h = keys[i] * 0x9E3779B97F4A7C15u >> (64 - bits);
            while (slots[h] != none && found[slots[h]].key != keys[i]) h = (h + 1) % slots.size();
            if (slots[h] == none) {
                slots[h] = static_cast<std::uint32_t>(found.size());
                found.push_back({keys[i], 0});
            }
            part_of[i] = slots[h];
            ++found[slots[h]].rows;
        }
        std::vector<std::uint32_t> rank(found.size());
        std::iota(rank.begin(), rank.end(), 0u);
        std::sort(rank.begin(), rank.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return found[a].key < found[b].key; });
        std::vector<std::size_t> begin(found.size());
        std::vector<Part> parts;
        std::size_t start = 0;
        for (std::uint32_t p : rank) {
            begin[p] = start;
            start += found[p].rows;
            parts.push_back(found[p]);
        }
        for (std::size_t i = 0; i < keys.size(); ++i) {
            numbers[begin[part_of[i]]++] = static_cast<std::uint32_t>(i);
        }
        return parts;
    }

    // Up to `most` pivots, spread over all of them, one after the other.
    std::vector<T> some_pivots(const T* P, std::size_t most) const {
        const std::size_t features = layout_.scale.size(), count = layout_.order.size();
        const std::size_t step = (count + most - 1) / most;
        std::vector<T> some;
        for (std::size_t r = 0; r < count; r += step) {
            some.insert(some.end(), P + r * features, P + (r + 1) * features);
        }
        return some;
    }

    // Whether most pairs of some pivots are out of each other's reach. If not, regions cannot be.
    bool mostly_apart(const T* P) const {
        const std::vector<T> some = some_pivots(P, 32);
        const std::size_t features = layout_.scale.size(), count = some.size() / features;
        const T least = std::exp(-reach_depth<T>);
        std::vector<T> row(layout_.row.size()), tile(count * layout_.order.size());
        loops<T>().tile[kernel_](some.data(), count, layout_.pivots, row.data(), tile.data());
        const auto within = std::count_if(tile.begin(), tile.end(), [=](T k) { return k >= least; });
        return static_cast<double>(within) <= sparse_share * static_cast<double>(tile.size());
    }

    // Puts boxes around the regions.
    void enclose() {
        const Pivots<T>& all = layout_.pivots;
        const std::size_t features = all.features;
        const std::size_t blocks = (all.blocks + most_regions - 1) / most_regions;
        const std::size_t count = (all.blocks + blocks - 1) / blocks;
        lower_.resize(count * features);
        upper_.resize(count * features);
        for (std::size_t g = 0; g < count; ++g) {
            for (std::size_t f = 0; f < features; ++f) {
                T low = std::numeric_limits<T>::max(), high = std::numeric_limits<T>::lowest();
                for (std::size_t b = g * blocks; b < std::min((g + 1) * blocks, all.blocks); ++b) {
                    const T* values = all.packed + (b * features + f) * block<T>;
                    low = std::min(low, *std::min_element(values, values + block<T>));
                    high = std::max(high, *std::max_element(values, values + block<T>));
                }
                lower_[g * features + f] = low;
                upper_[g * features + f] = high;
            }
        }
        regions_ = {lower_.data(), upper_.data(), count, blocks};
    }

    // The mean share of the regions that some pivots reach.
    double share_in_reach(const T* P) const {
        const std::vector<T> some = some_pivots(P, 128);
        const std::size_t count = some.size() / layout_.scale.size();
        std::vector<std::uint64_t> keys(count);
        loops<T>().reach[kernel_](some.data(), count, layout_.pivots, regions_, keys.data());
        std::size_t reached = 0;
        for (std::uint64_t key : keys) {
            for (; key; key &= key - 1) ++reached;
        }
        return static_cast<double>(reached) / static_cast<double>(count * regions_.count);
    }
};

}  // namespace sparseksc
