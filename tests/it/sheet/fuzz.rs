//! Fuzzing with randomly changed files: reading ends with rows or with an error message, never with a panic or an endless
//! loop.
//!
//! The short test runs with all others on generated files. The long test uses the files of a folder:
//!
//! ```text
//! SHEETPORT_FUZZ_FOLDER=files SHEETPORT_FUZZ_SECONDS=600 cargo nextest run --run-ignored all changed_files_of_a_folder
//! ```

use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rust_xlsxwriter::{Format, Workbook};
use sheetport_sheet::{Options, Row, open};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use super::hostile_workbooks::end;
use super::markup::{EXCEL_PAGE, FLAT_ODS, SPREADSHEET_XML};
use super::parts::{XlsbCell, Xlsx, archive, ods, xls, xls_cell, xlsb};
use super::{file, folder};

/// Maximum time to read a file, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

#[track_caller]
fn check(bytes: &[u8]) {
    let start = Instant::now();
    if let Err(error) = end(bytes) {
        let said = error.to_string();
        assert!(!said.contains('\n') && !said.contains("panicked"), "{said}");
    }
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
}

fn sample_xlsx() -> Vec<u8> {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    for row in 0..20 {
        sheet.write_string(row, 0, format!("name {row}")).unwrap();
        sheet.write_number_with_format(row, 1, row, &Format::new().set_num_format("0000")).unwrap();
        sheet.write_formula(row, 2, "=A1&\"<\"").unwrap();
        sheet.write_boolean(row, 3, true).unwrap();
    }
    workbook.save_to_buffer().unwrap()
}

pub(super) fn sample_ods() -> Vec<u8> {
    ods(&"<table:table-row table:number-rows-repeated=\"3\"><table:table-cell office:value-type=\"date\" \
         office:date-value=\"2025-10-13\"><text:p>x</text:p></table:table-cell></table:table-row>"
        .repeat(20))
}

/// Cells of kinds that no library writes.
fn sample_plain_xlsx() -> Vec<u8> {
    let cells = "<sheetData><row r=\"2\"><c r=\"A2\" s=\"1\" t=\"n\"><v>42</v></c><c r=\"B2\" t=\"inlineStr\"><is><t>a&amp;b</t></is></c>\
     <c r=\"C2\"><f t=\"shared\" ref=\"C2:C9\" si=\"0\">A2*2</f><v>84</v></c><c t=\"e\"><v>#N/A</v></c></row></sheetData>"
        .repeat(3);
    Xlsx { sheet: &cells, formats: &["00000"], ..Xlsx::default() }.bytes()
}

pub(super) fn sample_xlsb() -> Vec<u8> {
    let (number, text) = (1.5_f64.to_le_bytes(), [2, 0, 0, 0, b'a', 0, b'b', 0]);
    let row: [XlsbCell<'_>; 6] = [
        (11, 0, &[0x2A, 0, 0, 0, 0, 0, 0]),
        (2, 1, &[170, 0, 0, 0]),
        (5, 1, &number),
        (4, 0, &[1]),
        (3, 0, &[0x07]),
        (6, 0, &text),
    ];
    xlsb(&["00000"], &[&row, &row.repeat(3)])
}

fn sample_xls() -> Vec<u8> {
    let shared = [&[2, 0, 0, 0, 1, 0, 0, 0][..], &[3, 0, 0], b"abc"].concat();
    let format = [&164_u16.to_le_bytes()[..], &[10, 0, 0], b"yyyy-mm-dd"].concat();
    let styles = [0_u8, 164].map(|format| (0x00E0, [&[0, 0, format, 0][..], &[0; 16]].concat()));
    let globals = [&[(0x0042, vec![0xB0, 4]), (0x041E, format), (0x00FC, shared)][..], &styles].concat();
    let cells = [
        xls_cell(0x0203, (0, 0), 0, &1234.5_f64.to_le_bytes()),
        xls_cell(0x027E, (0, 1), 1, &[82, 0, 0, 0]),
        xls_cell(0x00FD, (0, 2), 0, &[0; 4]),
        xls_cell(0x0204, (0, 3), 0, &[2, 0, 0, b'h', b'i']),
        xls_cell(0x0205, (0, 4), 0, &[1, 0]),
        xls_cell(0x0205, (0, 5), 0, &[0x2A, 1]),
        xls_cell(0x0006, (0, 6), 0, &[&[0; 6][..], &[0xFF, 0xFF], &[0; 8]].concat()),
        (0x0207, vec![2, 0, 0, b'h', b'o']),
        (0x00BD, [&[1_u8, 0, 0, 0][..], &[0, 0, 2, 0, 0xB4, 0x40], &[0, 0, 3, 0, 0xB4, 0x40], &[1, 0]].concat()),
        (0x00E5, vec![1, 0, 0, 0, 0, 0, 0, 0, 1, 0]),
    ];
    xls(&globals, &cells)
}

