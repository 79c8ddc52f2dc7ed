//! Standard output for data.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use crate::visible::visible;

const BUFFER: usize = 64 * 1024;

/// Returns buffered standard output without colors. Data is written as it is, except to a terminal, which would act on
/// control characters in it.
pub fn data() -> impl Write {
    let stdout = io::stdout().lock();
    match stdout.is_terminal() {
        true => Data::Terminal(Shown { output: stdout, line: Vec::new() }),
        false => Data::Plain(BufWriter::with_capacity(BUFFER, stdout)),
    }
}

enum Data {
    Plain(BufWriter<StdoutLock<'static>>),
    Terminal(Shown<StdoutLock<'static>>),
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

/// Shows text line by line.
struct Shown<W: Write> {
    output: W,
    /// The start of a line.
    line: Vec<u8>,
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.line.len() > BUFFER {
                self.flush()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        self.output.write_all(visible(&String::from_utf8_lossy(&line)).as_bytes())?;
        self.output.flush()
    }
}

impl<W: Write> Drop for Shown<W> {
    fn drop(&mut self) {
        // Errors of the last line can't be reported here; callers flush.
        let _ = self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_for_a_terminal_is_shown_line_by_line() {
        let mut output = Vec::new();
        let mut shown = Shown { output: &mut output, line: Vec::new() };
        shown.write_all("a\x1b[31m,Gr".as_bytes()).expect("the test's own text");
        shown.write_all("öße\nlast\u{202E}".as_bytes()).expect("the test's own text");
        drop(shown);
        assert_eq!(String::from_utf8(output).expect("the test's own text"), "a⟨U+001B⟩[31m,Größe\nlast⟨U+202E⟩");
    }
}
