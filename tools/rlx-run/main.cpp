// SPDX-License-Identifier: MIT OR Apache-2.0

#include "Failure.h"
#include "Model.h"
#include "Options.h"

#include <exception>
#include <iostream>
#include <new>

using namespace rlx::run;

int main(int argc, char **argv) {
  Options options;
  if (std::optional<int> status = parseOptions(argc, argv, options))
    return *status;
  try {
    Model model(options);
    if (!options.list)
      return model.run();
    model.list();
    return 0;
  } catch (const std::bad_alloc &) {
    std::cerr << "error: out of memory\n";
  } catch (const std::exception &error) {
    std::cerr << "error: " << error.what() << "\n";
  }
  return 1;
}
