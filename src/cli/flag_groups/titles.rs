//! The flag for the language of reports.

use clap::Args;
use clap::builder::PossibleValue;
use sheetport_sheet::ReportWords;

use crate::cli::choice::choice;

#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Titles {
    /// Language of the report, en or de [default: that of the sheet's titles, or else of the template; en for CSV]
    #[arg(long = "titles", value_name = "LANGUAGE", value_parser = choice(languages()), hide_possible_values = true)]
    pub language: Option<&'static str>,
}

impl Titles {
    /// Returns the words of the chosen language, if any.
    pub fn words(self) -> Option<&'static ReportWords> {
        self.language.map(|language| ReportWords::of(Some(language)))
    }
}

fn languages() -> impl Iterator<Item = (PossibleValue, &'static str)> {
    ReportWords::languages().map(|language| (PossibleValue::new(language), language))
}
