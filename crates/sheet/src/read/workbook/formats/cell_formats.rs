//! Number formats of XLS and XLSB workbooks, by their numbers: the built-in ones, and those that the file defines itself. Calamine
//! knows the dates among the built-in formats, and ignores that a file may define the same numbers anew.

use std::collections::HashMap;

use calamine::{DataRef, DataType, ExcelDateTime, ExcelDateTimeType};

use crate::read::workbook::styles::{BUILT_IN_FORMATS, Meaning, NumberFormat};

/// Maximum number of formats.
const MAX_FORMATS: usize = 1 << 16;

/// The formats of a workbook by their numbers.
#[derive(Debug)]
pub(super) struct CellFormats(HashMap<u16, CellFormat>);

/// The format of a style.
#[derive(Clone, Debug, Default)]
pub(super) struct CellFormat {
    pub number: Option<NumberFormat>,
    /// What the file's own format means, if calamine takes it for something else.
    meaning: Option<Meaning>,
}

impl CellFormats {
    pub(super) fn built_in() -> CellFormats {
        let built_in =
            |(id, code): &(u16, &str)| (*id, CellFormat { number: NumberFormat::parse(code), meaning: None });
        CellFormats(BUILT_IN_FORMATS.iter().map(built_in).collect())
    }

    /// Adds a format of the file.
    pub(super) fn define(&mut self, id: u16, code: &str) {
        if self.0.len() < MAX_FORMATS {
            let meaning = Some(Meaning::of(code)).filter(|meaning| !calamine_knows(id, *meaning));
            self.0.insert(id, CellFormat { number: NumberFormat::parse(code), meaning });
        }
    }

    /// Returns the format with this number.
    pub(super) fn get(&self, id: u16) -> CellFormat {
        self.0.get(&id).cloned().unwrap_or_default()
    }
}

impl CellFormat {
    /// Whether the format says anything about a cell that calamine does not.
    pub(super) fn matters(&self) -> bool {
        self.number.is_some() || self.meaning.is_some()
    }

    /// Returns calamine's value as the file's format means it: as a number, a date, or an elapsed time.
    pub(super) fn value<'v>(&self, value: &DataRef<'v>, is_1904: bool) -> DataRef<'v> {
        let number = match value {
            DataRef::Int(_) | DataRef::Float(_) => value.as_f64(),
            DataRef::DateTime(when) => Some(when.as_f64()),
            _ => None,
        };
        let days = |number, kind| DataRef::DateTime(ExcelDateTime::new(number, kind, is_1904));
        match (number, self.meaning) {
            (Some(number), Some(Meaning::Number)) => DataRef::Float(number),
            (Some(number), Some(Meaning::Date)) => days(number, ExcelDateTimeType::DateTime),
            (Some(number), Some(Meaning::Elapsed)) => days(number, ExcelDateTimeType::TimeDelta),
            _ => value.clone(),
        }
    }
}

/// Returns whether calamine gives values with the format of this number the same meaning.
fn calamine_knows(id: u16, meaning: Meaning) -> bool {
    match id {
        // The numbers of a file's own formats.
        164..=382 => true,
        // Of these, calamine ignores what the file defines.
        14..=22 | 27..=36 | 45 | 47 | 50..=58 => meaning == Meaning::Date,
        46 => meaning == Meaning::Elapsed,
        _ => meaning == Meaning::Number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formats_of_the_file_go_before_the_built_in_ones() {
        let date = DataRef::DateTime(ExcelDateTime::new(2.0, ExcelDateTimeType::DateTime, false));
        let number = DataRef::Float(2.0);
        let mut formats = CellFormats::built_in();
        for (id, code) in
            [(50, "000"), (27, "General"), (14, "0"), (500, "dd.mm.yyyy"), (51, "[h]:mm"), (52, "0;[Red]-0")]
        {
            formats.define(id, code);
        }
        for id in [50, 27, 14, 52] {
            assert_eq!(formats.get(id).value(&date, false), number, "{id}");
        }
        assert_eq!(formats.get(500).value(&number, false), date);
        assert!(matches!(formats.get(51).value(&number, false), DataRef::DateTime(when) if when.is_duration()));
        // What the file does not define stays as calamine has it.
        for id in [36, 15, 0] {
            assert_eq!(formats.get(id).value(&date, false), date, "{id}");
        }
        assert!(!formats.get(0).matters() && formats.get(27).matters());
    }
}
