// RUN: rlx-opt %s --rlx-expand-math --split-input-file --verify-diagnostics | FileCheck %s

// No math op is left that LLVM would turn into a call; none has fast-math flags.
// CHECK-LABEL: func.func @scalars
// CHECK-NOT:     math.{{(exp|log|sin|cos|tan|erf|pow|atan|rsqrt)}}
// CHECK-NOT:     arith.remf
// CHECK-NOT:     fastmath
// CHECK:         return
func.func @scalars(%x: f32, %y: f32) -> f32 {
  %0 = math.exp %x : f32
  %1 = math.exp2 %0 : f32
  %2 = math.expm1 %1 : f32
  %3 = math.log %2 : f32
  %4 = math.log2 %3 : f32
  %5 = math.log10 %4 : f32
  %6 = math.log1p %5 : f32
  %7 = math.sin %6 : f32
  %8 = math.cos %7 : f32
  %9 = math.tan %8 : f32
  %10 = math.tanh %9 : f32
  %11 = math.atan %10 : f32
  %12 = math.atan2 %11, %y : f32
  %13 = math.erf %12 : f32
  %14 = math.powf %13, %y : f32
  %15 = math.rsqrt %14 : f32
  %16 = arith.remf %15, %y : f32
  return %16 : f32
}

// -----

// Vectors take the same route.
// CHECK-LABEL: func.func @vectors
// CHECK-NOT:     math.exp
// CHECK:         math.fma {{.+}} : vector<16xf32>
// CHECK:         arith.shli {{.+}} : vector<16xi32>
func.func @vectors(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

// rsqrt divides, so that it is right for every input.
// CHECK-LABEL: func.func @rsqrt
// CHECK:         %[[ROOT:.+]] = math.sqrt
// CHECK:         arith.divf %{{.+}}, %[[ROOT]]
func.func @rsqrt(%x: f32) -> f32 {
  %0 = math.rsqrt %x : f32
  return %0 : f32
}

// -----

// What is an instruction stays.
// CHECK-LABEL: func.func @instructions
// CHECK:         math.sqrt
// CHECK:         math.roundeven
// CHECK:         math.floor
// CHECK:         math.ceil
// CHECK:         math.absf
func.func @instructions(%x: f32) -> f32 {
  %0 = math.sqrt %x : f32
  %1 = math.roundeven %0 : f32
  %2 = math.floor %1 : f32
  %3 = math.ceil %2 : f32
  %4 = math.absf %3 : f32
  return %4 : f32
}

// -----

// A function of f64 would need libm.
func.func @wide(%x: f64) -> f64 {
  // expected-error @below {{'math.exp' op on 'f64' has no expansion and would need a math library where the artifact runs; cast to f32 or use another op}}
  %0 = math.exp %x : f64
  return %0 : f64
}

// -----

// So would a function that nothing here expands.
func.func @unknown(%x: f32) -> f32 {
  // expected-error @below {{'math.acosh' op on 'f32' has no expansion}}
  %0 = math.acosh %x : f32
  return %0 : f32
}
