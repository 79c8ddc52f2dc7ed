//! Shared texts of XLS workbooks with parts in another font: the table of texts ([MS-XLS] 2.4.265) and the fonts (2.4.122).

use std::io::BufReader;

use cfb::CompoundFile;

use super::super::input::Source;
use super::super::rich_texts::parts_by_font;
use super::records::{END, Records, STREAMS};
use crate::cell::Setting;
use crate::read::little_endian::u16_at;

const FONT: u16 = 0x0031;
const TEXTS: u16 = 0x00FC;
const CONTINUE: u16 = 0x003C;
/// A bit in the flags of a font.
const IS_STRUCK: u16 = 0x08;
/// Bits in the flags of a text.
const IS_WIDE: u8 = 0x01;
const HAS_PRONUNCIATION: u8 = 0x04;
const HAS_RUNS: u8 = 0x08;

/// Calls `add` with the parts of each shared text that has several fonts, if some font of the workbook is raised, lowered or struck.
pub(crate) fn each_rich_text(file: &Source, mut add: impl FnMut(Vec<(Setting, String)>)) -> Option<()> {
    let mut file = CompoundFile::open(file.input()).ok()?;
    let stream = STREAMS.iter().find_map(|name| file.open_stream(name).ok())?;
    let mut records = Records::new(BufReader::new(stream));
    let (mut fonts, mut texts) = (Vec::new(), Segments::default());
    while let Some((kind, body)) = records.next() {
        match kind {
            FONT => fonts.push(setting(body)),
            // The fonts come before the texts.
            TEXTS if fonts.iter().all(|font| *font == Setting::Plain) => return None,
            TEXTS => texts.segments.push(body.to_vec()),
            CONTINUE if !texts.segments.is_empty() => texts.segments.push(body.to_vec()),
            END => break,
            _ if !texts.segments.is_empty() => break,
            _ => {}
        }
    }
    texts.skip(4)?;
    let count = texts.long()?;
    for _ in 0..count {
        let (text, runs) = texts.text()?;
        if !runs.is_empty() {
            add(parts_by_font(&text, &runs, |font| of_font(font, &fonts)));
        }
    }
    Some(())
}

/// Returns the setting of a font by its number. The font number 4 does not exist.
fn of_font(font: u16, fonts: &[Setting]) -> Setting {
    let index = usize::from(if font > 4 { font - 1 } else { font });
    fonts.get(index).copied().unwrap_or(Setting::Plain)
}

fn setting(font: &[u8]) -> Setting {
    match (u16_at(font, 2), u16_at(font, 8)) {
        (Some(flags), _) if flags & IS_STRUCK != 0 => Setting::Struck,
        (_, Some(1)) => Setting::Raised,
        (_, Some(2)) => Setting::Lowered,
        _ => Setting::Plain,
    }
}

/// The body of a record with its continuations.
#[derive(Default)]
struct Segments {
    segments: Vec<Vec<u8>>,
    segment: usize,
    at: usize,
}

/// Where runs of a text begin, each with its font.
type Runs = Vec<(u16, u16)>;

impl Segments {
    fn byte(&mut self) -> Option<u8> {
        while self.at >= self.segments.get(self.segment)?.len() {
            (self.segment, self.at) = (self.segment + 1, 0);
        }
        self.at += 1;
        self.segments[self.segment].get(self.at - 1).copied()
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes([self.byte()?, self.byte()?]))
    }

    fn long(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes([self.byte()?, self.byte()?, self.byte()?, self.byte()?]))
    }

    fn skip(&mut self, count: usize) -> Option<()> {
        (0..count).try_for_each(|_| self.byte().map(drop))
    }

    /// Reads a text and its runs, each a position and a font.
    fn text(&mut self) -> Option<(Vec<u16>, Runs)> {
        let (len, mut flags) = (self.short()?, self.byte()?);
        let has = |flag: u8| flags & flag != 0;
        let (has_runs, has_pronunciation) = (has(HAS_RUNS), has(HAS_PRONUNCIATION));
        let runs = if has_runs { self.short()? } else { 0 };
        let pronunciation = if has_pronunciation { self.long()? } else { 0 };
        let mut text = Vec::with_capacity(usize::from(len));
        for nth in 0..len {
            // A continuation of a text begins with its own flags.
            if nth > 0 && self.at >= self.segments.get(self.segment)?.len() {
                flags = self.byte()?;
            }
            text.push(if flags & IS_WIDE != 0 { self.short()? } else { u16::from(self.byte()?) });
        }
        let runs = (0..runs).map(|_| Some((self.short()?, self.short()?))).collect::<Option<_>>()?;
        self.skip(usize::try_from(pronunciation).ok()?)?;
        Some((text, runs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_split_by_fonts_across_continuations() {
        // "12.501" with the font 5 from the sixth character on, continued within the text; then "ab".
        let first = [&[6, 0, HAS_RUNS, 1, 0][..], b"12."].concat();
        let second = [&[0][..], b"501", &[5, 0, 5, 0], &[2, 0, IS_WIDE, b'a', 0, b'b', 0]].concat();
        let mut texts = Segments { segments: vec![first, second], ..Segments::default() };
        let (text, runs) = texts.text().expect("a text");
        let fonts = [Setting::Plain, Setting::Plain, Setting::Plain, Setting::Plain, Setting::Raised];
        let found = parts_by_font(&text, &runs, |font| of_font(font, &fonts));
        assert_eq!(found, [(Setting::Plain, "12.50".to_owned()), (Setting::Raised, "1".to_owned())]);
        assert_eq!(texts.text(), Some((vec![0x61, 0x62], Vec::new())));
        assert_eq!(texts.text(), None);
    }

    #[test]
    fn fonts_are_raised_lowered_or_struck() {
        let font = |flags: u8, script: u8| setting(&[200, 0, flags, 0, 0, 0, 0, 0, script, 0]);
        assert_eq!(
            [font(0, 0), font(0, 1), font(0, 2), font(8, 0)],
            [Setting::Plain, Setting::Raised, Setting::Lowered, Setting::Struck]
        );
        assert_eq!(setting(&[]), Setting::Plain);
    }
}
