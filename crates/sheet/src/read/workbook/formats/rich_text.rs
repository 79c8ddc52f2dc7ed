//! Texts with raised, lowered or struck parts, which calamine joins: 12.50 with the footnote ¹ becomes 12.501, and a struck 15
//! beside 12 becomes 1512.
//!
//! The parts are kept by the whole text, because calamine returns nothing else. A text that is also in a plain cell counts as
//! having parts there, too, which is rare and only asks for a look. Long texts are left out: they are no numbers and no identifiers.

use std::collections::HashMap;
use std::io::{self, Read};

use memchr::memmem::Finder;
use zip::ZipArchive;

use super::input::{Input, Source};
use super::rich_texts::{MAX_TEXT, RichTexts};
use super::tag::{Tag, each_piece};
use super::xlsx_appearance::sheets_by_part;
use super::{xls, xlsb};
use crate::cell::Setting;

const CHUNK: usize = 256 * 1024;
/// What runs with a setting have in XLSX: `<vertAlign val="superscript"/>`, `<strike/>`, `<dstrike/>`.
const MARKS: [&str; 2] = ["vertAlign", "strike"];
const SHARED: &str = "xl/sharedstrings.xml";

impl RichTexts {
    /// Adds the shared texts of an XLSX file.
    pub(super) fn add_shared(&mut self, archive: &Source) {
        let is_shared = |name: &str| name.to_ascii_lowercase() == SHARED;
        self.add_part(archive, |archive| archive.file_names().flatten().find(|name| is_shared(name)).map(Into::into));
    }

    /// Adds the texts within the cells of a sheet of an XLSX file.
    pub(super) fn add_sheet(&mut self, archive: &Source, sheet: &str) {
        self.add_part(archive, |archive| {
            sheets_by_part(archive).into_iter().find(|(_, name)| name == sheet).map(|(part, _)| part)
        });
    }

    /// Adds the texts of a part. A part that can't be read has none; the checksums detect damage.
    fn add_part(&mut self, archive: &Source, name: impl FnOnce(&mut ZipArchive<Input>) -> Option<String>) {
        let Ok(mut archive) = ZipArchive::new(archive.input()) else { return };
        let Some(name) = name(&mut archive) else { return };
        if !archive.by_name(&name).is_ok_and(|part| has_marks(part).unwrap_or(false)) {
            return;
        }
        let mut runs = Runs::default();
        drop(archive.by_name(&name).ok().map(|part| {
            each_piece(part, |piece| {
                if let Some(tag) = Tag::parse(piece)
                    && runs.read_xlsx(&tag)
                {
                    self.add(std::mem::take(&mut runs.parts));
                }
                Ok(true)
            })
        }));
    }

    /// Adds the texts of an OpenDocument file.
    pub(super) fn add_ods(&mut self, archive: &Source) {
        let Ok(mut archive) = ZipArchive::new(archive.input()) else { return };
        let mut reader = OdsReader::default();
        for name in ["styles.xml", "content.xml"] {
            drop(archive.by_name(name).ok().map(|part| {
                each_piece(part, |piece| {
                    let Some(tag) = Tag::parse(piece) else { return Ok(true) };
                    // The styles come before the cells.
                    if tag.name == "office:body" && reader.settings.is_empty() {
                        return Ok(false);
                    }
                    if reader.read(&tag) {
                        self.add(std::mem::take(&mut reader.runs.parts));
                    }
                    Ok(true)
                })
            }));
        }
    }

    /// Adds the shared texts of an XLS file.
    pub(super) fn add_xls(&mut self, file: &Source) {
        // A file that can't be read here has none.
        xls::each_rich_text(file, |parts| self.add(parts));
    }

    /// Adds the shared texts of an XLSB file.
    pub(super) fn add_xlsb(&mut self, file: &Source) {
        // A file that can't be read here has none.
        xlsb::each_rich_text(file, |parts| self.add(parts));
    }
}

/// Returns whether a part of an XLSX file has runs with a setting.
fn has_marks(mut part: impl Read) -> io::Result<bool> {
    let finders = MARKS.map(Finder::new);
    let mut bytes = Vec::new();
    loop {
        // The last bytes may start a mark.
        let kept = bytes.len().min(MARKS[0].len());
        bytes.drain(..bytes.len() - kept);
        if part.by_ref().take(CHUNK as u64).read_to_end(&mut bytes)? == 0 {
            return Ok(false);
        }
        if finders.iter().any(|finder| finder.find(&bytes).is_some()) {
            return Ok(true);
        }
    }
}

