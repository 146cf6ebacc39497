// REQUIRES: rlx-opt
// RUN: %python %rlx_src/test/Import/Inputs/write-weights.py %t.safetensors w=2x2 scale=2x2
// RUN: %python %rlx_src/test/Import/Inputs/write-weights.py %t.one.safetensors w=2x2
// RUN: rlx-opt %s --rlx-weights | FileCheck %s --check-prefix=OPEN
// RUN: rlx-opt %s --rlx-weights='weights=%t.safetensors' | FileCheck %s --check-prefix=KNOWN
// RUN: rlx-opt %s --pass-pipeline='builtin.module(rlx-weights{weights=%t.safetensors fold=false})' \
// RUN:   | FileCheck %s --check-prefix=UNFOLDED
// RUN: rlx-opt %s --rlx-weights='weights=%t.safetensors fold=false hoist=false' \
// RUN:   | FileCheck %s --check-prefix=NEITHER
// RUN: rlx-opt %s --rlx-weights='hoist=false' | FileCheck %s --check-prefix=UNHOISTED
// RUN: rlx-opt %s --rlx-weights='weights=%t.one.safetensors' | FileCheck %s --check-prefix=ONE
// RUN: rlx-opt %s --rlx-weights='weights=%t.safetensors' -o /dev/null \
// RUN:   --remarks-filter=weights 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not rlx-opt %s --rlx-weights='weights=%t.absent.safetensors' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ABSENT

// Open params: the product moves to a prepare function, packing included.
// OPEN-LABEL: func.func @main
// OPEN-NEXT:    %[[W:.+]] = rlx.prepared "prep0" : !rlx.packed<2x2xf32, dense, panel64>
// OPEN-NEXT:    rlx.matmul %{{.+}}, %[[W]]
// OPEN-LABEL: func.func private @main.prepare0
// OPEN:         rlx.mul
// OPEN:         rlx.pack
// OPEN:       rlx.prepare @main.prepare0("w", "scale") -> ("prep0")

// Known ones: it is a constant. The weights count up from 0, so these are the
// bytes of 0, 1, 4 and 9.
// KNOWN-LABEL: func.func @main
// KNOWN-NEXT:    rlx.constant "prep0" {rlx.origin = ["w", "scale"]}
// KNOWN-SAME:      dense<[0, 0, 0, 0, 0, 0, -128, 63, 0, 0, -128, 64, 0, 0, 16, 65]>
// KNOWN-NEXT:    rlx.matmul
// KNOWN-NEXT:    return
// KNOWN-NOT:   rlx.prepare

// Without folding the values stay, and the work waits for the load.
// UNFOLDED:     rlx.prepared "prep0"
// UNFOLDED:     rlx.mul
// UNFOLDED-DAG: rlx.constant "w" dense<{{\[}}[0.0
// UNFOLDED-DAG: rlx.constant "scale" dense<{{\[}}[0.0
// UNFOLDED:     rlx.prepare

// Without the hoist either it is done at every forward.
// NEITHER-LABEL: func.func @main
// NEITHER:         rlx.mul
// NEITHER:         rlx.pack
// NEITHER:         rlx.matmul
// NEITHER-NOT:   rlx.prepare

// UNHOISTED-LABEL: func.func @main
// UNHOISTED:         rlx.param "w"
// UNHOISTED:         rlx.mul
// UNHOISTED:         rlx.matmul
// UNHOISTED-NOT:   rlx.prepare

// A part that depends on one open param is not folded.
// ONE:     rlx.prepared "prep0"
// ONE:     rlx.mul
// ONE-DAG: rlx.constant "w"
// ONE-DAG: rlx.prepare @main.prepare0("w", "scale")

// REMARK: [Passed] SpecializeParams {{.*}}Bound=2
// REMARK: [Passed] ConstFold {{.*}}Weights="w, scale"
// REMARK: [Passed] LayoutWeights

// ABSENT: error: {{.*}}absent.safetensors: No such file or directory

func.func @main(%x: tensor<?x2xf32> {rlx.dims = [@n, 2]}) -> (tensor<?x2xf32> {rlx.dims = [@n, 2]}) {
  %w = rlx.param "w" : tensor<2x2xf32>
  %scale = rlx.param "scale" : tensor<2x2xf32>
  %0 = rlx.mul %w, %scale : tensor<2x2xf32>, tensor<2x2xf32>
  %1 = rlx.matmul %x, %0 : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}
