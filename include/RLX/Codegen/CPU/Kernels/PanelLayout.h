// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef RLX_CODEGEN_CPU_KERNELS_PANELLAYOUT_H
#define RLX_CODEGEN_CPU_KERNELS_PANELLAYOUT_H

#include <cstdint>

namespace rlx {

/// The layout `panel64` of a K x N f32 matrix, which every CPU class shares:
///
///   for each block of kKBlock rows (the last one K % kKBlock)
///     for each panel of kPanelWidth columns (the last one N % kPanelWidth)
///       the block's rows, each as wide as the panel, without gaps
///
/// So it holds exactly K * N elements, in the order in which a product reads
/// them, and every full panel starts at a multiple of 64 bytes from the base.
constexpr int64_t kPanelWidth = 64;
constexpr int64_t kKBlock = 512;

/// Number of panels of a matrix with `n` columns.
constexpr int64_t panelCount(int64_t n) {
  return (n + kPanelWidth - 1) / kPanelWidth;
}

/// Columns of panel `panel` of a matrix with `n` columns.
constexpr int64_t panelWidth(int64_t n, int64_t panel) {
  int64_t left = n - panel * kPanelWidth;
  return left < kPanelWidth ? left : kPanelWidth;
}

/// Rows of the K block that holds row `row` of a matrix with `k` rows.
constexpr int64_t kBlockRows(int64_t k, int64_t row) {
  int64_t left = k - row / kKBlock * kKBlock;
  return left < kKBlock ? left : kKBlock;
}

/// Element offset of `row`, `column` of a K x N matrix in layout `panel64`.
constexpr int64_t panelOffset(int64_t k, int64_t n, int64_t row,
                              int64_t column) {
  int64_t block = row / kKBlock, panel = column / kPanelWidth;
  return block * kKBlock * n + panel * kPanelWidth * kBlockRows(k, row) +
         row % kKBlock * panelWidth(n, panel) + column % kPanelWidth;
}

} // namespace rlx

#endif
