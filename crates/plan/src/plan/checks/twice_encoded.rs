//! Texts encoded as UTF-8 twice: `MÃ¼ller` for `Müller`.

use std::collections::BTreeMap;

use sheetport_findings::Code;
use sheetport_ledger::Problem;
use sheetport_mapping::Layout;
use sheetport_mapping::bind::own_column;
use sheetport_mapping::problem::excerpt;
use sheetport_sheet::{Cell, Row};

use super::super::table::Table;
use crate::respelled::encoded_once;

/// Texts in a sheet's mapped columns that seem to be encoded twice.
pub(crate) struct TwiceEncoded {
    columns: Vec<usize>,
    /// By column.
    found: BTreeMap<usize, Found>,
}

/// The texts of a column.
struct Found {
    /// The first row with such a text.
    row: u64,
    /// The first such text, as stored and as repaired.
    example: (String, String),
    rows: u64,
}

impl TwiceEncoded {
    pub(crate) fn new(layout: &Layout) -> TwiceEncoded {
        let columns = (0..layout.columns.len()).flat_map(|rule| layout.columns_of(rule));
        let mut columns: Vec<usize> = columns.filter(|column| *column == own_column(*column)).collect();
        columns.sort_unstable();
        columns.dedup();
        // An export has the texts of the service.
        let is_export = layout.is_export();
        TwiceEncoded { columns: if is_export { Vec::new() } else { columns }, found: BTreeMap::new() }
    }

    pub(crate) fn row(&mut self, row: &Row) {
        for column in &self.columns {
            let Cell::Text(text) = row.get(*column) else { continue };
            let Some(repaired) = repaired(text) else { continue };
            let found = self.found.entry(*column).or_insert_with(|| Found {
                row: row.number,
                example: (excerpt(text), excerpt(&repaired)),
                rows: 0,
            });
            found.rows += 1;
        }
    }

    /// Returns a warning for each column with such texts.
    pub(crate) fn warnings(&self, table: &Table) -> impl Iterator<Item = Problem> {
        self.found.iter().map(move |(column, Found { row, example: (text, repaired), rows })| {
            let message = match rows {
                1 => "seems to be encoded as UTF-8 twice".to_owned(),
                rows => format!("seems to be encoded as UTF-8 twice, like the texts of {} other rows", rows - 1),
            };
            let remedy =
                format!("it is probably '{repaired}'; export the file again, or repair it where it was converted");
            let problem = Problem {
                row: Some(*row),
                value: text.clone(),
                remedy,
                ..Problem::of_record(Code::TwiceEncoded, message)
            };
            table.of_column(*column, problem)
        })
    }
}

/// Returns the text before it was encoded a second time, or `None` for any other text.
fn repaired(text: &str) -> Option<String> {
    // Non-ASCII characters start with one of these after a second encoding.
    const STARTS: &[char] = &['Ã', 'Â', 'Å', 'Ä', 'Ð', 'Ñ', 'Î', 'Ï', 'â', 'ã', 'ä', 'å', 'æ', 'ç', 'è', 'é'];
    if text.is_ascii() {
        return None;
    }
    let repaired = encoded_once(text).filter(|_| text.contains(STARTS))?;
    repaired.chars().all(|c| !c.is_control() || c.is_whitespace()).then_some(repaired)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_were_encoded_twice_are_repaired() {
        for (text, expected) in [
            ("MÃ¼ller", Some("Müller")),
            ("GrÃ¶ÃŸe", Some("Größe")),
            ("CafÃ© 5 â‚¬", Some("Café 5 €")),
            ("â€žZitatâ€œ", Some("„Zitat“")),
            ("Ð‘Ð¾Ð»Ñ‚", Some("Болт")),
            ("Müller", None),
            ("Ã", None),
            ("SÃO PAULO", None),
            ("À la carte", None),
            ("Â", None),
            ("Bolt", None),
            ("Größe MÃ¼ller", None),
        ] {
            assert_eq!(repaired(text).as_deref(), expected, "{text}");
        }
    }
}
