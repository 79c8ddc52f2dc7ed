//! Property tests: random tables in every dialect and encoding are read back unchanged, and random bytes never cause a
//! panic.

use std::fmt::Write as _;

use encoding_rs::Encoding;
use proptest::prelude::*;
use sheetport_sheet::{Options, Row, open};

use super::{file, folder, utf16};

type Rows = Vec<Vec<String>>;

#[derive(Clone, Debug)]
struct Written {
    delimiter: char,
    quote: char,
    backslash: bool,
    always_quoted: bool,
    ending: &'static str,
    packing: Packing,
}

#[derive(Clone, Copy, Debug)]
enum Packing {
    None,
    Gzip,
    Zstd,
}

/// Encodings by label, with some of their letters; `+` means a byte order mark.
const ENCODINGS: [(&str, &str); 14] = [
    ("utf-8", "äß€日😀"),
    ("utf-8+", "äß€日😀"),
    ("utf-16le", "äß€日😀"),
    ("utf-16le+", "äß€日😀"),
    ("utf-16be", "äß€日😀"),
    ("utf-16be+", "äß€日😀"),
    ("windows-1252", "äß€éñ"),
    ("iso-8859-2", "áłżő"),
    ("iso-8859-7", "αβγώ"),
    ("shift_jis", "日本カナｶ"),
    ("euc-jp", "日本カナ"),
    ("gbk", "中文价格"),
    ("big5", "中文價格"),
    ("euc-kr", "한국가격"),
];

impl Written {
    fn text(&self, rows: &Rows) -> String {
        let mut text = String::new();
        for row in rows {
            for (column, cell) in row.iter().enumerate() {
                if column > 0 {
                    text.push(self.delimiter);
                }
                let special = |c: char| matches!(c, '\n' | '\r') || c == self.delimiter || c == self.quote;
                if self.always_quoted || cell.contains(special) || cell.trim() != cell {
                    let escaped = if self.backslash {
                        cell.replace('\\', "\\\\").replace(self.quote, &format!("\\{}", self.quote))
                    } else {
                        cell.replace(self.quote, &self.quote.to_string().repeat(2))
                    };
                    let _ = write!(text, "{0}{escaped}{0}", self.quote);
                } else {
                    text.push_str(cell);
                }
            }
            text.push_str(self.ending);
        }
        text
    }

    fn bytes(&self, text: &str, label: &str) -> Vec<u8> {
        let marked = match label.strip_suffix('+') {
            Some(_) => format!("\u{FEFF}{text}"),
            None => text.to_owned(),
        };
        let bytes = match label.trim_end_matches('+') {
            "utf-16le" => utf16(&marked, u16::to_le_bytes),
            "utf-16be" => utf16(&marked, u16::to_be_bytes),
            label => {
                let (bytes, _, lost) = Encoding::for_label(label.as_bytes()).unwrap().encode(&marked);
                assert!(!lost, "{label} has no {marked}");
                bytes.into_owned()
            }
        };
        match self.packing {
            Packing::None => bytes,
            Packing::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                std::io::Write::write_all(&mut encoder, &bytes).unwrap();
                encoder.finish().unwrap()
            }
            Packing::Zstd => zstd::bulk::compress(&bytes, 1).unwrap(),
        }
    }
}

fn written(delimiters: &[char]) -> impl Strategy<Value = Written> + use<> {
    let packing = prop_oneof![4 => Just(Packing::None), 1 => Just(Packing::Gzip), 1 => Just(Packing::Zstd)];
    (
        prop::sample::select(delimiters.to_vec()),
        prop::sample::select(vec!['"', '\'']),
        any::<bool>(),
        any::<bool>(),
        prop::sample::select(vec!["\n", "\r\n", "\r"]),
        packing,
    )
        .prop_map(|(delimiter, quote, backslash, always_quoted, ending, packing)| Written {
            delimiter,
            quote,
            backslash,
            always_quoted,
            ending,
            packing,
        })
}

