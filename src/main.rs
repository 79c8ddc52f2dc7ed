//! The executable. The library holds the code, so that it is compiled once and not again where it is linked.

use std::process::ExitCode;

fn main() -> ExitCode {
    sheetport::run()
}
