//! The code page of XLS workbooks of Excel 95 that do not state it. Without one, calamine reads each byte as a character of Unicode,
//! and Žďár becomes Þïár. The texts are examined like those of a CSV.

use std::io::BufReader;

use cfb::CompoundFile;

use super::super::input::Source;
use super::records::{BEGIN, BIFF8, CODE_PAGE, END, Records, STREAMS};
use crate::read::little_endian::u16_at;
use crate::read::text::encoding;

/// Record types: a text, a text with fonts, the result of a formula.
const TEXT: u16 = 0x0204;
const RICH_TEXT: u16 = 0x00D6;
const RESULT: u16 = 0x0207;
/// Number of bytes to examine, as for a CSV.
const SAMPLE: usize = 64 * 1024;
/// Numbers of code pages by the names of their encodings.
const NUMBERS: [(&str, u16); 13] = [
    ("IBM866", 866),
    ("windows-874", 874),
    ("Shift_JIS", 932),
    ("GBK", 936),
    ("EUC-KR", 949),
    ("Big5", 950),
    ("macintosh", 10_000),
    ("KOI8-R", 20_866),
    ("KOI8-U", 21_866),
    ("ISO-8859-2", 28_592),
    ("IBM437", 437),
    ("IBM850", 850),
    ("IBM852", 852),
];
/// The code page of most programs, also for texts without any other letter.
const USUAL: u16 = 1252;

/// Returns the code page of a workbook by its texts, or `None` if the workbook states it, or stores texts in Unicode.
pub(crate) fn unstated_code_page(file: &Source) -> Option<u16> {
    let mut file = CompoundFile::open(file.input()).ok()?;
    let stream = STREAMS.iter().find_map(|name| file.open_stream(name).ok())?;
    let mut records = Records::new(BufReader::new(stream));
    loop {
        match records.next()? {
            (BEGIN, body) if u16_at(body, 0)? == BIFF8 => return None,
            (CODE_PAGE, _) => return None,
            (END, _) => break,
            _ => {}
        }
    }
    let mut sample = Vec::new();
    while sample.len() < SAMPLE
        && let Some((kind, body)) = records.next()
    {
        let at = match kind {
            TEXT | RICH_TEXT => 6,
            RESULT => 0,
            _ => continue,
        };
        let text = u16_at(body, at).and_then(|len| body.get(at + 2..at + 2 + usize::from(len)));
        sample.extend_from_slice(text.unwrap_or_default());
        sample.push(b'\n');
    }
    if sample.is_ascii() {
        return Some(USUAL);
    }
    Some(number(encoding::detect(&sample, true).0.encoding.name()))
}

/// Returns the number of the code page of an encoding.
fn number(encoding: &str) -> u16 {
    let windows = encoding.strip_prefix("windows-").and_then(|number| number.parse().ok());
    let other = || NUMBERS.iter().find(|(name, _)| *name == encoding).map(|(_, number)| *number);
    windows.or_else(other).unwrap_or(USUAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_have_the_numbers_of_windows() {
        for (name, expected) in [("windows-1250", 1250), ("windows-874", 874), ("IBM866", 866), ("UTF-8", 1252)] {
            assert_eq!(number(name), expected, "{name}");
        }
    }
}
