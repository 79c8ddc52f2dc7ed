//! Formats of a workbook's cells.

use std::cell::OnceCell;

use rust_xlsxwriter::{Color, Format, FormatAlign};
use sheetport_values::currency::CurrencyMark;

use super::cell::{CellKind, EXACT_DIGITS};

/// The formats of all kinds of cells, on a common base.
pub struct CellStyles {
    general: Format,
    text: Format,
    formula_text: Format,
    date: Format,
    time: Format,
    date_time: Format,
    date_time_millis: Format,
    /// Indexed by the number of decimals.
    decimals: Vec<Format>,
    percent: Vec<Format>,
    base: Format,
    /// One per currency, created on first use.
    money: OnceCell<Vec<(CurrencyMark, Format)>>,
}

impl CellStyles {
    /// Derives the formats from `base`, replacing the number format.
    pub fn on(base: &Format) -> CellStyles {
        let with = |number_format: &str| base.clone().set_num_format(number_format);
        let places = || (0..=EXACT_DIGITS).map(decimal_format);
        CellStyles {
            general: base.clone(),
            // Edited text stays text: 0042 does not become 42.
            text: with("@"),
            formula_text: with("@").set_quote_prefix(),
            date: with("yyyy-mm-dd"),
            time: with("hh:mm:ss"),
            date_time: with("yyyy-mm-dd hh:mm:ss"),
            date_time_millis: with("yyyy-mm-dd hh:mm:ss.000"),
            decimals: places().map(|format| with(&format)).collect(),
            percent: places().map(|format| with(&format!("{format}%"))).collect(),
            base: base.clone(),
            money: OnceCell::new(),
        }
    }

    pub fn format(&self, kind: CellKind) -> &Format {
        match kind {
            CellKind::General => &self.general,
            CellKind::Text => &self.text,
            CellKind::FormulaText => &self.formula_text,
            CellKind::Decimals(places) => self.decimals.get(places).unwrap_or(&self.general),
            CellKind::Percent(places) => &self.percent[places.min(EXACT_DIGITS)],
            CellKind::Money(currency) => self.money(currency),
            CellKind::Date => &self.date,
            CellKind::Time => &self.time,
            CellKind::DateTime => &self.date_time,
            CellKind::DateTimeMillis => &self.date_time_millis,
        }
    }
}

impl CellStyles {
    fn money(&self, currency: CurrencyMark) -> &Format {
        let format =
            |mark: CurrencyMark| (mark, self.base.clone().set_num_format(format!("#,##0.00##########\\ [${mark}]")));
        let formats = self.money.get_or_init(|| CurrencyMark::all().map(format).collect());
        formats.iter().find(|(mark, _)| *mark == currency).map_or(&self.general, |(_, format)| format)
    }
}

/// Returns the base of other formats, aligned to the top beside texts of several lines. An explicit format also keeps cells from
/// inheriting the format of a text column, where edited numbers would become text.
pub fn base() -> Format {
    Format::new().set_align(FormatAlign::Top)
}

/// The format of header cells.
pub fn header() -> Format {
    Format::new().set_bold().set_background_color(Color::RGB(0xD9_E2_F3)).set_align(FormatAlign::Top)
}

/// Returns the number format with this many decimals.
fn decimal_format(places: usize) -> String {
    match places {
        0 => "0".to_owned(),
        places => format!("0.{}", "0".repeat(places)),
    }
}
