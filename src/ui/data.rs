//! Standard output for data.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use sheetport_files::visible::VisibleWriter;

const BUFFER: usize = 64 * 1024;

/// Returns buffered standard output without colors. Data is written unchanged, except to a terminal, where control characters are
/// replaced.
pub fn data() -> impl Write {
    stdout(VisibleWriter::new)
}

/// Returns the same for a CSV.
pub fn csv_data() -> impl Write {
    stdout(VisibleWriter::csv)
}

fn stdout(on_terminal: impl Fn(StdoutLock<'static>) -> VisibleWriter<StdoutLock<'static>>) -> Data {
    let stdout = io::stdout().lock();
    match stdout.is_terminal() {
        true => Data::Terminal(on_terminal(stdout)),
        false => Data::Plain(BufWriter::with_capacity(BUFFER, stdout)),
    }
}

enum Data {
    Plain(BufWriter<StdoutLock<'static>>),
    Terminal(VisibleWriter<StdoutLock<'static>>),
}

impl Write for Data {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Data::Plain(output) => output.write(bytes),
            Data::Terminal(output) => output.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Data::Plain(output) => output.flush(),
            Data::Terminal(output) => output.flush(),
        }
    }
}
