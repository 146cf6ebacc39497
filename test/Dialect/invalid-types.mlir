// RUN: rlx-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{packed weight has rank 1 but holds a matrix (KxN) or a stack of them (BxKxN)}}
func.func private @rank(!rlx.packed<4xf32, dense, panel64>)

// -----

// expected-error @+1 {{packed weight has elements of type 'i8' but only f16, bf16, f32 and f64 can be packed}}
func.func private @elements(!rlx.packed<4x4xi8, dense, panel64>)

// -----

// expected-error @+1 {{packed weight takes more than 2^63 - 1 bytes}}
func.func private @bytes(!rlx.packed<4294967296x2147483648xf32, dense, panel64>)

// -----

// expected-error @+1 {{unknown encoding 'sparse', known: dense}}
func.func private @encoding(!rlx.packed<4x4xf32, sparse, panel64>)

// -----

// expected-error @+1 {{unknown layout 'panel32', known: row_major, panel64}}
func.func private @layout(!rlx.packed<4x4xf32, dense, panel32>)

// -----

// expected-error @+1 {{expected static shape}}
func.func private @dynamic(!rlx.packed<?x4xf32, dense, panel64>)
