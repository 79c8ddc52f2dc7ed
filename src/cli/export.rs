//! Flags of `export`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValue;
use sheetport_export::Since;
use sheetport_operations::EXPORTABLE;
use sheetport_records::Family;
use sheetport_sheet::Options;
use sheetport_sheet::write::TextKind;

use super::choice::choice;
use super::flag_groups::Pacing;

const EXAMPLES: &str = "\
The extension determines the format: .csv, .tsv or .ndjson, each optionally with .gz or .zst, or .xlsx, .parquet or .db
(SQLite); - is standard output. A manifest next to the file says how completeness was checked. A file that may be
incomplete is called FILE.incomplete, and the exit code is 8. To continue an interrupted export, run the same command
again within an hour. A database is updated, and keeps the rows of records that are gone. In .xlsx, text longer than
32,767 characters is cut, with a warning.

Examples:
  sheetport export items -o items.xlsx
  sheetport export orders -o orders.csv.gz --lines --explode items --rate 600/min
  sheetport export items -o items.csv --columns id,name,price --where 'price > 10' --sort=-price
  sheetport export items orders companies -o all.xlsx
  sheetport export items orders -o records.db
  sheetport export items -o 'items-{date}.csv' --keep 14 --min-ratio 0.8
  sheetport export items -o deltas.csv --since last --append
  sheetport export items -o items.csv --changes 'changes-{date}.xlsx'
  sheetport export transactions -o moves.csv --ids list.xlsx --column 'Transaction'
  sheetport export items -o - --format ndjson";

/// Help headings.
const ROWS: &str = "Columns and rows";
const FORMAT: &str = "Format";
const NIGHTLY: &str = "Scheduled exports";
const BY_ID: &str = "Export by id";

#[derive(Args, Debug, Default)]
#[command(after_help = EXAMPLES)]
pub struct Export {
    /// Records to export; several become the sheets of a workbook, the tables of a database, or a file each if the name has {kind}
    #[arg(required = true, value_parser = choice(EXPORTABLE.map(exportable)))]
    pub records: Vec<&'static str>,
    /// File; one of an earlier export is replaced when this one is complete; - for standard output. {kind}, {date}, {time} and {workspace} are
    /// filled in
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// API paths to read the list from [default: public, if it has the list]
    #[arg(long, value_name = "FAMILY", value_parser = choice(families()))]
    pub family: Option<Family>,
    /// Read the ids twice; the export is complete only if both readings agree
    #[arg(long, conflicts_with = "ids")]
    pub verify: bool,
    /// Replace the file even if no export wrote it, or if it was changed since
    #[arg(long)]
    pub replace: bool,
    /// Start again instead of continuing an interrupted export
    #[arg(long)]
    pub fresh: bool,
    /// Records per page [default: as many as the service grants, which is found out and remembered]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), conflicts_with = "ids")]
    pub page_size: Option<u32>,
    #[command(flatten)]
    pub rows: TableRows,
    #[command(flatten)]
    pub look: Look,
    #[command(flatten)]
    pub nightly: Nightly,
    #[command(flatten)]
    pub by_id: ById,
    #[command(flatten)]
    pub pacing: Pacing,
}

/// Columns and rows.
#[derive(Args, Debug, Default)]
pub struct TableRows {
    /// Columns in this order: fields such as id or address.city, and computed ones such as 'margin=price - cost'
    #[arg(long, help_heading = ROWS, value_name = "COLUMNS")]
    pub columns: Vec<String>,
    /// Only records for which this expression is true; more than one: all of them
    #[arg(long = "where", help_heading = ROWS, value_name = "CONDITION", allow_hyphen_values = true)]
    pub conditions: Vec<String>,
    /// Order of the records, such as -updated_at,name; a minus sorts from the highest
    #[arg(long, help_heading = ROWS, value_name = "FIELDS", allow_hyphen_values = true)]
    pub sort: Vec<String>,
    /// Other headers, such as price=Preis
    #[arg(long, help_heading = ROWS, value_name = "FIELD=NAME")]
    pub rename: Vec<String>,
    /// Export template: columns, their order and format, and a filter
    #[arg(short, long, help_heading = ROWS, value_name = "FILE")]
    pub template: Option<PathBuf>,
    /// Request each listed order by its id, because the list has no lines; with --since last, only those that changed
    #[arg(long, help_heading = ROWS, conflicts_with_all = ["ids", "changes"])]
    pub lines: bool,
    /// Write one row per element of this array, such as items
    #[arg(long, help_heading = ROWS, value_name = "FIELD")]
    pub explode: Option<String>,
}

/// Format.
#[derive(Args, Debug, Default)]
pub struct Look {
    /// Format of standard output [default: csv]
    #[arg(long, help_heading = FORMAT, value_name = "FORMAT", value_parser = choice(text_kinds()))]
    pub format: Option<TextKind>,
    /// Number format of a CSV or TSV, such as de for 1234,50 with ; between fields
    #[arg(long, help_heading = FORMAT, value_name = "LOCALE", value_parser = decimal_comma)]
    pub locale: Option<DecimalComma>,
    /// Character between fields, or "tab"
    #[arg(long, help_heading = FORMAT, value_name = "CHAR", value_parser = Options::delimiter_named)]
    pub delimiter: Option<u8>,
    /// Start a CSV or TSV with a byte order mark, so that Excel reads it as UTF-8
    #[arg(long, help_heading = FORMAT)]
    pub bom: bool,
    /// Write text that looks like a formula unchanged, without a leading apostrophe
    #[arg(long, help_heading = FORMAT)]
    pub exact: bool,
}

