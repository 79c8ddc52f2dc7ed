//! Hostile and damaged workbooks end with an error message.

use std::process::Command;
use std::time::{Duration, Instant};

use sheetport_sheet::Error;

use super::parts::{Xlsx, archive, ods};
use super::{file, folder, read, rows};
use crate::environment;

/// Reads all sheets of a file and returns the error.
pub fn end(bytes: &[u8]) -> Result<Vec<String>, Error> {
    let folder = folder();
    let book = read(&file(&folder, "prices.xlsx", bytes))?;
    let mut all = Vec::new();
    for sheet in 0..book.sheets().len() {
        let (lines, error) = rows(&book, sheet);
        if let Some(error) = error {
            return Err(error);
        }
        all.extend(lines);
    }
    Ok(all)
}

#[track_caller]
fn check_unreadable(bytes: &[u8], reason: &str) {
    let start = Instant::now();
    match end(bytes) {
        Err(Error::Unreadable { reason: said, .. }) => assert!(said.contains(reason), "{said}"),
        other => panic!("{other:?}"),
    }
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn cells_in_opposite_corners_are_read() {
    let sheet = "<dimension ref=\"A1:XFD1048576\"/><sheetData><row r=\"1\"><c r=\"A1\"><v>1</v></c></row>\
                 <row r=\"1048576\"><c r=\"XFD1048576\"><v>2</v></c></row></sheetData>";
    let lines = end(&Xlsx { sheet, ..Xlsx::default() }.bytes()).unwrap();
    assert_eq!(lines.len(), 2);
    let cell = "<table:table-cell office:value-type=\"float\" office:value=\"1\"/>";
    let corners = format!(
        "<table:table-row>{cell}</table:table-row><table:table-row table:number-rows-repeated=\"1048574\"><table:table-cell/>\
         </table:table-row><table:table-row><table:table-cell table:number-columns-repeated=\"16383\"/>{cell}</table:table-row>"
    );
    check_unreadable(&ods(&corners), "Cell limit exceeded");
}

#[test]
fn a_table_that_exceeds_the_memory_limit_is_refused() {
    let cell = "<table:table-cell office:value-type=\"string\"><text:p>abc</text:p></table:table-cell>";
    let wide = format!("<table:table-row table:number-rows-repeated=\"90000\">{}</table:table-row>", cell.repeat(1000));
    check_unreadable(&ods(&wide), "more than the 400 MiB of memory");
}

#[test]
fn a_wrong_count_of_shared_strings_is_refused() {
    let strings = Some("<sst count=\"1\" uniqueCount=\"4294967295\"><si><t>a</t></si></sst>");
    check_unreadable(&Xlsx { shared_strings: strings, ..Xlsx::default() }.bytes(), "memory");
}

#[test]
fn a_zip_bomb_is_refused_even_with_a_wrong_size() {
    let sheet = format!("<sheetData>{}</sheetData>", " ".repeat(200 << 20));
    let bomb = Xlsx { sheet: &sheet, ..Xlsx::default() }.bytes();
    assert!(bomb.len() < 1 << 20);
    check_unreadable(&bomb, "ZIP bomb");
    let len = (sheet.len() as u32 + "<worksheet xmlns=\"\"></worksheet>".len() as u32 + 57).to_le_bytes();
    let mut lying = bomb.clone();
    let at: Vec<_> = lying.windows(4).enumerate().filter(|(_, bytes)| *bytes == len).map(|(at, _)| at).collect();
    assert!(!at.is_empty());
    at.into_iter().for_each(|at| lying[at..at + 4].copy_from_slice(&1000_u32.to_le_bytes()));
    check_unreadable(&lying, "larger than its declared");
}

#[test]
fn an_archive_of_many_parts_is_refused() {
    let names: Vec<_> = (0..20_001).map(|index| format!("xl/{index}")).collect();
    let parts: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    check_unreadable(&archive(&parts), "20001 parts");
}

#[test]
fn a_zip_bomb_of_many_small_parts_is_refused() {
    let names: Vec<_> = (0..140).map(|index| format!("xl/media/{index}.xml")).collect();
    let part = [b' '; 1013];
    let parts: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &part[..])).collect();
    let mut bomb = archive(&parts);
    let len = (part.len() as u32).to_le_bytes();
    let at: Vec<_> = bomb.windows(4).enumerate().filter(|(_, bytes)| *bytes == len).map(|(at, _)| at).collect();
    assert!(at.len() >= names.len());
    at.into_iter().for_each(|at| bomb[at..at + 4].copy_from_slice(&(120_u32 << 20).to_le_bytes()));
    check_unreadable(&bomb, "ZIP bomb");
}

#[test]
fn entities_are_not_expanded() {
    let strings =
        "<!DOCTYPE sst [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]><sst><si><t>&b;</t></si></sst>";
    check_unreadable(&Xlsx { shared_strings: Some(strings), ..Xlsx::default() }.bytes(), "document type definition");
    let sheet = "<sheetData><row><c t=\"inlineStr\"><is><t>&b;</t></is></c></row></sheetData>";
    check_unreadable(&Xlsx { sheet, ..Xlsx::default() }.bytes(), "damaged");
}

