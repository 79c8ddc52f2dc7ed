//! Flags of `view`.

use std::path::PathBuf;

use clap::Args;

use super::flag_groups::Reading;

const EXAMPLES: &str = "\
--csv prints one clean table. It leaves out titles above the header, blank rows, and everything after the header appears
a second time; a repeated header after a blank row counts as a page break, and its rows are printed. Headers that span
several rows are joined with spaces. --every-row prints all rows as they are.

Examples:
  sheetport view prices.csv
  sheetport view prices.csv.gz --csv > clean.csv
  sheetport view prices.txt --delimiter tab --encoding windows-1252 --quote none
  sheetport view prices.xlsx --json --all-sheets
  curl -s https://example.com/prices.csv | sheetport view -";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct View {
    /// Spreadsheet: CSV or other text, a workbook, or a web page with tables (also compressed: .gz, .zst, or a .zip of one
    /// file); - for standard input
    pub file: PathBuf,
    /// Print the table as UTF-8 CSV
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// With --csv: print every row, including titles, blank rows and further tables
    #[arg(long, requires = "csv")]
    pub every_row: bool,
    /// With --json: print every cell of every sheet
    #[arg(long, requires = "json")]
    pub all_sheets: bool,
    /// Sheet of a workbook, by name or number [default: the first]
    #[arg(long, value_name = "SHEET")]
    pub sheet: Option<String>,
    /// Number of rows to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub rows: usize,
    #[command(flatten)]
    pub reading: Reading,
}
