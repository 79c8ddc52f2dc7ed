//! Hostile text files are refused early, with a clear message and in bounded memory.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

use sheetport_sheet::{Error, Row};

use super::{file, folder, read};

/// Checks that the file is refused quickly for this reason.
#[track_caller]
fn check(path: &std::path::Path, reason: &str) {
    let start = Instant::now();
    let error = read_all(path).expect_err("it is to be refused");
    assert!(error.to_string().contains(reason), "{error}");
    assert!(error.hint().is_some());
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

fn read_all(path: &std::path::Path) -> Result<u64, Error> {
    let mut rows = read(path)?.rows(0)?;
    let (mut row, mut count) = (Row::default(), 0);
    while rows.next(&mut row)? {
        count += 1;
    }
    Ok(count)
}

/// Creates a sparse file of 10 GiB.
fn endless(path: &std::path::Path, beginning: &[u8]) {
    let mut file = File::create(path).unwrap();
    file.write_all(beginning).unwrap();
    file.seek(SeekFrom::Start(10 << 30)).unwrap();
    file.write_all(b"\n").unwrap();
}

#[test]
fn a_line_of_ten_gibibytes_is_refused() {
    let folder = folder();
    let path = folder.path().join("line.csv");
    endless(&path, b"a,b\n1,2\n");
    check(&path, "binary data");
    endless(&path, &b"a,b\n1,2\n".repeat(20_000));
    check(&path, "longer than 16 MiB");
}

#[test]
fn an_unclosed_quote_before_ten_gibibytes_is_refused() {
    let folder = folder();
    let path = folder.path().join("quote.csv");
    endless(&path, &[&b"a,b\n1,2\n".repeat(20_000)[..], b"3,\"4\n"].concat());
    check(&path, "longer than 16 MiB");
}

#[test]
fn unclosed_quotes_take_linear_time() {
    let folder = folder();
    for line in ["\"a\"b\n", "\"a\n", "\"a\"b,\"c\n", "\"\"\"\"x\n", "\"a\"\"b\n"] {
        let path = file(&folder, "strays.csv", line.repeat(60_000));
        let start = Instant::now();
        let _ = read_all(&path);
        assert!(start.elapsed() < Duration::from_secs(10), "{line}: {:?}", start.elapsed());
    }
}

#[test]
fn decompression_bombs_are_refused() {
    let folder = folder();
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.write_all(b"a,b\n").unwrap();
    let line = [&[b'x'; 65_000][..], b",2\n"].concat();
    for _ in 0..2000 {
        encoder.write_all(&line).unwrap();
    }
    check(&file(&folder, "bomb.csv.zst", encoder.finish().unwrap()), "expands to more than 64 MiB");
}

#[test]
fn incomplete_and_damaged_archives_are_refused() {
    let folder = folder();
    let text: String = (0..20_000).map(|n: u64| format!("{n},{}\n", n * n * 7919 % 10_007)).collect();
    let whole = zstd::bulk::compress(text.as_bytes(), 1).unwrap();
    assert_eq!(read_all(&file(&folder, "whole.csv.zst", &whole)).unwrap(), 20_000);
    check(&file(&folder, "cut.csv.zst", &whole[..whole.len() / 2]), "can't be");
    check(&file(&folder, "broken.csv.gz", [&b"\x1F\x8B\x08\0\0\0\0\0\0\0"[..], &[0xFF; 50]].concat()), "can't be");
    let workbook = zstd::bulk::compress(b"PK\x03\x04 a workbook", 1).unwrap();
    check(&file(&folder, "prices.xlsx.zst", workbook), "unpack it first");
}