#[test]
fn a_workbook_without_progress_is_refused() {
    let content: &[u8] = b"<office:spreadsheet><table:table table:name=\"Prices\"><table:table-row>";
    let endless = archive(&[
        ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", b"<manifest:manifest/>"),
        ("content.xml", content),
    ]);
    match end(&endless) {
        Err(Error::Unreadable { .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_xls_workbook_that_requests_much_memory_is_refused() {
    let mut bytes = vec![0xFF_u8; 1024];
    bytes[..8].copy_from_slice(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1");
    bytes[26..34].copy_from_slice(&[3, 0, 0xFE, 0xFF, 9, 0, 6, 0]);
    let name: Vec<u8> = "Workbook".encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes[512..512 + name.len()].copy_from_slice(&name);
    bytes[48..52].copy_from_slice(&[0; 4]);
    for counts in [40, 44, 64, 72] {
        let mut asking = bytes.clone();
        asking[counts..counts + 4].copy_from_slice(&0x7FFF_FFFF_u32.to_le_bytes());
        check_unreadable(&asking, "");
    }
}

#[test]
fn the_program_ends_with_its_exit_code_and_a_message() {
    let folder = folder();
    let strings = Some("<sst uniqueCount=\"4294967295\"></sst>");
    let asking = Xlsx { shared_strings: strings, ..Xlsx::default() }.bytes();
    let bomb = Xlsx { sheet: &" ".repeat(200 << 20), ..Xlsx::default() }.bytes();
    let whole = Xlsx::default().bytes();
    let cell = "<table:table-cell office:value-type=\"string\"><text:p>abc</text:p></table:table-cell>";
    let wide = format!("<table:table-row table:number-rows-repeated=\"90000\">{}</table:table-row>", cell.repeat(1000));
    for (bytes, words) in [
        (asking.as_slice(), "MiB of memory"),
        (&bomb, "ZIP bomb"),
        (&whole[..whole.len() / 2], "can't be read"),
        (&super::kinds::ole("EncryptedPackage"), "can't be read"),
        (&ods(&wide), "MiB of memory"),
    ] {
        let path = file(&folder, "prices.xlsx", bytes);
        for way in [&["check", "-t", "items"][..], &["view", "--json", "--all-sheets"]] {
            let mut program = Command::new(env!("CARGO_BIN_EXE_sheetport"));
            let output =
                program.args(way).arg("--no-progress").arg("--home").arg(folder.path()).arg(&path).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(7), "{said}");
            let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("hint: ")).collect();
            assert!(matches!(lines.as_slice(), [line] if line.contains(words)), "{said}");
        }
    }
    #[cfg(unix)]
    if let Some(peak) = environment::peak_memory_of_children() {
        assert!(peak < 512 << 20, "{} MiB", peak >> 20);
    }
}

#[test]
fn reading_processes_end_with_their_book() {
    let folder = folder();
    let book = read(&Xlsx::default().save(&folder)).unwrap();
    drop(book.rows(0).unwrap());
    drop(book);
    // The file can be read again, on any system.
    std::fs::remove_file(folder.path().join("prices.xlsx")).unwrap();
}

/// Returns an XLSX file with a few cells of each kind.
fn prices() -> Vec<u8> {
    let rows: String = (1..=40)
        .map(|row| {
            format!(
                "<row r=\"{row}\"><c t=\"inlineStr\"><is><t>A-{row}</t></is></c><c s=\"1\"><v>{row}.5</v></c></row>"
            )
        })
        .collect();
    Xlsx { sheet: &format!("<sheetData>{rows}</sheetData>"), formats: &["0.00 [$€-407]"], ..Xlsx::default() }.bytes()
}

#[test]
fn a_flipped_bit_changes_no_value() {
    for bytes in [prices(), super::fuzz::sample_ods(), super::fuzz::sample_xlsb()] {
        let intact = end(&bytes).unwrap();
        let mut refused = 0;
        // A prime step reaches all parts of the archive and all bits of a byte. SHEETPORT_FLIP_STEP=1 tries every bit.
        let step = std::env::var("SHEETPORT_FLIP_STEP").ok().and_then(|step| step.parse().ok()).unwrap_or(211);
        for bit in (0..bytes.len() * 8).step_by(step) {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            match end(&flipped) {
                Ok(lines) => assert_eq!(lines, intact, "bit {bit}"),
                Err(_) => refused += 1,
            }
        }
        println!("{} of {} flipped bits were refused", refused, (bytes.len() * 8).div_ceil(step));
        assert!(refused > 0);
    }
}

#[test]
fn a_part_with_a_wrong_checksum_is_named() {
    let mut damaged = prices();
    let at = damaged.windows(24).rposition(|window| window == b"xl/worksheets/sheet1.xml").unwrap();
    // The checksum in the directory of the archive.
    damaged[at - 30] ^= 1;
    match end(&damaged) {
        Err(Error::Damaged { reason, .. }) => {
            assert!(reason.starts_with("its part xl/worksheets/sheet1.xml"), "{reason}")
        }
        other => panic!("{other:?}"),
    }
}