#[test]
fn unchanged_samples_are_workbooks() {
    for (sample, rows) in
        [(sample_xlsx(), 20), (sample_ods(), 60), (sample_plain_xlsx(), 1), (sample_xlsb(), 2), (sample_xls(), 2)]
    {
        assert_eq!(end(&sample).unwrap().len(), rows);
    }
    assert_eq!(end(&sample_xls()).unwrap()[0], "1: 1234.5|1900-01-20|abc|hi|TRUE|#N/A|ho");
}

/// Positions and new values of bytes.
fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    let bytes = prop_oneof![any::<u8>(), Just(b'<'), Just(b'9'), Just(b'"'), Just(0xFF), Just(0)];
    prop::collection::vec((any::<prop::sample::Index>(), bytes), 1..6)
}

fn changed(mut bytes: Vec<u8>, changes: &[(prop::sample::Index, u8)], keep: Option<prop::sample::Index>) -> Vec<u8> {
    if bytes.is_empty() {
        return bytes;
    }
    changes.iter().for_each(|(at, byte)| *at.get_mut(&mut bytes) = *byte);
    if let Some(keep) = keep {
        bytes.truncate(keep.index(bytes.len()));
    }
    bytes
}

/// Changes one part of an archive before checksums are computed. Other files are changed directly.
fn changed_inside(bytes: &[u8], part: usize, change: impl Fn(Vec<u8>) -> Vec<u8>) -> Vec<u8> {
    let Ok(mut archive) = ZipArchive::new(Cursor::new(bytes)) else { return change(bytes.to_vec()) };
    let part = part % archive.len().max(1);
    let mut changed = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..archive.len() {
        let Ok(mut entry) = archive.by_index(index) else { continue };
        let Ok(name) = entry.name().map(|name| name.to_string()) else { continue };
        let mut content = Vec::new();
        if (&mut entry).take(16 << 20).read_to_end(&mut content).is_err() {
            continue;
        }
        let content = if index == part { change(content) } else { content };
        if changed.start_file(name, SimpleFileOptions::default()).is_ok() {
            changed.write_all(&content).unwrap();
        }
    }
    changed.finish().unwrap().into_inner()
}

/// Reads all rows of a text with these options.
fn read_text(bytes: &[u8], options: &Options) -> Option<Vec<Vec<String>>> {
    let folder = folder();
    let book = open(&file(&folder, "prices.csv", bytes), options).ok()?;
    let mut rows = book.rows(0).ok()?;
    let (mut row, mut all) = (Row::default(), Vec::new());
    while rows.next(&mut row).ok()? {
        all.push(row.cells().map(|cell| cell.shown().into_owned()).collect());
    }
    Some(all)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_damaged_workbook_is_read_or_refused(
        which in 0..9, inside: bool, part: prop::sample::Index, changes in changes(),
        keep in prop::option::weighted(0.1, any::<prop::sample::Index>())
    ) {
        let bytes = match which {
            0 => sample_xlsx(),
            1 => sample_ods(),
            2 => sample_plain_xlsx(),
            3 => sample_xlsb(),
            4 => sample_xls(),
            5 => SPREADSHEET_XML.into(),
            6 => FLAT_ODS.into(),
            7 => EXCEL_PAGE.into(),
            _ => archive(&[("prices.csv", b"SKU,Name\n0042,Bolt\n")]),
        };
        let change = |bytes| changed(bytes, &changes, keep);
        check(&if inside { changed_inside(&bytes, part.index(64), change) } else { change(bytes) });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(
        text in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..400),
            "[a-z0-9 ,;\t|:'\"\\\\.\n\r#^~é€-]{0,400}".prop_map(String::into_bytes),
            "(([a-z]{0,5}|[0-9.]{1,6}|\"[a-z,;\n\"]{0,9}\"?)[,;\t|]?){0,8}\r?\n".prop_map(|line| line.repeat(40).into_bytes()),
        ],
        changes in changes(),
    ) {
        check(&text);
        check(&changed(text, &changes, None));
    }

    #[test]
    fn texts_quoted_by_other_programs_are_read_exactly(
        rows in prop::collection::vec(prop::collection::vec("[ -~éß€\n\r\t]{0,12}", 3), 1..30),
        delimiter in prop::sample::select(b",;\t|:^".to_vec()),
        quote in prop::sample::select(b"\"'".to_vec()),
    ) {
        let mut writer = csv::WriterBuilder::new()
            .delimiter(delimiter).quote(quote).quote_style(csv::QuoteStyle::Always).from_writer(Vec::new());
        rows.iter().for_each(|row| writer.write_record(row).unwrap());
        let text = writer.into_inner().unwrap();
        let options = Options {
            delimiter: Some(delimiter), quote: Some(Some(quote)), escape: Some(None), encoding: Some("utf-8".to_owned()),
            ..Options::default()
        };
        prop_assert_eq!(read_text(&text, &options), Some(rows));
    }
}