/// The parts of the current text.
#[derive(Debug, Default)]
struct Runs {
    parts: Vec<(Setting, String)>,
    setting: Option<Setting>,
    /// Whether the current text is the pronunciation of another.
    is_phonetic: bool,
}

impl Runs {
    fn push(&mut self, setting: Setting, text: &str) {
        match self.parts.last_mut() {
            Some((last, before)) if *last == setting => before.push_str(text),
            _ if text.is_empty() => {}
            _ => self.parts.push((setting, text.to_owned())),
        }
    }

    /// Reads a tag of a text in XLSX. Returns true at the end of the text.
    fn read_xlsx(&mut self, tag: &Tag<'_>) -> bool {
        let (slash, name) = tag.name.strip_prefix('/').map_or(("", tag.name), |name| ("/", name));
        let local = name.rsplit_once(':').map_or(name, |(_, local)| local);
        let value = || tag.attribute("val").unwrap_or_default();
        match (slash, local) {
            ("", "si" | "is") => *self = Runs::default(),
            ("", "r") => self.setting = None,
            ("", "vertAlign") => match &*value() {
                "superscript" => self.setting = Some(Setting::Raised),
                "subscript" => self.setting = Some(Setting::Lowered),
                _ => {}
            },
            ("", "strike" | "dstrike") if !matches!(&*value(), "0" | "false") => self.setting = Some(Setting::Struck),
            ("", "rPh") => self.is_phonetic = !tag.is_empty,
            ("/", "rPh") => self.is_phonetic = false,
            ("", "t") if !self.is_phonetic => {
                let text = tag.text();
                let is_kept = tag.attribute("xml:space").as_deref() == Some("preserve");
                let text = if is_kept { &text } else { text.trim_matches([' ', '\t', '\r', '\n']) };
                self.push(self.setting.unwrap_or(Setting::Plain), text);
            }
            ("/", "si" | "is") => return true,
            _ => {}
        }
        false
    }
}

/// Reads an OpenDocument file.
#[derive(Debug, Default)]
struct OdsReader {
    /// The style of texts being defined.
    style: Option<String>,
    /// The styles of texts with a setting.
    settings: HashMap<String, Setting>,
    runs: Runs,
    /// The settings of the open spans, from the outside.
    spans: Vec<Setting>,
    paragraphs: usize,
    is_in_cell: bool,
    /// The number of open comments, which are no text of the cell.
    comments: usize,
}

impl OdsReader {
    /// Reads a tag. Returns true at the end of a cell with one paragraph.
    fn read(&mut self, tag: &Tag<'_>) -> bool {
        match tag.name {
            "style:style" => {
                self.style = tag.attribute("style:family").filter(|family| family == "text").and_then(|_| {
                    // A style takes the setting of the one that it refers to.
                    let name = tag.attribute("style:name")?.into_owned();
                    let parent = tag.attribute("style:parent-style-name");
                    if let Some(setting) = parent.and_then(|parent| self.settings.get(&*parent).copied()) {
                        self.settings.insert(name.clone(), setting);
                    }
                    Some(name)
                });
            }
            "style:text-properties" => {
                if let Some((style, setting)) = self.style.clone().zip(setting(tag)) {
                    self.settings.insert(style, setting);
                }
            }
            "/style:style" => self.style = None,
            "table:table-cell" | "table:covered-table-cell" => {
                (self.runs, self.paragraphs) = (Runs::default(), 0);
                self.is_in_cell = !tag.is_empty;
            }
            "/table:table-cell" | "/table:covered-table-cell" => {
                return std::mem::take(&mut self.is_in_cell) && self.paragraphs == 1;
            }
            "office:annotation" => self.comments += usize::from(!tag.is_empty),
            "/office:annotation" => self.comments = self.comments.saturating_sub(1),
            _ if !self.is_in_cell || self.comments > 0 => {}
            "text:p" => {
                self.spans.clear();
                self.paragraphs += 1;
                self.push(&tag.text());
            }
            "text:span" => {
                let outer = self.spans.last().copied().unwrap_or(Setting::Plain);
                let own = tag.attribute("text:style-name").and_then(|style| self.settings.get(&*style).copied());
                if !tag.is_empty {
                    self.spans.push(own.unwrap_or(outer));
                }
                self.push(&tag.text());
            }
            "/text:span" => {
                self.spans.pop();
                self.push(&tag.text());
            }
            "text:s" => {
                let count = tag.number("text:c").unwrap_or(1).min(MAX_TEXT as u32) as usize;
                self.push(&" ".repeat(count));
                self.push(&tag.text());
            }
            "text:a" | "/text:a" => self.push(&tag.text()),
            _ => {}
        }
        false
    }

