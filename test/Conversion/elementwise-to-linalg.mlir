// RUN: rlx-opt %s --rlx-to-linalg --split-input-file --verify-diagnostics | FileCheck %s

// An op becomes one generic with its scalar formula.
// CHECK-DAG:   #[[$SAME:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @unary
// CHECK:         %[[EMPTY:.+]] = tensor.empty() : tensor<4x3xf32>
// CHECK:         linalg.generic {indexing_maps = [#[[$SAME]], #[[$SAME]]], iterator_types = ["parallel", "parallel"]}
// CHECK:         ^bb0(%[[X:.+]]: f32, %{{.+}}: f32):
// CHECK-NEXT:      %[[Y:.+]] = math.exp %[[X]] : f32
// CHECK-NEXT:      linalg.yield %[[Y]] : f32
func.func @unary(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = rlx.exp %x : tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// Size 1 and absent dims are read at the same place for all.
// CHECK-DAG:   #[[$ROWS:.+]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-DAG:   #[[$COLS:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG:   #[[$ALL:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @broadcast
// CHECK:         linalg.generic {indexing_maps = [#[[$ROWS]], #[[$COLS]], #[[$ALL]]]
// CHECK:           arith.mulf
func.func @broadcast(%x: tensor<4x1xf32>, %y: tensor<3xf32>) -> tensor<4x3xf32> {
  %0 = rlx.mul %x, %y : tensor<4x1xf32>, tensor<3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// Equal symbols are one size and need no check.
// CHECK-LABEL: func.func @same_symbol
// CHECK-SAME:    %[[X:.+]]: tensor<?x3xf32> {{.+}}, %[[Y:.+]]: tensor<?x3xf32>
// CHECK:         %[[B:.+]] = tensor.dim %[[X]]
// CHECK-NOT:     tensor.dim
// CHECK-NOT:     cf.assert
// CHECK:         tensor.empty(%[[B]])
func.func @same_symbol(%x: tensor<?x3xf32> {rlx.dims = [@batch, 3]},
                       %y: tensor<?x3xf32> {rlx.dims = [@batch, 3]}) -> tensor<?x3xf32> {
  %0 = rlx.add %x, %y : tensor<?x3xf32>, tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// Two sizes that need not be equal are checked once, before anything runs, and
// are one from there on.
// CHECK-LABEL: func.func @different_symbols
// CHECK-SAME:    %[[X:.+]]: tensor<?x3xf32> {{.+}}, %[[Y:.+]]: tensor<?x3xf32>
// CHECK:         %[[A:.+]] = tensor.dim %[[X]]
// CHECK:         %[[B:.+]] = tensor.dim %[[Y]]
// CHECK:         %[[EQ:.+]] = arith.cmpi eq, %[[A]], %[[B]]
// CHECK:         cf.assert %[[EQ]], "rlx.add: dim 0 of the lhs and dim 0 of the rhs must be equal"
// CHECK-NOT:     cf.assert
// CHECK:         linalg.generic
func.func @different_symbols(%x: tensor<?x3xf32> {rlx.dims = [@a, 3]},
                             %y: tensor<?x3xf32> {rlx.dims = [@b, 3]}) -> tensor<?x3xf32> {
  %0 = rlx.add %x, %y : tensor<?x3xf32>, tensor<?x3xf32>
  %1 = rlx.mul %0, %y : tensor<?x3xf32>, tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}

// -----

// A `?` that meets a number is checked to be that number; one that meets a 1 is
// not. The user's name is in the message.
// CHECK-LABEL: func.func @meets_number
// CHECK:         cf.assert %{{.+}}, "'sum' (rlx.add): dim 0 of the lhs and dim 0 of the rhs must be equal"
// CHECK-NOT:     cf.assert
// CHECK:         return
func.func @meets_number(%x: tensor<?xf32>, %y: tensor<4xf32>, %z: tensor<1xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
  %0 = rlx.add %x, %y : tensor<?xf32>, tensor<4xf32> loc("sum")
  %1 = rlx.add %x, %z : tensor<?xf32>, tensor<1xf32>
  return %0, %1 : tensor<4xf32>, tensor<?xf32>
}

// -----

// relu keeps NaN: it replaces what is below zero.
// CHECK-LABEL: func.func @relu
// CHECK:         %[[LT:.+]] = arith.cmpf olt, %[[X:.+]], %[[ZERO:.+]] : f32
// CHECK-NEXT:    arith.select %[[LT]], %[[ZERO]], %[[X]] : f32
func.func @relu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = rlx.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Half floats compute in f32; bf16 is rounded by integer ops because LLVM would
// call a function.
// CHECK-LABEL: func.func @halves
// CHECK:         arith.extf %{{.+}} : f16 to f32
// CHECK:         arith.addf %{{.+}} : f32
// CHECK:         arith.truncf %{{.+}} : f32 to f16
// CHECK:         arith.bitcast %{{.+}} : bf16 to i16
// CHECK:         math.sqrt %{{.+}} : f32
// CHECK-NOT:     arith.truncf
// CHECK:         arith.bitcast %{{.+}} : i16 to bf16
func.func @halves(%x: tensor<4xf16>, %y: tensor<4xbf16>) -> (tensor<4xf16>, tensor<4xbf16>) {
  %0 = rlx.add %x, %x : tensor<4xf16>, tensor<4xf16>
  %1 = rlx.sqrt %y : tensor<4xbf16>
  return %0, %1 : tensor<4xf16>, tensor<4xbf16>
}

// -----

// Unsigned integers compute as signless ones, by the unsigned ops.
// CHECK-LABEL: func.func @unsigned
// CHECK:         builtin.unrealized_conversion_cast %{{.+}} : ui8 to i8
// CHECK:         arith.divui %{{.+}} : i8
// CHECK:         builtin.unrealized_conversion_cast %{{.+}} : i8 to ui8
func.func @unsigned(%x: tensor<4xui8>, %y: tensor<4xui8>) -> tensor<4xui8> {
  %0 = rlx.div %x, %y : tensor<4xui8>, tensor<4xui8>
  return %0 : tensor<4xui8>
}

// -----

// Literals become constants; weights stay.
// CHECK-LABEL: func.func @constants
// CHECK:         arith.constant dense<2.000000e+00> : tensor<f32>
// CHECK:         rlx.constant "w"
// CHECK:         rlx.param "v"
func.func @constants() -> (tensor<f32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = rlx.constant dense<2.0> : tensor<f32>
  %1 = rlx.constant "w" dense<[1.0, 2.0]> : tensor<2xf32>
  %2 = rlx.param "v" : tensor<2xf32>
  return %0, %1, %2 : tensor<f32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// Products stay, and their sizes are followed.
// CHECK-LABEL: func.func @through_matmul
// CHECK-SAME:    %[[X:.+]]: tensor<?x8xf32>
// CHECK:         %[[B:.+]] = tensor.dim %[[X]]
// CHECK-NOT:     cf.assert
// CHECK:         rlx.linear
// CHECK:         tensor.empty(%[[B]]) : tensor<?x4xf32>
func.func @through_matmul(%x: tensor<?x8xf32> {rlx.dims = [@batch, 8]}) -> tensor<?x4xf32> {
  %w = rlx.param "w" : tensor<4x8xf32>
  %0 = rlx.linear %x, %w : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
  %1 = rlx.exp %0 : tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// -----

// An op of another dialect has its sizes read behind it.
// CHECK-LABEL: func.func @foreign
// CHECK:         %[[Y:.+]] = builtin.unrealized_conversion_cast
// CHECK:         %[[N:.+]] = tensor.dim %[[Y]]
// CHECK:         tensor.empty(%[[N]])
func.func @foreign(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = builtin.unrealized_conversion_cast %x : tensor<?xf32> to tensor<?xf32>
  %1 = rlx.exp %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// So has what a region carries.
// CHECK-LABEL: func.func @region
// CHECK:         scf.for {{.+}} iter_args(%[[CARRIED:.+]] = %{{.+}})
// CHECK:           %[[N:.+]] = tensor.dim %[[CARRIED]]
// CHECK:           tensor.empty(%[[N]])
func.func @region(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %x) -> tensor<?xf32> {
    %1 = rlx.exp %carried : tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}

// -----

// Formulas that know the bits of f32 refuse f64 by name; arithmetic does not.
func.func @wide(%x: tensor<4xf64>) -> tensor<4xf64> {
  // expected-error @below {{'rlx.gelu' op has no formula for f64; rlx.cast to f32}}
  %0 = rlx.gelu %x : tensor<4xf64>
  // expected-error @below {{'rlx.exp' op has no formula for f64; rlx.cast to f32}}
  %1 = rlx.exp %0 : tensor<4xf64>
  // expected-error @below {{'rlx.mod' op has no formula for f64; rlx.cast to f32}}
  %2 = rlx.mod %1, %x : tensor<4xf64>, tensor<4xf64>
  %3 = rlx.add %2, %x : tensor<4xf64>, tensor<4xf64>
  return %3 : tensor<4xf64>
}
