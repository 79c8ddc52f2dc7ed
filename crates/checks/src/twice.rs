//! Rows that were entered twice, or copied under another identifier: all other cells are the same, also a name, or the number of a document, that
//! all other rows have only once.

use std::collections::HashMap;

use sheetport_findings::Code;

use super::finding::OddRows;
use super::roles::Roles;
use super::sample::{Column, Part, Sample};

/// Fewest rows by which a column has another value in each.
const FEWEST: usize = 20;

/// Fewest columns by which rows are the same.
const FEWEST_COLUMNS: usize = 3;

/// Returns the rows that stand twice.
pub(super) fn twice(roles: &Roles, sample: &Sample) -> Option<OddRows> {
    if !roles.group.is_empty() || sample.rows.len() < FEWEST {
        return None;
    }
    let rows = sample.rows.len();
    let is_of_row = |column: &&&Column| {
        column
            .texts(Part::Whole)
            .is_some_and(|texts| texts.different + (rows / 50).max(1) >= rows && !texts.ids.contains(&0))
    };
    let compared: Vec<&Column> = sample.columns.iter().filter(|column| !roles.keys.contains(&column.index)).collect();
    let own = compared.iter().find(is_of_row).filter(|_| compared.len() >= FEWEST_COLUMNS)?;
    let texts: Option<Vec<_>> = compared.iter().map(|column| column.texts(Part::Whole)).collect();
    let mut seen: HashMap<Vec<u16>, u64> = HashMap::new();
    let mut odd = Vec::new();
    for (at, row) in sample.rows.iter().enumerate() {
        let cells = texts.as_ref()?.iter().map(|texts| texts.ids.get(at).copied().unwrap_or_default()).collect();
        if let Some(first) = seen.insert(cells, *row) {
            let name = roles.name_of(own.index);
            odd.push((
                *row,
                format!("is the same as row {first} in all other cells, also under '{name}', where the others differ"),
            ));
        }
    }
    let (column, field) = *roles.mapped.first()?;
    (!odd.is_empty()).then(|| OddRows::new(Code::UnlikeOthers, (column, field), odd))
}

#[cfg(test)]
mod tests {
    use super::super::testing::row;
    use super::*;

    #[test]
    fn a_row_that_repeats_even_its_document_was_entered_twice() {
        let roles = Roles {
            mapped: vec![(1, "transactionAmount")],
            unmapped: vec![0, 2],
            names: ["Document", "Quantity", "Unit"].map(str::to_owned).to_vec(),
            ..Roles::default()
        };
        let found = |documents: &[u64]| {
            let mut sample = Sample::new(&roles);
            for (number, document) in (2..).zip(documents) {
                let texts = [format!("GI-{document}"), (document % 5).to_string(), "pc".to_owned()];
                sample.row(&roles, &row(number, &texts));
            }
            twice(&roles, &sample).map_or(0, |odd| odd.len())
        };
        let once: Vec<u64> = (100..130).collect();
        assert_eq!(found(&once), 0);
        assert_eq!(found(&[&once[..], &[117]].concat()), 1);
        // Documents of several rows.
        assert_eq!(found(&[&once[..], &once].concat()), 0);
    }
}
