//! The profile of a file: a table with a row per field, or lines where a table does not fit.

use sheetport_language::{say, word};
use sheetport_plan::profile::{Distinct, FieldProfile, Profile, Range};

use super::columns::{cut, padded, width};
use super::{counted, line, style, terminal, thousands};

const HEADER: [&str; COLUMNS] = ["field", "filled", "different", "lowest", "median", "highest", "values"];
const COLUMNS: usize = 7;
/// Maximum width of a cell; of the last one, with the values.
const MAX_WIDTH: usize = 22;
const MAX_LAST_WIDTH: usize = 48;
/// A table with less room for the values is not printed.
const MIN_LAST_WIDTH: usize = 14;
/// The field that the amounts of a record can fill.
const CURRENCY: &str = "currency";
const INDENT: &str = "  ";
const GAP: &str = "  ";

/// Prints the profile. Fields that no record fills come last, on one line.
pub fn print(profile: &Profile) {
    let (mut blank, filled): (Vec<_>, Vec<_>) = profile.fields.iter().partition(|field| field.filled == 0);
    // Signs beside the prices name a currency, too.
    blank.retain(|field| field.field != CURRENCY || profile.currencies.is_empty());
    let rows: Vec<[String; COLUMNS]> = filled.into_iter().map(row).collect();
    let header = HEADER.map(|title| word(title).to_owned());
    let widths: Vec<usize> = (0..COLUMNS)
        .map(|column| rows.iter().chain([&header]).map(|row| width(&row[column])).max().unwrap_or(0))
        .collect();
    let beside_values: usize =
        INDENT.len() + widths[..COLUMNS - 1].iter().map(|column| column + GAP.len()).sum::<usize>();
    match terminal::table_width().checked_sub(beside_values) {
        Some(room @ MIN_LAST_WIDTH..) if !terminal::is_plain() => print_table(&header, &rows, &widths, room),
        _ => rows.iter().for_each(print_sentence),
    }
    let faint = style::FAINT;
    if !profile.currencies.is_empty() {
        let of = |(code, count): (&String, &u64)| say!("{code} in {}", counted(*count, "record"));
        line(say!("  Currency: {}", profile.currencies.iter().map(of).collect::<Vec<_>>().join(", ")));
    }
    if !blank.is_empty() {
        let names: Vec<&str> = blank.iter().map(|field| field.field.as_str()).collect();
        line(say!("  {faint}Blank throughout: {}{faint:#}", names.join(", ")));
    }
}

/// Prints the rows as a table, with `room` columns for the values.
fn print_table(header: &[String; COLUMNS], rows: &[[String; COLUMNS]], widths: &[usize], room: usize) {
    let (faint, none) = (style::FAINT, style::PLAIN);
    for (row, style) in std::iter::once((header, faint)).chain(rows.iter().map(|row| (row, none))) {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, most))| match column {
            // Counts and numbers are right-aligned.
            1..6 => format!("{}{cell}", " ".repeat(most - width(cell))),
            6 => cut(cell, room.min(MAX_LAST_WIDTH)),
            _ => padded(cell, *most),
        });
        line(format_args!("{INDENT}{style}{}{style:#}", cells.collect::<Vec<_>>().join(GAP).trim_end()));
    }
}

/// Prints a row in words: `price  all filled, 19 different, 5.50 to 64.95, median 16.95: 18.95, …`.
fn print_sentence(row: &[String; COLUMNS]) {
    let [field, filled, different, lowest, median, highest, values] = row;
    let strong = style::STRONG;
    let range = if lowest.is_empty() { String::new() } else { say!(", {lowest} to {highest}, median {median}") };
    let values = cut(values, MAX_LAST_WIDTH);
    line(say!("{INDENT}{strong}{field}{strong:#}  {filled} filled, {different} different{range}: {values}"));
}

fn row(field: &FieldProfile) -> [String; COLUMNS] {
    let filled = match field.filled == field.of {
        true => word("all").to_owned(),
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
    [cut(&field.field, MAX_WIDTH), filled, distinct, lowest, median, highest, samples]
}
