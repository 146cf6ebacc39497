// RUN: rlx-opt %s --rlx-name-constants --split-input-file | FileCheck %s
// RUN: rlx-opt %s --rlx-name-constants --split-input-file -o /dev/null \
// RUN:   --remarks-filter=weights 2>&1 | FileCheck %s --check-prefix=REMARK

// A constant too large for a literal is called after its op, else by number;
// equal ones share a name.
// CHECK-LABEL: func.func @unnamed
// CHECK-NEXT:    rlx.constant "table" dense_resource<a>
// CHECK-NEXT:    rlx.constant "const0" dense_resource<b>
// CHECK-NEXT:    rlx.constant "const0" dense_resource<b>
// CHECK-NEXT:    rlx.constant "const1" dense_resource<c>
func.func @unnamed() -> (tensor<100xf32>, tensor<100xf32>, tensor<100xf32>, tensor<100xi32>) {
  %0 = rlx.constant dense_resource<a> : tensor<100xf32> loc("table")
  %1 = rlx.constant dense_resource<b> : tensor<100xf32>
  %2 = rlx.constant dense_resource<b> : tensor<100xf32>
  %3 = rlx.constant dense_resource<c> : tensor<100xi32>
  return %0, %1, %2, %3 : tensor<100xf32>, tensor<100xf32>, tensor<100xf32>, tensor<100xi32>
}

// -----

// Literals stay: small values, and splats of any size.
// CHECK-LABEL: func.func @literals
// CHECK-NEXT:    rlx.constant dense<{{.*}}> : tensor<2xf32>
// CHECK-NEXT:    rlx.constant dense<2.000000e+00> : tensor<1000xf32>
func.func @literals() -> (tensor<2xf32>, tensor<1000xf32>) {
  %0 = rlx.constant dense<[1.0, 2.0]> : tensor<2xf32> loc("small")
  %1 = rlx.constant dense<2.0> : tensor<1000xf32>
  return %0, %1 : tensor<2xf32>, tensor<1000xf32>
}

// -----

// Two values can't have one name: the first keeps it, over all functions. The
// new name steers clear of the user's.
// REMARK: constant c is stored as c.1: another weight has its name
// CHECK-LABEL: func.func @one
// CHECK-NEXT:    rlx.constant "c" dense<1.0
// CHECK-NEXT:    rlx.constant "c.1" dense<2.0
// CHECK-NEXT:    rlx.constant "c.0" dense<3.0
// CHECK-LABEL: func.func @two
// CHECK-NEXT:    rlx.constant "c" dense<1.0
// CHECK-NEXT:    rlx.constant "c.1" dense<2.0
// CHECK-NEXT:    rlx.constant "c.2" dense<1.0{{.*}}> : tensor<2xf32>
func.func @one() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = rlx.constant "c" dense<1.0> : tensor<4xf32>
  %1 = rlx.constant "c" dense<2.0> : tensor<4xf32>
  %2 = rlx.constant "c.0" dense<3.0> : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func @two() -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>) {
  %0 = rlx.constant "c" dense<1.0> : tensor<4xf32>
  %1 = rlx.constant "c" dense<2.0> : tensor<4xf32>
  %2 = rlx.constant "c" dense<1.0> : tensor<2xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<2xf32>
}

// -----

// A param has its name even where a constant came first: values are bound to it.
// CHECK-LABEL: func.func @param
// CHECK-NEXT:    rlx.constant "w.0"
// CHECK-NEXT:    rlx.param "w"
func.func @param() -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = rlx.constant "w" dense<1.0> : tensor<4xf32>
  %1 = rlx.param "w" : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
