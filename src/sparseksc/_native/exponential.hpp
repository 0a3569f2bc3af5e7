// exp(-a) for a >= 0, without branches, so that loops over it are vectorised.
//
//   n = round(-a / ln 2),   r = a + n ln 2,   exp(-a) = 2^n exp(-r),   |r| <= ln 2 / 2
//
// Rounding is done by adding a number so large that the sum has no room for fractional bits; the
// low bits of the sum then hold n. ln 2 is subtracted in two parts, the first with enough trailing
// zeros for n times it to be exact. The polynomial 1 - r + r^2 q(r) interpolates exp(-r) in
// Chebyshev nodes; its relative error is 1.2e-15 (degree 10) and 1.0e-8 (degree 6).
// Results below the smallest normal number are 0; a NaN stays a NaN; 0 gives exactly 1.
#pragma once

#include <cstdint>

#include "portable.hpp"

namespace sparseksc {
namespace {

inline double exp_minus(double a) {
    constexpr double inverse_ln2 = 0x1.71547652b82fep+0;
    constexpr double ln2_high = 0x1.62e42feep-1;
    constexpr double ln2_low = 0x1.a39ef35793c76p-33;
    constexpr double shift = 0x1.8p52 + 1023.0;  // brings the bias of the exponent along
    constexpr double last = 708.396;             // exp(-last) is still a normal number

    const double t = shift - a * inverse_ln2;
    const double n = t - shift;
    double r = a + n * ln2_high;
    r = r + n * ln2_low;
    const double r2 = r * r;
    double even = 0x1.2880411bad1aap-22;
    double odd = -0x1.72c72ca338df0p-19;
    even = even * r2 + 0x1.a019c9a5652d3p-16;
    odd = odd * r2 - 0x1.a019ada3609f3p-13;
    even = even * r2 + 0x1.6c16c1738ff55p-10;
    odd = odd * r2 - 0x1.1111111c478ebp-7;
    even = even * r2 + 0x1.5555555554cb7p-5;
    odd = odd * r2 - 0x1.5555555553b78p-3;
    even = even * r2 + 0.5;
    odd = odd * r2 - 1.0;
    const double q = even * r2 + (odd * r + 1.0);
    const std::uint64_t bits = same_bits<std::uint64_t>(t) << 52;
    const double value = q * same_bits<double>(bits);
    return a > last ? 0.0 : value;
}

inline float exp_minus(float a) {
    constexpr float inverse_ln2 = 0x1.715476p+0f;
    constexpr float ln2_high = 0x1.63p-1f;
    constexpr float ln2_low = -0x1.bd0106p-13f;
    constexpr float shift = 0x1.8p23f + 127.0f;
    constexpr float last = 87.336f;

    const float t = shift - a * inverse_ln2;
    const float n = t - shift;
    float r = a + n * ln2_high;
    r = r + n * ln2_low;
    float q = 0x1.6d1109p-10f;
    q = q * r - 0x1.120b6ep-7f;
    q = q * r + 0x1.555519p-5f;
    q = q * r - 0x1.5554dcp-3f;
    q = q * r + 0.5f;
    q = q * r - 1.0f;
    q = q * r + 1.0f;
    const std::uint32_t bits = same_bits<std::uint32_t>(t) << 23;
    const float value = q * same_bits<float>(bits);
    return a > last ? 0.0f : value;
}

}  // namespace
}  // namespace sparseksc
