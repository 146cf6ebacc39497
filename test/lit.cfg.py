# SPDX-License-Identifier: MIT OR Apache-2.0
# Read by lit through the lit.site.cfg.py of a build folder.
import os

import lit.formats

config.name = "RLX"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.rlx_build_dir, "test")

config.environment["PATH"] = os.pathsep.join(
    [config.rlx_tools_dir, config.llvm_tools_dir, config.environment["PATH"]])
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --allow-unused-prefixes=false"

config.substitutions += [
    ("%python", config.python),
    ("%rlx_src", config.rlx_source_dir),
    ("%rlx_build", config.rlx_build_dir),
]

# `// REQUIRES: rlx-bake` skips a test where the build has no such tool.
for tool in ("rlx-opt", "rlx-bake", "rlx-run"):
    if os.path.exists(os.path.join(config.rlx_tools_dir, tool)):
        config.available_features.add(tool)
