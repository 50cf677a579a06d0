// C = A B in two ways: square tiles, and 4 x 4 elements per work-item in registers.
#define TS 16

__kernel void matmul_tiled(const int M, const int N, const int K, const __global float* A, const __global float* B,
                           __global float* C) {
  const int row = get_local_id(1), col = get_local_id(0);
  const int globalRow = TS * get_group_id(1) + row;
  const int globalCol = TS * get_group_id(0) + col;
  __local float Asub[TS][TS];
  __local float Bsub[TS][TS];
  float acc = 0.0f;
  const int numTiles = (K + TS - 1) / TS;
  for (int t = 0; t < numTiles; t++) {
    const int k = TS * t;
    Asub[row][col] = globalRow < M && k + col < K ? A[globalRow * K + k + col] : 0.0f;
    Bsub[row][col] = globalCol < N && k + row < K ? B[(k + row) * N + globalCol] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TS; i++) {
      acc += Asub[row][i] * Bsub[i][col];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (globalRow < M && globalCol < N) {
    C[globalRow * N + globalCol] = acc;
  }
}

#undef TS
#define TS 32 // another tile, of the same name
#define WPT 4 // work per thread in either direction
#define RTS (TS / WPT)

__attribute__((reqd_work_group_size(RTS, RTS, 1)))
__kernel void matmul_registers(const int M, const int N, const int K, const __global float* A,
                               const __global float* B, __global float* C) {
  __local float Asub[TS][TS + 1];
  __local float Bsub[TS][TS + 1];
  float acc[WPT][WPT];
  const int tidm = get_local_id(0), tidn = get_local_id(1);
  const int offsetM = TS * get_group_id(0), offsetN = TS * get_group_id(1);
  for (int wm = 0; wm < WPT; wm++) {
    for (int wn = 0; wn < WPT; wn++) {
      acc[wm][wn] = 0.0f;
    }
  }
  for (int k = 0; k < K; k += TS) {
    for (int l = tidn * RTS + tidm; l < TS * TS; l += RTS * RTS) {
      const int r = l / TS, c = l % TS;
      Asub[r][c] = offsetM + r < M && k + c < K ? A[(offsetM + r) * K + k + c] : 0.0f;
      Bsub[r][c] = k + r < K && offsetN + c < N ? B[(k + r) * N + offsetN + c] : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TS; i++) {
      float Breg[WPT];
      for (int wn = 0; wn < WPT; wn++) {
        Breg[wn] = Bsub[i][tidn + wn * RTS];
      }
      for (int wm = 0; wm < WPT; wm++) {
        const float Areg = Asub[tidm + wm * RTS][i];
        for (int wn = 0; wn < WPT; wn++) {
          acc[wm][wn] += Areg * Breg[wn];
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int wm = 0; wm < WPT; wm++) {
    for (int wn = 0; wn < WPT; wn++) {
      const int r = offsetM + tidm + wm * RTS, c = offsetN + tidn + wn * RTS;
      if (r < M && c < N) {
        C[r * N + c] = acc[wm][wn];
      }
    }
  }
}

// D = |A - B|, largest difference per row.
__kernel void row_difference(__global const float* a, __global const float* b, __global float* d, int columns) {
  const int row = get_global_id(0);
  float most = 0.0f;
  for (int c = 0; c < columns; ++c) {
    most = fmax(most, fabs(a[row * columns + c] - b[row * columns + c]));
  }
  d[row] = most;
}