    fn push(&mut self, text: &str) {
        self.runs.push(self.spans.last().copied().unwrap_or(Setting::Plain), text);
    }
}

/// Returns the setting of a style in OpenDocument, if it has one: a position such as `super 58%`, `-33% 58%`, or a line through.
fn setting(tag: &Tag<'_>) -> Option<Setting> {
    let line = ["style:text-line-through-style", "style:text-line-through-type"];
    if line.iter().any(|name| tag.attribute(name).is_some_and(|line| line != "none")) {
        return Some(Setting::Struck);
    }
    let position = tag.attribute("style:text-position")?;
    let position = position.split_whitespace().next()?;
    match position {
        "super" => Some(Setting::Raised),
        "sub" => Some(Setting::Lowered),
        percent => match percent.strip_suffix('%')?.parse::<f64>().ok()? {
            0.0 => None,
            raised if raised > 0.0 => Some(Setting::Raised),
            _ => Some(Setting::Lowered),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(xml: &str) -> impl Iterator<Item = Tag<'_>> {
        xml.split_inclusive('<').filter_map(|piece| Tag::parse(piece.as_bytes()))
    }

    fn shown(texts: &RichTexts, text: &str) -> String {
        let parts = texts.parts(text).map(|part| format!("{:?} {}", part.setting, part.text));
        parts.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn parts_of_texts_in_xlsx_are_found() {
        let xml = "<sst><si><t>plain</t></si><si><r><t>12.50</t></r><r><rPr><vertAlign val=\"superscript\"/></rPr><t>1</t></r></si>\
            <si><r><rPr><b/><strike/></rPr><t xml:space=\"preserve\">15.00 </t></r><r><rPr><b/></rPr><t>12 &amp; up</t></r></si>\
            <si><r><rPr><strike val=\"0\"/></rPr><t>15</t></r><r><t>16</t></r></si>\
            <si><r><rPr><vertAlign val=\"superscript\"/></rPr><t>7</t></r></si><si><r><rPr><strike/></rPr><t>8</t></r></si>\
            <x:si><x:r><x:t>H</x:t></x:r><x:r><x:rPr><x:vertAlign val=\"subscript\"/></x:rPr><x:t>2</x:t></x:r><x:rPh><x:t>q</x:t></x:rPh></x:si></sst>";
        let (mut runs, mut texts) = (Runs::default(), RichTexts::default());
        for tag in pieces(xml) {
            if runs.read_xlsx(&tag) {
                texts.add(std::mem::take(&mut runs.parts));
            }
        }
        assert_eq!(shown(&texts, "12.501"), "Plain 12.50, Raised 1");
        assert_eq!(shown(&texts, "15.00 12 & up"), "Struck 15.00 , Plain 12 & up");
        assert_eq!(shown(&texts, "8"), "Struck 8");
        assert_eq!(shown(&texts, "H2"), "Plain H, Lowered 2");
        for plain in ["plain", "1516", "7", ""] {
            assert_eq!(shown(&texts, plain), "");
        }
        assert!(has_marks(xml.as_bytes()).is_ok_and(|found| found));
        assert!(has_marks(&b"<sst><si><t>a</t></si></sst>"[..]).is_ok_and(|found| !found));
    }

    #[test]
    fn parts_of_texts_in_open_document_are_found() {
        let xml = "<style:style style:name=\"T1\" style:family=\"text\"><style:text-properties style:text-position=\"super 58%\"/>\
            </style:style><style:style style:name=\"T2\" style:family=\"text\"><style:text-properties \
            style:text-line-through-style=\"solid\"/></style:style><style:style style:name=\"T3\" style:family=\"text\">\
            <style:text-properties style:text-position=\"0% 100%\" style:text-line-through-style=\"none\"/></style:style><office:body>\
            <table:table-cell><text:p>12.50<text:span text:style-name=\"T1\">1</text:span></text:p></table:table-cell>\
            <table:table-cell><office:annotation><text:p>x</text:p></office:annotation><text:p><text:span text:style-name=\"T2\">15\
            </text:span>12</text:p></table:table-cell><table:table-cell><text:p><text:span text:style-name=\"T3\">5</text:span>6</text:p>\
            </table:table-cell>";
        let (mut reader, mut texts) = (OdsReader::default(), RichTexts::default());
        for tag in pieces(xml) {
            if reader.read(&tag) {
                texts.add(std::mem::take(&mut reader.runs.parts));
            }
        }
        assert_eq!(shown(&texts, "12.501"), "Plain 12.50, Raised 1");
        assert_eq!(shown(&texts, "1512"), "Struck 15, Plain 12");
        assert_eq!(shown(&texts, "56"), "");
    }
}
