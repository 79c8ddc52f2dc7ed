//! What can be said about an export.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Pacing;
use crate::export::Since;
use crate::sheet::Options;
use crate::sheet::write::TextKind;

const EXAMPLES: &str = "\
Formats by the file's extension: .csv, .tsv, .ndjson, each also with .gz or .zst, and .xlsx; - is standard output.
Beside the file stands its manifest, which says how it is known to be whole. A file that can't be shown to be whole is
called FILE.incomplete, and the exit code is 8. An export that was cut off is carried on with by the same command
within an hour. A text longer than the 32,767 characters of a workbook's cell is cut in .xlsx, which is said.

Examples:
  sheetport export items -o items.xlsx
  sheetport export orders -o orders.csv.gz --explode items --rate 600/min
  sheetport export items -o 'items-{date}.csv' --keep 14 --min-ratio 0.8
  sheetport export transactions -o moves.csv --ids list.xlsx --column 'Transaction'
  sheetport export items -o - --format ndjson";

/// The headings over the flags.
const FORMAT: &str = "How the file looks";
const NIGHTLY: &str = "Every night";
const BY_ID: &str = "By ids";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Export {
    pub records: Exportable,
    /// The file, replaced once the new one is whole; - is standard output. {date} and {workspace} are filled in
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// The family of paths whose list is read [default: public, where it has one]
    #[arg(long, value_name = "FAMILY")]
    pub family: Option<Family>,
    /// Read the ids a second time: complete is only what both readings agree on
    #[arg(long, conflicts_with = "ids")]
    pub verify: bool,
    /// Begin anew, also where the same export was cut off a while ago
    #[arg(long)]
    pub fresh: bool,
    #[command(flatten)]
    pub look: Look,
    #[command(flatten)]
    pub nightly: Nightly,
    #[command(flatten)]
    pub by_id: ById,
    #[command(flatten)]
    pub pacing: Pacing,
}

/// Columns and format.
#[derive(Args, Debug, Default)]
pub struct Look {
    /// An export template: which columns, in what order and format, which records
    #[arg(short, long, help_heading = FORMAT, value_name = "FILE")]
    pub template: Option<PathBuf>,
    /// A row for each element of this array, such as items
    #[arg(long, help_heading = FORMAT, value_name = "FIELD")]
    pub explode: Option<String>,
    /// What standard output gets [default: csv]
    #[arg(long, help_heading = FORMAT, value_name = "FORMAT")]
    pub format: Option<StdoutFormat>,
    /// How numbers are written in a CSV or TSV, such as de: 1234,50, with ; between fields
    #[arg(long, help_heading = FORMAT, value_name = "LOCALE", value_parser = decimal_comma)]
    pub locale: Option<DecimalComma>,
    /// The character between fields, or "tab"
    #[arg(long, help_heading = FORMAT, value_name = "CHAR", value_parser = Options::delimiter_named)]
    pub delimiter: Option<u8>,
    /// Begin a CSV or TSV with a byte order mark, by which old versions of Excel know UTF-8
    #[arg(long, help_heading = FORMAT)]
    pub bom: bool,
    /// Write text that a spreadsheet would run as a formula as it is, without an apostrophe before it
    #[arg(long, help_heading = FORMAT)]
    pub exact: bool,
}

/// What a scheduler wants.
#[derive(Args, Debug, Default)]
pub struct Nightly {
    /// Only records that changed since the last export to this name, or since a time such as 2026-11-21T06:00:00Z
    #[arg(long, help_heading = NIGHTLY, value_name = "last|TIME", value_parser = since, conflicts_with = "ids")]
    pub since: Option<Since>,
    /// Keep so many files of a name with {date}, and remove older ones
    #[arg(long, help_heading = NIGHTLY, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub keep: Option<u16>,
    /// Keep the old file and end with 8 when the list has fallen below this share of the last one, such as 0.8
    #[arg(long, help_heading = NIGHTLY, value_name = "SHARE", value_parser = share, conflicts_with = "ids")]
    pub min_ratio: Option<f64>,
}

/// Records that are asked for one by one.
#[derive(Args, Debug, Default)]
pub struct ById {
    /// Transactions, orders or inventories by the ids in this spreadsheet
    #[arg(long, help_heading = BY_ID, value_name = "FILE")]
    pub ids: Option<PathBuf>,
    /// The column of the ids, by its header, its letters or its number
    #[arg(long, help_heading = BY_ID, value_name = "COLUMN", requires = "ids")]
    pub column: Option<String>,
    /// They are your own ids, and not the service's
    #[arg(long, help_heading = BY_ID, requires = "ids")]
    pub external: bool,
    /// The language to ask for answers in, such as de
    #[arg(long, help_heading = BY_ID, value_name = "LANGUAGE")]
    pub language: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Exportable {
    Items,
    Orders,
    Companies,
    Contacts,
    Inventories,
    /// By their ids alone
    Transactions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Family {
    /// Paths under /v1/public
    Public,
    /// The older paths under /v1
    Legacy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StdoutFormat {
    Csv,
    Tsv,
    Ndjson,
}

/// Whether numbers are written with a comma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecimalComma(pub bool);

impl Export {
    /// All records of a kind into a file, and nothing else said.
    pub fn all(records: Exportable, output: PathBuf, pacing: Pacing) -> Export {
        Export {
            records,
            output,
            family: None,
            verify: false,
            fresh: false,
            look: Look::default(),
            nightly: Nightly::default(),
            by_id: ById::default(),
            pacing,
        }
    }
}

impl From<StdoutFormat> for TextKind {
    fn from(format: StdoutFormat) -> TextKind {
        match format {
            StdoutFormat::Csv => TextKind::Csv,
            StdoutFormat::Tsv => TextKind::Tsv,
            StdoutFormat::Ndjson => TextKind::Ndjson,
        }
    }
}

fn decimal_comma(name: &str) -> Result<DecimalComma, String> {
    let comma = crate::export::locale::has_decimal_comma(name);
    comma.map(DecimalComma).ok_or_else(|| "it is a language such as de, fr or en".to_owned())
}

fn since(text: &str) -> Result<Since, String> {
    if text == "last" {
        return Ok(Since::Last);
    }
    let day = |text: &str| -> Option<jiff::Timestamp> {
        let day: jiff::civil::Date = text.parse().ok()?;
        day.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|start| start.timestamp())
    };
    let moment = text.parse().ok().or_else(|| day(text));
    moment.map(Since::Moment).ok_or_else(|| "write last, or a time such as 2026-11-21T06:00:00Z".to_owned())
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "it is a number from 0 to 1, such as 0.8".to_owned())
}