/// A table with a header, special characters and letters of the encoding.
fn table(letters: &'static str) -> impl Strategy<Value = Rows> {
    let special = "aB1 ,;|:^~\t\"'\\\n\r.-";
    let alphabet: Vec<char> = special.chars().chain(letters.chars()).collect();
    let cell = prop::collection::vec(prop::sample::select(alphabet), 0..8).prop_map(String::from_iter);
    (2usize..6).prop_flat_map(move |columns| {
        let row = prop::collection::vec(cell.clone(), columns);
        let header = (0..columns).map(|column| format!("Column {column}")).collect::<Vec<_>>();
        prop::collection::vec(row, 0..8).prop_map(move |rows| [vec![header.clone()], rows].concat())
    })
}

/// Typical cells, with words of the encoding.
fn price_list(words: &'static str) -> impl Strategy<Value = Rows> {
    let row = (1u32..99_999, "[A-Z][a-z]{2,8}( M[0-9]{1,2})?", 0u32..9999, 0u32..100).prop_map(
        move |(sku, name, price, cents)| {
            vec![format!("{sku:05}"), format!("{name} {words}"), format!("{price}.{cents:02}"), "pcs".to_owned()]
        },
    );
    prop::collection::vec(row, 3..20).prop_map(|rows| {
        let header = ["SKU", "Name", "Price", "Unit"].map(str::to_owned).to_vec();
        [vec![header], rows].concat()
    })
}

fn read(bytes: &[u8], options: &Options) -> Rows {
    let folder = folder();
    let book = open(&file(&folder, "table.csv", bytes), options).unwrap();
    let (mut rows, mut row, mut all) = (book.rows(0).unwrap(), Row::default(), Vec::new());
    while rows.next(&mut row).unwrap() {
        all.push(row.cells().map(|cell| cell.shown().into_owned()).collect());
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_table_in_any_dialect_and_encoding_comes_back_when_it_is_told(
        written in written(&[',', ';', '\t', '|', ':', '^', '~']),
        (label, rows) in prop::sample::select(&ENCODINGS[..])
            .prop_flat_map(|(label, letters)| (Just(label), table(letters))),
    ) {
        let bytes = written.bytes(&written.text(&rows), label);
        let options = Options {
            delimiter: Some(written.delimiter as u8),
            encoding: Some(label.trim_end_matches('+').to_owned()),
            quote: Some(Some(written.quote as u8)),
            escape: Some(written.backslash.then_some(b'\\')),
            ..Options::default()
        };
        prop_assert_eq!(read(&bytes, &options), rows);
    }

    #[test]
    fn a_price_list_in_any_dialect_is_found_out(
        written in written(&[',', ';', '\t', '|']),
        (label, rows) in prop::sample::select(&ENCODINGS[..7])
            .prop_flat_map(|(label, _)| (Just(label), price_list("Größe für Türen, weiß; \"klein\""))),
    ) {
        let bytes = written.bytes(&written.text(&rows), label);
        prop_assert_eq!(read(&bytes, &Options::default()), rows);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        exhaust(&bytes);
    }

    #[test]
    fn any_marks_are_read_or_refused(text in "[ab1 ,;\t|\"'\\\\\n\r\u{0}ä]{0,80}") {
        exhaust(text.as_bytes());
        exhaust(&utf16(&text, u16::to_le_bytes));
    }
}

/// Reads the file as a table, with detection of titles, headers and pages.
fn exhaust(bytes: &[u8]) {
    let folder = folder();
    let Ok(book) = open(&file(&folder, "any.csv", bytes), &Options::default()) else { return };
    let mut row = Row::default();
    let Ok(rows) = book.rows(0) else { return };
    let Ok(mut table) = sheetport_sheet::Table::new(rows) else { return };
    while matches!(table.next(&mut row), Ok(true)) {}
}
