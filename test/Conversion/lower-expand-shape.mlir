// RUN: rlx-opt %s --rlx-lower-expand-shape --split-input-file | FileCheck %s

// Two dynamic dims of one group: a view with the strides of the sizes.
// CHECK-LABEL: func.func @batch_and_sequence
// CHECK-SAME:    %[[X:.+]]: memref<?x8xf32>, %[[B:.+]]: index, %[[S:.+]]: index
// CHECK:         %[[ROW:.+]] = arith.muli %{{.+}}, %[[S]]
// CHECK:         %[[VIEW:.+]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%[[B]], %[[S]], 8], strides: [%[[ROW]], 8, 1]
// CHECK:         memref.cast %[[VIEW]] : {{.+}} to memref<?x?x8xf32>
func.func @batch_and_sequence(%x: memref<?x8xf32>, %b: index, %s: index) -> memref<?x?x8xf32> {
  %0 = memref.expand_shape %x [[0, 1], [2]] output_shape [%b, %s, 8] : memref<?x8xf32> into memref<?x?x8xf32>
  return %0 : memref<?x?x8xf32>
}

// -----

// One dynamic dim in a group is MLIR's.
// CHECK-LABEL: func.func @one_each
// CHECK:         memref.expand_shape
func.func @one_each(%x: memref<?x?xf32>, %a: index, %b: index) -> memref<?x2x?x2xf32> {
  %0 = memref.expand_shape %x [[0, 1], [2, 3]] output_shape [%a, 2, %b, 2] : memref<?x?xf32> into memref<?x2x?x2xf32>
  return %0 : memref<?x2x?x2xf32>
}
