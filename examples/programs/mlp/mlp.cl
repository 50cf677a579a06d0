#define TILE 16

// Computes a dense layer: output = input * weights + bias, with -DGELU through GELU. One work-item per element of the
// output, in tiles of local memory.
__kernel void dense(__global const float* input, __global const float* weights, __global const float* bias,
                    __global float* output, int batch, int inputs, int outputs) {
  __local float a[TILE][TILE];
  __local float b[TILE][TILE];
  const int column = get_global_id(0), row = get_global_id(1);
  const int tx = get_local_id(0), ty = get_local_id(1);

  float sum = 0.0f;
  for (int k = 0; k < inputs; k += TILE) {
    a[ty][tx] = row < batch && k + tx < inputs ? input[row * inputs + k + tx] : 0.0f;
    b[ty][tx] = column < outputs && k + ty < inputs ? weights[(k + ty) * outputs + column] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; ++i) {
      sum += a[ty][i] * b[i][tx];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  if (row < batch && column < outputs) {
    sum += bias[column];
#ifdef GELU
    sum = 0.5f * sum * (1.0f + erf(sum * M_SQRT1_2_F));
#endif
    output[row * outputs + column] = sum;
  }
}

// Turns the scores of the classes into probabilities (softmax), one work-item per row.
__kernel void softmax(__global const float* scores, __global float* probabilities, int batch, int classes) {
  const int row = get_global_id(0);
  if (row >= batch) return;
  scores += row * classes;
  probabilities += row * classes;

  float most = scores[0];
  for (int c = 1; c < classes; ++c) {
    most = fmax(most, scores[c]);
  }
  float sum = 0.0f;
  for (int c = 0; c < classes; ++c) {
    sum += exp(scores[c] - most);
  }
  for (int c = 0; c < classes; ++c) {
    probabilities[c] = exp(scores[c] - most) / sum;
  }
}
