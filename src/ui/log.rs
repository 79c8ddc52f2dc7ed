//! Log lines on stderr. Logs quote addresses, paths and messages of the service.

use std::io::{self, Write};

use sheetport_files::visible::{escaped_json, visible};

/// Writes each event, a line, with `shown` applied to it.
pub(super) struct LogLines(fn(&str) -> String);

/// Returns a writer of plain lines.
pub(super) fn text() -> LogLines {
    LogLines(|line| visible(line).into_owned())
}

/// Returns a writer of JSON lines.
pub(super) fn json() -> LogLines {
    LogLines(|line| escaped_json(line).into_owned())
}

impl Write for LogLines {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        io::stderr().write_all((self.0)(&String::from_utf8_lossy(event)).as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
