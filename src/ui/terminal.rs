//! The terminal: its width, and plain mode.

use std::borrow::Cow;
use std::io::IsTerminal;
use std::sync::OnceLock;

use terminal_size::{Width, terminal_size_of};

use super::columns::width;

/// Minimum width for laying out lines.
const NARROWEST: usize = 40;
/// Width of tables without a terminal.
const UNLIMITED: usize = 100;

static PLAIN: OnceLock<bool> = OnceLock::new();

/// Selects plain text instead of bars, tables and styles, for the whole process. Also applies to dumb terminals.
pub(super) fn set_plain(is_chosen: bool) -> bool {
    *PLAIN.get_or_init(|| is_chosen || std::env::var_os("TERM").is_some_and(|name| name == "dumb"))
}

pub(super) fn is_plain() -> bool {
    PLAIN.get().copied().unwrap_or(false)
}

/// Returns the number of columns for tables on stdout.
pub(super) fn table_width() -> usize {
    columns_of(&std::io::stdout()).map_or(UNLIMITED, |columns| columns.clamp(NARROWEST, UNLIMITED))
}

/// Returns the number of columns of stderr, if stderr is a terminal.
pub(super) fn stderr_width() -> Option<usize> {
    columns_of(&std::io::stderr())
}

/// Breaks a line for stdout, if stdout is a terminal.
pub(super) fn for_stdout(line: &str) -> Cow<'_, str> {
    fitted(line, columns_of(&std::io::stdout()))
}

/// Breaks a line for stderr, if stderr is a terminal.
pub(super) fn for_stderr(line: &str) -> Cow<'_, str> {
    fitted(line, stderr_width())
}

#[cfg(unix)]
fn columns_of(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    terminal_size_of(stream).map(|(Width(columns), _)| usize::from(columns)).filter(|columns| *columns > 0)
}

#[cfg(windows)]
fn columns_of(stream: &(impl IsTerminal + std::os::windows::io::AsHandle)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    terminal_size_of(stream).map(|(Width(columns), _)| usize::from(columns)).filter(|columns| *columns > 0)
}

/// Wraps a line at the width of the terminal. Not in plain mode, because screen readers prefer long lines.
fn fitted(line: &str, columns: Option<usize>) -> Cow<'_, str> {
    match columns {
        Some(columns) if !is_plain() && shown_width(line) > columns => {
            Cow::Owned(wrapped(line, columns.max(NARROWEST)))
        }
        _ => Cow::Borrowed(line),
    }
}

/// Returns the columns of a text with sequences of styles.
fn shown_width(text: &str) -> usize {
    let mut parts = text.split("\x1b[");
    let first = parts.next().map_or(0, width);
    first + parts.map(|part| part.split_once('m').map_or(0, |(_, text)| width(text))).sum::<usize>()
}

/// Wraps a line between words. Continuation lines are indented like the text of the first line: after the last gap in its first
/// third. Words longer than a line stay whole for copying.
fn wrapped(line: &str, columns: usize) -> String {
    let mut words: Vec<(usize, &str)> = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let text = rest.trim_start_matches(' ');
        let end = text.find(' ').unwrap_or(text.len());
        words.push((rest.len() - text.len(), &text[..end]));
        rest = &text[end..];
    }
    let mut indent = 0;
    let mut at = 0;
    for (gap, word) in &words {
        if (at == 0 || *gap > 1) && at < columns / 3 {
            indent = at + gap;
        }
        at += gap + shown_width(word);
    }
    let indent = indent.min(columns / 2);
    let mut broken = String::with_capacity(line.len() + indent);
    let mut at = 0;
    for (gap, word) in words {
        let length = shown_width(word);
        if at > indent && at + gap + length > columns && length > 0 {
            broken.push('\n');
            broken.push_str(&" ".repeat(indent));
            at = indent;
        } else {
            broken.push_str(&" ".repeat(gap));
            at += gap;
        }
        broken.push_str(word);
        at += length;
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_below_their_text() {
        for (line, expected) in [
            ("short", "short"),
            (
                "  2 rows  Price such as 'on request' is not a number",
                "  2 rows  Price such as 'on request' is\n          not a number",
            ),
            (
                "           write a number, or leave the cell blank",
                "           write a number, or leave the\n           cell blank",
            ),
            ("one two three four five six seven eight nine", "one two three four five six seven eight\nnine"),
            (
                "  \x1b[31ma b\x1b[0m  https://records.example/a/long/address/that/is/not/broken end",
                "  \x1b[31ma b\x1b[0m  https://records.example/a/long/address/that/is/not/broken\n       end",
            ),
            ("商品 商品 商品 商品 商品 商品 商品 商品 商品", "商品 商品 商品 商品 商品 商品 商品 商品\n商品"),
        ] {
            assert_eq!(wrapped(line, 40), expected);
        }
    }
}
