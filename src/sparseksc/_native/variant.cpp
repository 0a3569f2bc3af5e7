// The table of loops for one instruction set. The build compiles this file once for each, with
// SPARSEKSC_VARIANT set to its name. The part of a universal build that is not for x86 has the
// baseline alone.
#define SPARSEKSC_IS_baseline 1
#define SPARSEKSC_JOIN_(left, right) left##right
#define SPARSEKSC_JOIN(left, right) SPARSEKSC_JOIN_(left, right)
#include "portable.hpp"

#if defined(SPARSEKSC_X86) || SPARSEKSC_JOIN(SPARSEKSC_IS_, SPARSEKSC_VARIANT)

#include "clusters.hpp"
#include "neighbours.hpp"
#include "reach.hpp"
#include "selection.hpp"
#include "sparse.hpp"
#include "tiles.hpp"
#include "wide.hpp"

namespace sparseksc {
namespace SPARSEKSC_VARIANT {

#define SPARSEKSC_STRING_(text) #text
#define SPARSEKSC_STRING(text) SPARSEKSC_STRING_(text)

// In the order of the enumeration Kernel.
#define SPARSEKSC_EACH(loop, T) {loop<Rbf, T>, loop<Laplacian, T>, loop<Chi2, T>, loop<WideRbf, T>}
#define SPARSEKSC_LOOPS(T)                                                              \
    {                                                                                   \
        SPARSEKSC_EACH(tile, T),                                                        \
        SPARSEKSC_EACH(scores, T),                                                      \
        SPARSEKSC_EACH(column_sums, T),                                                 \
        SPARSEKSC_EACH(moments, T),                                                     \
        {reach<Rbf, T>, reach<Laplacian, T>, reach<Chi2, T>},                           \
        {greedy<Rbf, T>, greedy<Laplacian, T>, greedy<Chi2, T>},                        \
        exponential<T>, smallest<T>, nearest<T>, distances_to<T>, sparse_products<T>    \
    }

extern const Variant variant;
const Variant variant = {SPARSEKSC_STRING(SPARSEKSC_VARIANT),
                         {refine, spread, assign, scatter},
                         SPARSEKSC_LOOPS(float),
                         SPARSEKSC_LOOPS(double)};

}  // namespace SPARSEKSC_VARIANT
}  // namespace sparseksc

#endif
