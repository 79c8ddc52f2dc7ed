//! Subcommands of `template`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use sheetport_records::transaction::COUNT;
use sheetport_records::{Input, RecordKind};

use super::flag_groups::{Reading, parameter};

const INFER_EXAMPLES: &str = "\
Without -o the template is printed to standard output. The chosen columns and the reasons are printed to standard error,
each as certain, likely or a guess. Your templates next to FILE and those of earlier uploads serve as examples. If a
required field has no column, the exit code is 3 and the template marks where to fill it in.

Examples:
  sheetport template infer prices.xlsx --record item -o prices.toml
  sheetport template infer orders.csv --record order > orders.toml
  sheetport template infer stock.xlsx --record inventory-transaction --sheet March -o stock.toml";

#[derive(Debug, Subcommand)]
pub enum Template {
    /// List the built-in templates
    List,
    /// Print a built-in template, as a starting point for your own
    Show { name: String },
    /// Validate a template and run the examples in the template
    Check {
        template: String,
        /// Set a parameter of the template
        #[arg(long, value_name = "NAME=VALUE", value_parser = parameter)]
        set: Vec<(String, String)>,
        /// Folder whose files the template may extend or use as lookup tables, besides those below its own folder
        #[arg(long, value_name = "FOLDER")]
        allow_lookup: Vec<PathBuf>,
    },
    /// Trust template files as they are now
    ///
    /// An upload without -t uses a template beside the file, or of an earlier run, only if it is trusted: it may have come with the
    /// file. An upload with -t trusts its template. If the template, one that it extends or a lookup table changes, trust ends.
    Trust {
        /// Template files
        #[arg(required = true, value_name = "TEMPLATE")]
        templates: Vec<String>,
    },
    /// Format templates: order of tables and keys, quotes and blank lines; comments are kept
    Fmt {
        /// Template files to format in place
        #[arg(required = true, value_name = "TEMPLATE")]
        templates: Vec<PathBuf>,
        /// Change nothing; exit with code 3 and the names of files that are not formatted
        #[arg(long)]
        check: bool,
    },
    /// Print an empty template with a description of every field
    New {
        /// What the rows become: item, order, inventory-transaction, subscription, invoice or stock-count
        #[arg(value_name = "RECORD", value_parser = input)]
        record: &'static Input,
    },
    /// Print the JSON Schema of templates, for editors that validate while you type
    Schema,
    /// Write a template for a spreadsheet, based on column names and first values
    Infer(Infer),
}

#[derive(Args, Debug)]
#[command(after_help = INFER_EXAMPLES)]
pub struct Infer {
    /// Spreadsheet: CSV or other text (optionally compressed), or a workbook (.xlsx, .xlsm, .xlsb, .xls, .ods)
    pub file: PathBuf,
    /// Kind of record that the rows become: item, order, inventory-transaction, subscription or invoice [default: the best match, as a guess]
    #[arg(long, value_name = "KIND", value_parser = record)]
    pub record: Option<RecordKind>,
    /// New file for the template [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Sheet of a workbook, by name or number [default: the best match]
    #[arg(long, value_name = "NAME")]
    pub sheet: Option<String>,
    #[command(flatten)]
    pub reading: Reading,
}

fn input(name: &str) -> Result<&'static Input, String> {
    if name == COUNT.name {
        Ok(&COUNT)
    } else {
        record(name).map(RecordKind::input).map_err(|text| format!("{text}, {}", COUNT.name))
    }
}

fn record(name: &str) -> Result<RecordKind, String> {
    RecordKind::from_words(name).ok_or_else(|| {
        let names: Vec<&str> = RecordKind::ALL.iter().map(|kind| kind.name()).collect();
        format!("expected one of: {}", names.join(", "))
    })
}
