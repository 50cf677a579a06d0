kernel void k(global float3* a, constant ulong8* b, __global uchar* restrict c, const int4 d) {
  float3 v = vload3(0, (global float*)a);
  a[0].xyz = v.zyx; a[1].s012 = (float3)(1.0f, v.xy); c[0] = convert_uchar_sat_rte(b[0].s7) << 2 >> 1;
  int x = d.x ? d.y : d.z, *p = &x, (*q)[2] = 0; p++;
  do { switch (x) { case 1: break; default: goto end; } } while (0);
end:;
}
