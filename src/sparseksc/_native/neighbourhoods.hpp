// Groups of rows that have the same pivots in reach.
//
// A narrow kernel is zero between most rows and pivots. Where that is so, pivots are put into an
// order in which they form compact regions, rows are grouped by the regions that they reach, and a
// group is computed with these pivots alone. The result for a row depends on nothing but itself
// and the pivots, unless groups are joined.
#pragma once

#include "layout.hpp"

namespace sparseksc {

// Orders numbers[0 .. count) so that each run of `size` of them is compact: halves are cut across
// the feature in which they are widest.
template <typename T>
void arrange(const T* P, const std::vector<T>& scale, std::uint32_t* numbers, std::size_t count,
             std::size_t size) {
    if (count <= size) return;
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
    const std::size_t half = ((count + size - 1) / size + 1) / 2 * size;
    std::nth_element(numbers, numbers + half, numbers + count,
                     [&](std::uint32_t a, std::uint32_t b) {
                         const T left = P[a * features + widest], right = P[b * features + widest];
                         return left < right || (left == right && a < b);
                     });
    arrange(P, scale, numbers, half, size);
    arrange(P, scale, numbers + half, count - half, size);
}

// Some rows, and the pivots that matter to them.
template <typename T>
struct Group {
    const T* X;
    std::size_t rows;
    const std::uint32_t* numbers;  // of the rows; null where the group is all of them
    const Pivots<T>& pivots;
    const Numbers& order;          // order[r] is the number of the pivot in place r

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
    const T* const P_;
    const std::vector<T> scale_;
    Numbers order_;
    Layout<T> layout_;
    std::vector<T> lower_, upper_;
    Regions<T> regions_{};  // without a region, all pivots matter to all rows

    // Regions are worth their cost where a row reaches less than this share of them.
    static constexpr double sparse_share = 0.5;

  public:
    Neighbourhoods(Kernel kernel, const T* P, std::size_t count, std::size_t features,
                   const double* inverse_bandwidth)
        : kernel_(kernel),
          P_(P),
          scale_(term_factors<T>(kernel, inverse_bandwidth, features)),
          order_(all_numbers(count)),
          layout_(Layout<T>::of(kernel, P, count, scale_)) {
        const auto finite = [](T value) { return std::isfinite(value); };
        if (kernel == wide_rbf) return;  // boxes in many dimensions are nearly everywhere
        if (count <= 2 * region_step || !std::all_of(P, P + count * features, finite)) return;
        if (!mostly_apart()) return;
        const std::size_t steps = (count + region_step - 1) / region_step;
        const std::size_t size = (steps + most_regions - 1) / most_regions * region_step;
        arrange(P, scale_, order_.data(), count, size);
        layout_ = Layout<T>(P, order_, scale_);
        enclose(size);
        if (share_in_reach() <= sparse_share) return;
        regions_ = {};
        order_ = all_numbers(count);
        layout_ = Layout<T>(P, order_, scale_);
    }
    Neighbourhoods(const Neighbourhoods&) = delete;
    Neighbourhoods& operator=(const Neighbourhoods&) = delete;

    // Calls work(Group) for groups of rows that reach the same regions. Groups are joined until
    // they have `least_rows` rows: then a row may meet pivots beyond its reach.
    template <typename Function>
    void each_group(const T* X, std::size_t rows, std::size_t least_rows, Function&& work) const {
        if (regions_.count == 0) {
            work(Group<T>{X, rows, nullptr, layout_.pivots, order_});
            return;
        }
        std::vector<std::uint64_t> keys(rows);
        loops<T>().reach[kernel_](X, rows, layout_.pivots, regions_, keys.data());
        Numbers numbers(rows), order;
        const std::vector<Part> parts = parts_of(keys, numbers);
        const std::size_t features = scale_.size();
        std::vector<T> gathered;
        for (std::size_t p = 0, begin = 0; p < parts.size();) {
            std::uint64_t key = 0;
            std::size_t count = 0;
            do {
                key |= parts[p].key;
                count += parts[p].rows;
            } while (++p < parts.size() && count < enough_rows(key, least_rows));
            gathered.resize(count * features);
            for (std::size_t i = 0; i < count; ++i) {
                std::copy_n(X + numbers[begin + i] * features, features,
                            gathered.data() + i * features);
            }
            order.clear();
            for (std::size_t r = 0; r < order_.size(); ++r) {
                if (key >> r / regions_.size & 1) order.push_back(order_[r]);
            }
            const Layout<T> layout(P_, order, scale_);
            work(Group<T>{gathered.data(), count, numbers.data() + begin, layout.pivots, order});
            begin += count;
        }
    }

