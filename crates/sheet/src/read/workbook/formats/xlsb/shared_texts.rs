//! Shared texts of XLSB workbooks with parts in another font: the table of texts ([MS-XLSB] 2.5.121, RichStr) and the fonts (2.4.149).

use std::io::Read;

use zip::ZipArchive;

use super::super::input::Source;
use super::super::rich_texts::parts_by_font;
use super::stream::Records;
use crate::cell::Setting;
use crate::read::little_endian::{u16_at, u32_at};

const TEXT: u16 = 19;
const FONT: u16 = 43;
const FONTS_END: u16 = 612;
/// A bit in the flags of a font.
const IS_STRUCK: u16 = 0x08;
/// A bit in the flags of a text.
const HAS_RUNS: u8 = 0x01;
/// Maximum number of fonts. Further ones are plain.
const MAX_FONTS: usize = 1 << 16;

/// Calls `add` with the parts of each shared text that has several fonts, if some font of the workbook is raised, lowered or struck.
pub(crate) fn each_rich_text(file: &Source, add: impl FnMut(Vec<(Setting, String)>)) -> Option<()> {
    let mut archive = ZipArchive::new(file.input()).ok()?;
    let fonts = fonts(Records::new(archive.by_name("xl/styles.bin").ok()?));
    if fonts.iter().all(|font| *font == Setting::Plain) {
        return None;
    }
    texts(Records::new(archive.by_name("xl/sharedStrings.bin").ok()?), &fonts, add);
    Some(())
}

pub(super) fn fonts(mut records: Records<impl Read>) -> Vec<Setting> {
    let mut fonts = Vec::new();
    while let Some((kind, body)) = records.next() {
        match kind {
            FONT if fonts.len() < MAX_FONTS => fonts.push(setting(body)),
            FONTS_END => break,
            _ => {}
        }
    }
    fonts
}

/// Returns the setting of each font.
pub(super) fn of_font(fonts: &[Setting]) -> impl Fn(u16) -> Setting {
    |font| fonts.get(usize::from(font)).copied().unwrap_or(Setting::Plain)
}

fn setting(font: &[u8]) -> Setting {
    match (u16_at(font, 2), u16_at(font, 6)) {
        (Some(flags), _) if flags & IS_STRUCK != 0 => Setting::Struck,
        (_, Some(1)) => Setting::Raised,
        (_, Some(2)) => Setting::Lowered,
        _ => Setting::Plain,
    }
}

fn texts(mut records: Records<impl Read>, fonts: &[Setting], mut add: impl FnMut(Vec<(Setting, String)>)) {
    while let Some((kind, body)) = records.next() {
        if kind == TEXT
            && let Some((text, runs)) = rich_text(body)
            && !runs.is_empty()
        {
            add(parts_by_font(&text, &runs, of_font(fonts)));
        }
    }
}

/// A text in UTF-16 and its runs, each a position and a font.
type RichText = (Vec<u16>, Vec<(u16, u16)>);

/// Reads a text and its runs. A text in one font has none. Returns `None` for another structure.
pub(super) fn rich_text(body: &[u8]) -> Option<RichText> {
    let len = (u32_at(body, 1)? as usize).checked_mul(2)?;
    let (text, rest) = body.get(5..)?.split_at_checked(len)?;
    let text = text.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
    if body.first()? & HAS_RUNS == 0 {
        return Some((text, Vec::new()));
    }
    let count = u32_at(rest, 0)? as usize;
    let runs = rest.get(4..)?.chunks_exact(4).take(count);
    Some((text, runs.filter_map(|run| Some((u16_at(run, 0)?, u16_at(run, 2)?))).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u16, body: &[u8]) -> Vec<u8> {
        let kind = if kind < 0x80 { vec![kind as u8] } else { vec![kind as u8 | 0x80, (kind >> 7) as u8] };
        [kind.as_slice(), &[body.len() as u8], body].concat()
    }

    fn text(flags: u8, text: &str, runs: &[(u16, u16)]) -> Vec<u8> {
        let mut body = vec![flags];
        body.extend((text.len() as u32).to_le_bytes());
        body.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        body.extend((runs.len() as u32).to_le_bytes());
        body.extend(runs.iter().flat_map(|(at, font)| [at.to_le_bytes(), font.to_le_bytes()].concat()));
        record(TEXT, &body)
    }

    #[test]
    fn texts_are_split_by_fonts() {
        let font = |flags: u8, script: u8| record(FONT, &[220, 0, flags, 0, 144, 1, script, 0]);
        let styles = [font(0, 0), font(0, 1), font(8, 0), font(0, 2), record(FONTS_END, &[]), font(8, 0)].concat();
        let fonts = fonts(Records::new(styles.as_slice()));
        assert_eq!(fonts, [Setting::Plain, Setting::Raised, Setting::Struck, Setting::Lowered]);
        let table = [
            text(0, "plain", &[]),
            text(HAS_RUNS, "12.501", &[(5, 1)]),
            text(HAS_RUNS, "1512", &[(0, 2), (2, 0)]),
            record(TEXT, &[HAS_RUNS, 9, 0, 0, 0]),
        ];
        let mut found = Vec::new();
        texts(Records::new(table.concat().as_slice()), &fonts, |parts| found.push(parts));
        let part = |setting, text: &str| (setting, text.to_owned());
        assert_eq!(
            found,
            [
                [part(Setting::Plain, "12.50"), part(Setting::Raised, "1")],
                [part(Setting::Struck, "15"), part(Setting::Plain, "12")]
            ]
        );
    }
}
