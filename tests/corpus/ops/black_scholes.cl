#define S_LOWER_LIMIT 10.0f
#define S_UPPER_LIMIT 100.0f
#define BLEND(low, high, t) ((low) * (t) + (high) * (1.0f - (t)))

/* Cumulative normal distribution, Abramowitz and Stegun 26.2.17. */
float normal_cdf(float x)
{
    const float a1 = 0.319381530f, a2 = -0.356563782f, a3 = 1.781477937f, a4 = -1.821255978f, a5 = 1.330274429f;
    const float ax = fabs(x), k = 1.0f / (1.0f + 0.2316419f * ax);
    const float tail = 0.39894228f * exp(-0.5f * ax * ax) * k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5))));
    return x < 0.0f ? tail : 1.0f - tail;
}

__kernel void black_scholes(__global const float4 *randoms, __global float4 *calls, __global float4 *puts)
{
    const size_t i = get_global_id(0);
    const float4 r = randoms[i];
    float call[4], put[4], t[4];
    vstore4(r, 0, t);
    for (int c = 0; c < 4; ++c) {
        const float s = BLEND(S_LOWER_LIMIT, S_UPPER_LIMIT, t[c]), strike = BLEND(10.0f, 100.0f, 1.0f - t[c]);
        const float years = BLEND(1.0f, 10.0f, t[c]), rate = BLEND(0.01f, 0.05f, t[c]), sigma = BLEND(0.01f, 0.10f, t[c]);
        const float spread = sigma * sqrt(years);
        const float d1 = (log(s / strike) + (rate + 0.5f * sigma * sigma) * years) / spread, d2 = d1 - spread;
        const float discounted = strike * exp(-rate * years);
        call[c] = s * normal_cdf(d1) - discounted * normal_cdf(d2);
        put[c] = discounted * normal_cdf(-d2) - s * normal_cdf(-d1);
    }
    calls[i] = vload4(0, call);
    puts[i] = (float4)(put[0], put[1], put[2], put[3]);
}