  private:
    // Where groups are joined, the sums over one of most pivots are large, and should be worth it.
    std::size_t enough_rows(std::uint64_t key, std::size_t least_rows) const {
        return least_rows > 1 && 2 * bits_of(key) > regions_.count ? 16 * least_rows : least_rows;
    }

    static std::size_t bits_of(std::uint64_t key) {
        std::size_t bits = 0;
        for (; key; key &= key - 1) ++bits;
        return bits;
    }

    struct Part {
        std::uint64_t key;
        std::size_t rows;
    };

    // Orders the numbers of the rows by their keys.
    static std::vector<Part> parts_of(const std::vector<std::uint64_t>& keys,
                                      Numbers& numbers) {
        constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
        std::size_t bits = 6;
        while ((std::size_t(1) << bits) < 2 * keys.size()) ++bits;
        Numbers slots(std::size_t(1) << bits, none), part_of(keys.size());
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
        Numbers rank = all_numbers(found.size());
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
    std::vector<T> some_pivots(std::size_t most) const {
        const std::size_t features = scale_.size(), count = order_.size();
        const std::size_t step = (count + most - 1) / most;
        std::vector<T> some;
        for (std::size_t r = 0; r < count; r += step) {
            some.insert(some.end(), P_ + r * features, P_ + (r + 1) * features);
        }
        return some;
    }

    // Whether most pairs of some pivots are out of each other's reach. If not, regions cannot be.
    bool mostly_apart() const {
        const std::vector<T> some = some_pivots(32);
        const std::size_t count = some.size() / scale_.size();
        const Layout<T> layout(some.data(), all_numbers(count), scale_);
        const T least = std::exp(-reach_depth<T>);
        std::vector<T> row(layout.width()), tile(count * count);
        loops<T>().tile[kernel_](some.data(), count, layout.pivots, row.data(), tile.data());
        const auto within = std::count_if(tile.begin(), tile.end(), [=](T k) { return k >= least; });
        return static_cast<double>(within) <= sparse_share * static_cast<double>(tile.size());
    }

    // Puts boxes around the regions.
    void enclose(std::size_t size) {
        const std::size_t features = scale_.size(), pivots = order_.size();
        const std::size_t count = (pivots + size - 1) / size;
        lower_.assign(count * features, std::numeric_limits<T>::max());
        upper_.assign(count * features, std::numeric_limits<T>::lowest());
        for (std::size_t r = 0; r < pivots; ++r) {
            const T* pivot = P_ + order_[r] * features;
            T* lower = lower_.data() + r / size * features;
            T* upper = upper_.data() + r / size * features;
            for (std::size_t f = 0; f < features; ++f) {
                lower[f] = std::min(lower[f], pivot[f]);
                upper[f] = std::max(upper[f], pivot[f]);
            }
        }
        regions_ = {lower_.data(), upper_.data(), count, size};
    }

    // The mean share of the regions that some pivots reach.
    double share_in_reach() const {
        const std::vector<T> some = some_pivots(128);
        const std::size_t count = some.size() / scale_.size();
        std::vector<std::uint64_t> keys(count);
        loops<T>().reach[kernel_](some.data(), count, layout_.pivots, regions_, keys.data());
        std::size_t reached = 0;
        for (std::uint64_t key : keys) reached += bits_of(key);
        return static_cast<double>(reached) / static_cast<double>(count * regions_.count);
    }
};

}  // namespace sparseksc
