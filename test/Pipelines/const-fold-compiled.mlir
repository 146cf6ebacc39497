// REQUIRES: rlx-opt
// RUN: rlx-opt %s --rlx-const-fold | FileCheck %s
// RUN: rlx-opt %s --rlx-const-fold -o /dev/null --remarks-filter=weights 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// rlx-const-fold alone, with the evaluator that compiles. Exact results are
// compared as they are, others as what the model's own code gives elsewhere:
// within a rounding of the true value.

// REMARK-COUNT-6: [Passed] ConstFold {{.*}}folded

// CHECK-LABEL: func.func @exact
// CHECK-DAG:     rlx.constant "sum" {{.*}} dense<[1.100000e+01, 2.200000e+01, 3.300000e+01]>
// CHECK-DAG:     rlx.constant "turned" {{.*}} dense<{{\[}}[1.000000e+00, 3.000000e+00], [2.000000e+00, 4.000000e+00]]>
// CHECK-DAG:     rlx.constant "m" {{.*}} dense<{{\[}}[7.000000e+00, 1.000000e+01], [1.500000e+01, 2.200000e+01]]>
// CHECK-DAG:     rlx.constant "f" {{.*}} dense<[1, 2, 3]> : tensor<3xi32>
// CHECK-DAG:     rlx.constant "z" {{.*}} dense<[false, true, true]> : tensor<3xi1>
// CHECK-NOT:     rlx.{{add|transpose|matmul|cast}}
func.func @exact() -> (tensor<3xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<3xi32>, tensor<3xi1>) {
  %a = rlx.constant "a" dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %b = rlx.constant "b" dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %m = rlx.constant "m" dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %f = rlx.constant "f" dense<[1.5, 2.5, 3.99]> : tensor<3xf32>
  %z = rlx.constant "z" dense<[0.0, 0.5, -1.0]> : tensor<3xf32>
  %0 = rlx.add %a, %b : tensor<3xf32>, tensor<3xf32> loc("sum")
  %1 = rlx.transpose %m [1, 0] : tensor<2x2xf32> loc("turned")
  %2 = rlx.matmul %m, %m : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("product")
  %3 = rlx.cast %f : tensor<3xf32> to tensor<3xi32> loc("whole")
  %4 = rlx.cast %z : tensor<3xf32> to tensor<3xi1> loc("nonzero")
  return %0, %1, %2, %3, %4 : tensor<3xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<3xi32>, tensor<3xi1>
}

// CHECK-LABEL: func.func @rounded
// CHECK-NEXT:    rlx.constant "x" {{.*}} dense<[1.000000e+00, 2.71828175, 0.13533528{{[13]}}]>
// CHECK-NEXT:    return
func.func @rounded() -> tensor<3xf32> {
  %x = rlx.constant "x" dense<[0.0, 1.0, -2.0]> : tensor<3xf32>
  %0 = rlx.exp %x : tensor<3xf32> loc("exp")
  return %0 : tensor<3xf32>
}
