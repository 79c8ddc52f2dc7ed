//! The flags of `template infer`.

use std::path::PathBuf;

use clap::Args;

use super::Reading;
use crate::records::RecordKind;

const EXAMPLES: &str = "\
Without -o the template goes to standard output. What was chosen and why is told on standard error: sure, likely or a
guess. Templates of yours count: those beside FILE, and those of earlier uploads. A field that the service needs and
that has no column ends it with 3; the template then says where to fill it in.

Examples:
  sheetport template infer prices.xlsx --record item -o prices.toml
  sheetport template infer orders.csv --record order > orders.toml
  sheetport template infer stock.xlsx --record inventory-transaction --sheet March -o stock.toml";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Infer {
    /// A spreadsheet: a CSV or another text, also compressed, or a workbook (.xlsx, .xlsm, .xlsb, .xls, .ods)
    pub file: PathBuf,
    /// What its rows are: item, order, inventory-transaction, subscription or invoice
    #[arg(long, value_name = "KIND", value_parser = record)]
    pub record: RecordKind,
    /// Where to write the template, a file that is not there yet [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The sheet of a workbook, by name or number [default: the one that fits best]
    #[arg(long, value_name = "NAME")]
    pub sheet: Option<String>,
    #[command(flatten)]
    pub reading: Reading,
}

fn record(name: &str) -> Result<RecordKind, String> {
    RecordKind::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = RecordKind::ALL.iter().map(|kind| kind.name()).collect();
        format!("it is one of: {}", names.join(", "))
    })
}
