// SPDX-License-Identifier: MIT OR Apache-2.0
#include "RLX/Pipelines/Bake.h"
#include "RLX/Support/Error.h"
#include "llvm/ADT/StringSwitch.h"
#include <cstdlib>

using namespace rlx;

llvm::Expected<Profile> rlx::parseProfile(llvm::StringRef name) {
  std::string key = name.trim().lower();
  if (key == "size" || key == "compact" || key == "quant")
    return makeError("profile '{0}' stores weights as Q8_0, which this release "
                     "can't do yet; "
                     "there are merge, fold and exact",
                     name);
  int profile = llvm::StringSwitch<int>(key)
                    .Cases({"merge", "none", "raw"}, int(Profile::Merge))
                    .Cases({"fold", "cleanup"}, int(Profile::Fold))
                    .Cases({"exact", "lossless", "default", "compute"},
                           int(Profile::Exact))
                    .Default(-1);
  if (profile < 0)
    return makeError("no profile is called {0}; there are merge (none, raw), "
                     "fold (cleanup) and "
                     "exact (lossless, default, compute)",
                     quoteName(name));
  return Profile(profile);
}

llvm::StringRef rlx::stringifyProfile(Profile profile) {
  switch (profile) {
  case Profile::Merge:
    return "merge";
  case Profile::Fold:
    return "fold";
  case Profile::Exact:
    return "exact";
  }
  llvm_unreachable("all profiles are named above");
}

/// What RLX_CACHE_PARAM_INVARIANT says; anything but `0` leaves the hoist on.
static bool getDefaultHoist() {
  const char *value = std::getenv("RLX_CACHE_PARAM_INVARIANT");
  return !value || llvm::StringRef(value).trim() != "0";
}

BakeOptions BakeOptions::fromProfile(Profile profile) {
  BakeOptions options;
  options.profile = profile;
  options.fold = profile != Profile::Merge;
  options.hoist = getDefaultHoist();
  return options;
}

llvm::Expected<Phase> rlx::parsePhase(llvm::StringRef name) {
  int phase = llvm::StringSwitch<int>(name.trim().lower())
                  .Case("import", int(Phase::Import))
                  .Case("weights", int(Phase::Weights))
                  .Case("lowered", int(Phase::Lowered))
                  .Case("codegen", int(Phase::Codegen))
                  .Case("artifact", int(Phase::Artifact))
                  .Default(-1);
  if (phase < 0)
    return makeError("no phase is called {0}; there are import, weights, "
                     "lowered, codegen and "
                     "artifact",
                     quoteName(name));
  return Phase(phase);
}
