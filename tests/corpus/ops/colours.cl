// RGB to YUV and back in fixed point, one uchar4 per pixel.
uchar4 from_yuv(uchar4);

__kernel void rgb_to_yuv(__global const uchar4 *rgb, __global uchar4 *yuv, uint n)
{
    uint i = get_global_id(0);
    if (i >= n) return;
    const int4 c = convert_int4(rgb[i]);
    const int y = (66 * c.x + 129 * c.y + 25 * c.z + 128) >> 8;
    const int u = (-38 * c.x - 74 * c.y + 112 * c.z + 128) >> 8;
    const int v = (112 * c.x - 94 * c.y - 18 * c.z + 128) >> 8;
    yuv[i] = convert_uchar4_sat((int4)(y + 16, u + 128, v + 128, c.w));
}

uchar4 from_yuv(uchar4 p)
{
    const int c = 298 * (p.s0 - 16), d = p.s1 - 128, e = p.s2 - 128;
    return (uchar4)(convert_uchar3_sat((int3)(c + 409 * e + 128, c - 100 * d - 208 * e + 128, c + 516 * d + 128) >> 8),
                    p.s3);
}

__kernel void yuv_to_rgb(__global const uchar4 *yuv, __global uchar4 *rgb, uint n)
{
    uint i = get_global_id(0);
    if (i < n) rgb[i] = from_yuv(yuv[i]);
}

__kernel void largest_error(__global const uchar4 *a, __global const uchar4 *b, __global uint *error)
{
    const uint i = get_global_id(0);
    const uchar4 d = abs_diff(a[i], b[i]);
    atomic_max(error, (uint)max(d.x, max(d.y, d.z)));
}
