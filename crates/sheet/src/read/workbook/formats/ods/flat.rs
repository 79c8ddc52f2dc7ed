//! OpenDocument sheets in a single XML file (`.fods`), converted to an archive in memory.

use std::io::{Cursor, Read, Write};

use encoding_rs::{Encoding, UTF_8};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::super::archive::{attribute, utf16};
use super::super::cells::damage;
use super::super::input::Source;
use super::super::repair::without_indent;
use super::marks::{Marked, Marker};
use crate::read::workbook::fault::Fault;

const MEDIA_TYPE: &str = "application/vnd.oasis.opendocument.spreadsheet";
const END: &str = "</office:document>";
/// Elements without cells: pictures, and charts, because the tables within charts are not sheets.
const LEFT_OUT: [(&str, &str); 2] =
    [("<draw:object", "</draw:object>"), ("<office:binary-data", "</office:binary-data>")];

/// Returns the document as an archive with marks.
///
/// # Errors
/// A [`Fault`] if the document is incomplete, or has a document type definition.
pub(crate) fn as_archive(file: &Source) -> Result<Marked, Fault> {
    let mut bytes = Vec::new();
    file.again().read_to_end(&mut bytes).map_err(|error| Fault::new(error.to_string()))?;
    let text = decoded(bytes)?;
    if !text.trim_end().ends_with(END) {
        return Err(Fault::new("it ends before the end of the document, so rows may be missing"));
    }
    if text.contains("<!DOCTYPE") {
        return Err(Fault::new("it has a document type definition, which workbooks never need"));
    }
    let marked = Marker::mark_text("", &without_indent(&without_objects(&text)));
    drop(text);
    file.activity().record_output();
    let archive = archive_of(&[("content.xml", marked.text.as_bytes())]).map_err(|error| Fault::new(damage(error)))?;
    Ok(Marked { archive: Some(archive), formats: marked.formats, appearances: marked.appearances })
}

/// Returns an archive with these parts, by name.
pub(crate) fn archive_of(parts: &[(&str, &[u8])]) -> zip::result::ZipResult<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    archive.start_file("mimetype", stored)?;
    archive.write_all(MEDIA_TYPE.as_bytes())?;
    archive.start_file("META-INF/manifest.xml", stored)?;
    archive.write_all(b"<manifest:manifest/>")?;
    let packed = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, bytes) in parts {
        archive.start_file(*name, packed.compression_level(Some(1)).large_file(true))?;
        archive.write_all(bytes)?;
    }
    Ok(archive.finish()?.into_inner())
}

/// Returns the text of a document without its XML declaration. The byte order mark, the first bytes or the declaration tell the
/// encoding.
fn decoded(bytes: Vec<u8>) -> Result<String, Fault> {
    let declared = || {
        let declaration = bytes.strip_prefix(b"<?xml")?.split(|byte| *byte == b'>').next()?;
        let declaration = std::str::from_utf8(declaration).ok()?;
        Encoding::for_label(attribute(&declaration.replace('\'', "\""), "encoding")?.as_bytes())
    };
    let encoding = utf16(&bytes).or_else(declared).filter(|encoding| *encoding != UTF_8);
    let text = match encoding {
        Some(encoding) => {
            let (text, _, has_errors) = encoding.decode(&bytes);
            (!has_errors).then(|| text.into_owned())
        }
        None => String::from_utf8(bytes).ok(),
    };
    let text =
        text.ok_or_else(|| Fault::new(damage(format_args!("its text is not {}", encoding.unwrap_or(UTF_8).name()))))?;
    let start = text.trim_start_matches('\u{FEFF}');
    Ok(match start.strip_prefix("<?xml").and_then(|rest| rest.split_once("?>")) {
        Some((_, rest)) => rest.to_owned(),
        None => start.to_owned(),
    })
}

fn without_objects(text: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(text.len()), text);
    loop {
        let found = LEFT_OUT.iter().filter_map(|(start, end)| Some((rest.find(start)?, *end)));
        let Some((at, end)) = found.min() else { break };
        kept.push_str(&rest[..at]);
        let object = &rest[at..];
        let tag_end = object.find('>').map_or(object.len(), |at| at + 1);
        let is_empty = object[..tag_end].ends_with("/>");
        let len = match object.find(end) {
            Some(at) if !is_empty => at + end.len(),
            _ => tag_end,
        };
        rest = &object[len..];
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_left_out() {
        let text = "<a><draw:object x=\"1\"><table:table/></draw:object><b/><draw:object/><office:binary-data>QQ==\
                    </office:binary-data></a>";
        assert_eq!(without_objects(text), "<a><b/></a>");
    }

    #[test]
    fn documents_are_decoded_by_their_declaration() {
        let text = |bytes: &[u8]| decoded(bytes.to_vec()).ok();
        assert_eq!(text(b"<?xml version='1.0' encoding='windows-1252'?><a>\xE4</a>").as_deref(), Some("<a>\u{E4}</a>"));
        assert_eq!(text("\u{FEFF}<?xml version=\"1.0\"?><a>ä</a>".as_bytes()).as_deref(), Some("<a>ä</a>"));
        assert_eq!(text(b"<a>\xE4</a>"), None);
    }
}
