// SPDX-License-Identifier: MIT OR Apache-2.0
//===- RLXRandomOps.td - Random numbers ------------------------*- tablegen -*-===//

#ifndef RLX_DIALECT_RLXRANDOMOPS_TD
#define RLX_DIALECT_RLXRANDOMOPS_TD

include "RLX/Dialect/RLXBase.td"
include "mlir/IR/SymbolInterfaces.td"

def RLX_RandomGroup : OpDocGroup {
  let summary = "Random numbers";
  let description = "Drawn from the state of the session.";
}

def RLX_RngState : Resource<"::rlx::RngState">;

let opDocGroup = RLX_RandomGroup in {

class RLX_RngOp<string mnemonic> : RLX_Op<mnemonic, [
    MemoryEffects<[MemRead<RLX_RngState>, MemWrite<RLX_RngState>]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let description = [{
    Element i of forward n is a function of (the session's seed, n, `key`, i)
    alone: the same for any number of threads, new at every forward. Reads and
    advances the session's state, so it is never folded, hoisted or merged.
    `shape` holds integers and symbols of inputs, one per result dim.
  }];
  let results = (outs RLX_FloatTensor:$result);
  let hasVerifier = 1;
}

def RLX_RngNormalOp : RLX_RngOp<"rng_normal"> {
  let summary = "Normal random numbers with a mean and a standard deviation";
  let arguments = (ins F32Attr:$mean, F32Attr:$scale, I64Attr:$key, RLX_DimsAttr:$shape);
  let assemblyFormat = [{ `mean` $mean `scale` $scale `key` $key `shape` $shape attr-dict
    `:` type($result) }];
}

def RLX_RngUniformOp : RLX_RngOp<"rng_uniform"> {
  let summary = "Random numbers, equally likely in [low, high)";
  let arguments = (ins F32Attr:$low, F32Attr:$high, I64Attr:$key, RLX_DimsAttr:$shape);
  let assemblyFormat = [{ `low` $low `high` $high `key` $key `shape` $shape attr-dict
    `:` type($result) }];
}

} // opDocGroup

#endif // RLX_DIALECT_RLXRANDOMOPS_TD