/// Flags for scheduled exports.
#[derive(Args, Debug, Default)]
pub struct Nightly {
    /// Export only records that are new or changed since the last export to this name, or since a time such as
    /// 2026-11-21T06:00:00Z
    #[arg(long, help_heading = NIGHTLY, value_name = "last|TIME", value_parser = since, conflicts_with = "ids")]
    pub since: Option<Since>,
    /// Append what is new or changed to the file of the last export, instead of replacing it; CSV, TSV and NDJSON
    #[arg(long, help_heading = NIGHTLY, requires = "since")]
    pub append: bool,
    /// Also list the records that were added, changed and removed since the last export to this name with --changes
    #[arg(long, help_heading = NIGHTLY, value_name = "FILE", conflicts_with = "ids")]
    pub changes: Option<PathBuf>,
    /// Keep this many files of a name with {date}, and remove older ones
    #[arg(long, help_heading = NIGHTLY, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub keep: Option<u16>,
    /// Keep a link of this name to the newest file of a name with {date}, and to its manifest
    #[arg(long, help_heading = NIGHTLY, value_name = "FILE")]
    pub latest: Option<PathBuf>,
    /// Keep the old file and exit with 8 if the list is smaller than this share of the previous one, such as 0.8, or if
    /// the file is of another workspace
    #[arg(long, help_heading = NIGHTLY, value_name = "SHARE", value_parser = share, conflicts_with = "ids")]
    pub min_ratio: Option<f64>,
    /// Replace the file even if the list is empty, and was not before
    #[arg(long, help_heading = NIGHTLY, conflicts_with = "ids")]
    pub allow_empty: bool,
}

/// Flags for the export of single records.
#[derive(Args, Debug, Default)]
pub struct ById {
    /// Export the transactions, orders or inventories whose ids are in this spreadsheet
    #[arg(long, help_heading = BY_ID, value_name = "FILE")]
    pub ids: Option<PathBuf>,
    /// Column of the ids, by header, letters or number
    #[arg(long, help_heading = BY_ID, value_name = "COLUMN", requires = "ids")]
    pub column: Option<String>,
    /// The ids are your own, not the service's
    #[arg(long, help_heading = BY_ID, requires = "ids")]
    pub external: bool,
    /// Language of the answers, such as de
    #[arg(long, help_heading = BY_ID, value_name = "LANGUAGE")]
    pub language: Option<String>,
}

/// Whether numbers have a decimal comma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecimalComma(pub bool);

fn exportable(name: &'static str) -> (PossibleValue, &'static str) {
    let value = PossibleValue::new(name);
    (if name == "transactions" { value.help("Only by id") } else { value }, name)
}

fn families() -> [(PossibleValue, Family); 2] {
    [
        (PossibleValue::new("public").help("Paths under /v1/public"), Family::Public),
        (PossibleValue::new("legacy").help("The older paths under /v1"), Family::Legacy),
    ]
}

fn text_kinds() -> [(PossibleValue, TextKind); 3] {
    [TextKind::Csv, TextKind::Tsv, TextKind::Ndjson].map(|kind| (PossibleValue::new(kind.name()), kind))
}

fn decimal_comma(name: &str) -> Result<DecimalComma, String> {
    let comma = sheetport_export::locale::has_decimal_comma(name);
    comma.map(DecimalComma).ok_or_else(|| "expected a language such as de, fr or en".to_owned())
}

fn since(text: &str) -> Result<Since, String> {
    match text {
        "last" => Ok(Since::Last),
        text => moment(text).map(Since::Moment).ok_or_else(|| {
            "expected last, a date such as 2026-11-21, or a time with its zone such as 2026-11-21T06:00:00Z or \
             2026-11-21T08:00+02:00"
                .to_owned()
        }),
    }
}

/// Parses a date, meaning its start in UTC, or a time with a zone: `Z`, an offset, or a name in brackets. Refuses a time without
/// a zone as ambiguous.
fn moment(text: &str) -> Option<jiff::Timestamp> {
    let is_date = text.len() == "2026-11-21".len();
    let day = || {
        let day: jiff::civil::Date = text.parse().ok()?;
        day.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|start| start.timestamp())
    };
    match is_date {
        true => day(),
        // Refuses an offset that contradicts the zone.
        false if text.contains('[') => text.parse::<jiff::Zoned>().ok().map(|zoned| zoned.timestamp()),
        false => text.parse().ok(),
    }
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1, such as 0.8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_exactly_or_refused() {
        let read = |text| moment(text).map(|moment| moment.to_string());
        for (text, expected) in [
            ("2026-11-21", "2026-11-21T00:00:00Z"),
            ("2026-11-21T06:00:00Z", "2026-11-21T06:00:00Z"),
            ("2026-11-21T08:00+02:00", "2026-11-21T06:00:00Z"),
            ("2026-11-21 08:00:30.5+02", "2026-11-21T06:00:30.5Z"),
            ("2026-11-21[Europe/Berlin]", "2026-11-20T23:00:00Z"),
            ("2026-11-21T07:00[Europe/Berlin]", "2026-11-21T06:00:00Z"),
            ("2026-11-21T07:00+01:00[Europe/Berlin]", "2026-11-21T06:00:00Z"),
        ] {
            assert_eq!(read(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "2026-11-21T06:00:00",
            "2026-11-21T06",
            "2026-11-21T07:00+05:00[Europe/Berlin]",
            "2026-11-31",
            "20261121",
            "yesterday",
            "",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