/// The long test.
#[test]
#[ignore = "needs a folder of files, in SHEETPORT_FUZZ_FOLDER"]
fn changed_files_of_a_folder_end_with_rows_or_an_error() {
    let folder = std::env::var_os("SHEETPORT_FUZZ_FOLDER").expect("SHEETPORT_FUZZ_FOLDER names a folder");
    let seconds = std::env::var("SHEETPORT_FUZZ_SECONDS").map_or(60, |seconds| seconds.parse().expect("a number"));
    let seed = std::env::var("SHEETPORT_FUZZ_SEED").map_or(1, |seed| seed.parse().expect("a number"));
    let (end, mut chance, mut tried) =
        (Instant::now() + Duration::from_secs(seconds), fastrand::Rng::with_seed(seed), 0);
    let files = files_in(Path::new(&folder));
    assert!(!files.is_empty(), "there are no files in the folder");
    while Instant::now() < end {
        let Some(path) = chance.choice(&files) else { break };
        let bytes = std::fs::read(path).unwrap();
        let mut change = fastrand::Rng::with_seed(chance.u64(..));
        let spoilt = match change.u8(..4) {
            0 => spoilt(bytes, &mut change),
            _ => {
                let (part, seed) = (change.usize(..), change.u64(..));
                changed_inside(&bytes, part, |part| spoilt(part, &mut fastrand::Rng::with_seed(seed)))
            }
        };
        // A failure leaves the file that caused it.
        let kept = std::env::temp_dir().join(format!("sheetport-fuzz-{seed}"));
        std::fs::write(&kept, &spoilt).unwrap();
        let checked = std::panic::catch_unwind(|| check(&spoilt));
        assert!(checked.is_ok(), "{} changed into {}", path.display(), kept.display());
        std::fs::remove_file(&kept).unwrap();
        tried += 1;
    }
    println!("{tried} files");
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    const LARGEST: u64 = 2 << 20;
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.metadata().unwrap();
        if kind.is_dir() {
            files.extend(files_in(&entry.path()));
        } else if kind.len() <= LARGEST {
            files.push(entry.path());
        }
    }
    files.sort();
    files
}

/// Changes, removes, duplicates or moves a few bytes, numbers or ranges.
fn spoilt(mut bytes: Vec<u8>, chance: &mut fastrand::Rng) -> Vec<u8> {
    for _ in 0..chance.usize(1..8) {
        if bytes.is_empty() {
            return bytes;
        }
        let at = chance.usize(..bytes.len());
        let len = chance.usize(1..64).min(bytes.len() - at);
        match chance.u8(..7) {
            0 => bytes[at] = chance.u8(..),
            1 => bytes[at] ^= 1 << chance.u8(..8),
            2 => bytes[at..at + len].fill([0, 0xFF, b'9', b'"', b'<'][chance.usize(..5)]),
            3 => drop(bytes.drain(at..at + len)),
            4 => {
                let stretch = bytes[at..at + len].to_vec();
                let to = chance.usize(..=bytes.len());
                bytes.splice(to..to, stretch);
            }
            5 => bytes.truncate(at),
            _ => {
                let number = [0_u32, 1, 0x7FFF_FFFF, 0xFFFF_FFFF, 0x0001_0000][chance.usize(..5)];
                let number = number.to_le_bytes();
                let len = len.min(4);
                bytes[at..at + len].copy_from_slice(&number[..len]);
            }
        }
    }
    bytes
}
