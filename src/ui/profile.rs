//! The profile of a file: a table with a row per field.

use super::columns::{cut, padded, width};
use super::{counted, line, style, thousands};
use crate::upload::profile::{Distinct, FieldProfile, Profile, Range};

const HEADER: [&str; COLUMNS] = ["field", "filled", "different", "lowest", "median", "highest", "values"];
const COLUMNS: usize = 7;
/// Maximum width of a cell; of the last one, with the values.
const MAX_WIDTH: usize = 22;
const MAX_LAST_WIDTH: usize = 48;

/// Prints the profile. Fields that no record fills come last, on one line.
pub fn print(profile: &Profile) {
    let (blank, filled): (Vec<_>, Vec<_>) = profile.fields.iter().partition(|field| field.filled == 0);
    let rows: Vec<[String; COLUMNS]> = filled.into_iter().map(row).collect();
    let header = HEADER.map(str::to_owned);
    let widths: Vec<usize> = (0..COLUMNS)
        .map(|column| rows.iter().chain([&header]).map(|row| width(&row[column])).max().unwrap_or(0))
        .collect();
    let (faint, none) = (style::FAINT, style::PLAIN);
    for (row, style) in std::iter::once((&header, faint)).chain(rows.iter().map(|row| (row, none))) {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, most))| match column {
            // Counts and numbers are right-aligned.
            1..6 => format!("{}{cell}", " ".repeat(most - width(cell))),
            6 => cell.clone(),
            _ => padded(cell, *most),
        });
        line(format_args!("  {style}{}{style:#}", cells.collect::<Vec<_>>().join("  ").trim_end()));
    }
    if !profile.currencies.is_empty() {
        let of = |(code, count): (&String, &u64)| format!("{code} in {}", counted(*count, "record"));
        line(format_args!("  Currency: {}", profile.currencies.iter().map(of).collect::<Vec<_>>().join(", ")));
    }
    if !blank.is_empty() {
        let names: Vec<&str> = blank.iter().map(|field| field.field.as_str()).collect();
        line(format_args!("  {faint}Blank throughout: {}{faint:#}", names.join(", ")));
    }
}

fn row(field: &FieldProfile) -> [String; COLUMNS] {
    let filled = match field.filled == field.of {
        true => "all".to_owned(),
        false => thousands(field.filled),
    };
    let (distinct, is_few) = match field.distinct {
        Distinct::Exactly(count) => (thousands(count), count <= field.samples.len() as u64),
        Distinct::MoreThan(count) => (format!("> {}", thousands(count)), false),
    };
    let samples = field.samples.iter().map(|sample| match is_few && field.samples.len() > 1 {
        true => format!("{} ({}×)", sample.text, thousands(sample.count)),
        false => sample.text.clone(),
    });
    let samples = samples.collect::<Vec<_>>().join(", ") + if is_few { "" } else { ", …" };
    let [lowest, median, highest] = match &field.range {
        Some(Range { lowest, median, highest }) => [lowest, median, highest].map(|value| cut(value, MAX_WIDTH)),
        None => Default::default(),
    };
    [cut(&field.field, MAX_WIDTH), filled, distinct, lowest, median, highest, cut(&samples, MAX_LAST_WIDTH)]
}
