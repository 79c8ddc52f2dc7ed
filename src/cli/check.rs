//! The words of `check` and `explain`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::Input;

const CHECK_EXAMPLES: &str = "\
Examples:
  sheetport check prices.xlsx -t items
  sheetport check prices.csv -t prices.toml --report to-mend.xlsx
  sheetport check prices.csv -t prices.toml --json";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  sheetport explain prices.xlsx -t items --row 17
  sheetport explain prices.xlsx -t items --sheet \"*\" --row 'South!4'
  sheetport explain orders.csv -t orders --row 2 --json";

#[derive(Args, Debug)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct Check {
    #[command(flatten)]
    pub input: Input,
    /// Write the spreadsheet with what is wrong beside each row, into a file that is not there yet
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub struct Explain {
    #[command(flatten)]
    pub input: Input,
    /// The row, as the spreadsheet program counts; where several sheets are read, the first that has it, or SHEET!N
    #[arg(long, value_name = "N")]
    pub row: RowName,
}

/// A row, and the sheet that it is of where that is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowName {
    pub sheet: Option<String>,
    pub number: u64,
}

impl FromStr for RowName {
    type Err = &'static str;

    /// As spreadsheet programs write it, in which quotes around a sheet's name may be left out.
    fn from_str(text: &str) -> Result<RowName, &'static str> {
        let (sheet, number) = match text.rsplit_once('!') {
            Some((sheet, number)) => (Some(sheet), number),
            None => (None, text),
        };
        let number = number.parse().ok().filter(|number| *number > 0);
        let number = number.ok_or("a row is a number from 1, such as 17, or of a sheet, such as South!17")?;
        let unquoted = |name: &str| match name.strip_prefix('\'').and_then(|name| name.strip_suffix('\'')) {
            Some(name) => name.replace("''", "'"),
            None => name.to_owned(),
        };
        Ok(RowName { sheet: sheet.map(unquoted), number })
    }
}

impl fmt::Display for RowName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.sheet {
            Some(sheet) => write!(f, "{} of the sheet '{sheet}'", self.number),
            None => write!(f, "{}", self.number),
        }
    }
}
