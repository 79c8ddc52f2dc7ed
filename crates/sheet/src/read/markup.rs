//! Detection of web pages and XML documents.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Markup {
    /// A web page.
    Html,
    /// Excel's XML of 2003.
    SpreadsheetXml,
    /// OpenDocument in a single XML file.
    FlatOds,
    /// Another format, for messages.
    Other(&'static str),
}

/// First elements of web pages and fragments.
const HTML: [&str; 14] = [
    "html", "head", "body", "meta", "title", "style", "link", "script", "base", "table", "center", "div", "form",
    "font",
];
const SPREADSHEET_XML: &str = "urn:schemas-microsoft-com:office:spreadsheet";

/// Returns the kind of a file that starts with markup, and `None` for other texts.
pub(super) fn detect(sample: &[u8]) -> Option<Markup> {
    let text = text(sample);
    let mut rest = text.trim_start_matches('\u{FEFF}').trim_start();
    if rest.starts_with("MIME-Version:") && text.contains("multipart/related") {
        return Some(Markup::Other("a web archive (MHTML)"));
    }
    let is_xml = begins(rest, "<?xml");
    let is_doctype = begins(rest, "<!doctype html");
    // Processing instructions, comments and the document type come before the first element.
    loop {
        rest = rest.trim_start();
        let end = if rest.starts_with("<!--") {
            "-->"
        } else if begins(rest, "<!doctype") && rest.split('>').next().is_some_and(|tag| tag.contains('[')) {
            "]>"
        } else if rest.starts_with("<?") || rest.starts_with("<!") {
            ">"
        } else {
            break;
        };
        rest = rest.split_once(end)?.1;
    }
    let tag = rest.strip_prefix('<').unwrap_or_default();
    let name = tag.split(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).next().unwrap_or_default();
    let local = name.rsplit_once(':').map_or(name, |(_, local)| local);
    if local == "Workbook" && text.contains(SPREADSHEET_XML) {
        return Some(Markup::SpreadsheetXml);
    }
    if name == "office:document" {
        return Some(match tag.split('>').next().is_some_and(|tag| tag.contains("opendocument.spreadsheet")) {
            true => Markup::FlatOds,
            false => Markup::Other("an OpenDocument file"),
        });
    }
    let is_page = HTML.iter().any(|html| name.eq_ignore_ascii_case(html));
    // A text may start with an element too, but rarely with an element followed by a table.
    let has_table = || text.to_ascii_lowercase().contains("<table");
    if is_doctype || begins(rest, "<html") || is_page && has_table() {
        return Some(Markup::Html);
    }
    is_xml.then_some(Markup::Other("an XML document"))
}

/// Returns the declared encoding of a page, if ASCII-compatible.
pub(super) fn declared_encoding(sample: &[u8]) -> Option<&'static Encoding> {
    let start = String::from_utf8_lossy(sample).to_ascii_lowercase();
    let labels = ["charset=", "encoding="].into_iter().filter_map(|name| {
        let at = start.find(name)? + name.len();
        let label = start[at..].trim_start_matches(['"', '\'', ' ']);
        label.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '>' | '/' | '?')).next()
    });
    labels.filter_map(|label| Encoding::for_label(label.as_bytes())).find(|encoding| encoding.is_ascii_compatible())
}

/// Returns the text for detection only: ASCII is readable in all encodings except UTF-16.
fn text(sample: &[u8]) -> Cow<'_, str> {
    let utf16 = match sample {
        [0xFF, 0xFE, ..] | [b'<', 0, ..] => UTF_16LE,
        [0xFE, 0xFF, ..] | [0, b'<', ..] => UTF_16BE,
        _ => UTF_8,
    };
    utf16.decode_without_bom_handling(sample).0
}

fn begins(text: &str, with: &str) -> bool {
    text.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, kind: Option<Markup>) {
        assert_eq!(detect(text.as_bytes()), kind, "{text}");
        let utf16: Vec<u8> = format!("\u{FEFF}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(detect(&utf16), kind, "{text}");
    }

    #[test]
    fn markup_is_recognized_by_its_first_element() {
        check("<!DOCTYPE html><html><body>", Some(Markup::Html));
        check("\n<HTML xmlns:x=\"urn:schemas-microsoft-com:office:excel\">", Some(Markup::Html));
        check("<meta http-equiv=\"Content-Type\"><table>", Some(Markup::Html));
        check("<!DOCTYPE a [<!ENTITY b \"c\">]><html>", Some(Markup::Html));
        check("<!-- from our shop --><Table border=1>", Some(Markup::Html));
        let workbook = "<?xml version=\"1.0\"?>\n<?mso-application progid=\"Excel.Sheet\"?>\n<Workbook \
                        xmlns=\"urn:schemas-microsoft-com:office:spreadsheet\">";
        check(workbook, Some(Markup::SpreadsheetXml));
        check(&workbook.replace("<Workbook ", "<ss:Workbook "), Some(Markup::SpreadsheetXml));
        let flat = "<?xml version=\"1.0\"?><office:document office:mimetype=\"application/vnd.oasis.opendocument.spreadsheet\">";
        check(flat, Some(Markup::FlatOds));
    }

    #[test]
    fn other_documents_and_texts_are_not_tables() {
        assert_eq!(detect(b"<?xml version=\"1.0\"?><orders/>"), Some(Markup::Other("an XML document")));
        let text = "<office:document office:mimetype=\"application/vnd.oasis.opendocument.text\">";
        assert_eq!(detect(text.as_bytes()), Some(Markup::Other("an OpenDocument file")));
        let archive = "MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=\"x\"";
        assert_eq!(detect(archive.as_bytes()), Some(Markup::Other("a web archive (MHTML)")));
        for text in ["SKU;Name\n<b>42</b>;Bolt\n", "<b>SKU</b>,Name\n", "<5,six\n", "a<table>b", ""] {
            check(text, None);
        }
    }

    #[test]
    fn declared_encodings_are_found() {
        let label = |text: &str| declared_encoding(text.as_bytes()).map(Encoding::name);
        assert_eq!(label("<meta charset=\"ISO-8859-1\">"), Some("windows-1252"));
        assert_eq!(label("<META content='text/html; charset=windows-1251'>"), Some("windows-1251"));
        assert_eq!(label("<?xml version='1.0' encoding='utf-8'?><html>"), Some("UTF-8"));
        assert_eq!(label("<meta charset=utf-16>"), None);
        assert_eq!(label("<table>"), None);
    }
}
