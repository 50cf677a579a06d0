kernel void k(read_only image2d_t image, sampler_t s, global float4* x) { x[0] = read_imagef(image, s, (int2)(0)); }
