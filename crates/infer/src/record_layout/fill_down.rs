//! Columns with values in only the first of several rows, such as the name of a product above its variants.

use super::super::sample::{Column, Sample};

/// Columns to fill from above.
#[derive(Clone, Debug)]
pub(crate) struct FillDownProposal<'a> {
    pub columns: Vec<&'a Column>,
    /// The column with the same value in all rows of a product.
    pub within: Option<&'a Column>,
    /// Whether other columns confirm the proposal.
    pub is_certain: bool,
}

/// Proposes to fill blank names, and the other columns of the record with blanks in the same rows. Every record has an
/// `identifier`. Rows with nothing else may be notes below the list: they never make the proposal certain, because a note with the
/// name above it would become a record.
pub(crate) fn propose<'a>(
    sample: &'a Sample,
    identifier: &Column,
    name: &'a Column,
    others: &[&'a Column],
) -> Option<FillDownProposal<'a>> {
    let is_record = |row: usize| identifier.profile.keys[row].is_some();
    let first = name.profile.keys.iter().position(Option::is_some)?;
    let blanks = |column: &Column| -> Vec<usize> {
        let keys = &column.profile.keys;
        (first..keys.len()).filter(|row| keys[*row].is_none() && is_record(*row)).collect()
    };
    let nameless = blanks(name);
    let is_bare = |row: &usize| {
        let others = sample.columns.iter().filter(|column| column.index != identifier.index);
        others.map(|column| &column.profile.keys).all(|keys| keys[*row].is_none())
    };
    let bare = nameless.iter().filter(|row| is_bare(row)).count();
    let has_others = sample
        .columns
        .iter()
        .any(|column| column.index != name.index && column.index != identifier.index && column.profile.filled > 0);
    // A group with a repeated identifier is one record in several rows, and not handled here.
    if nameless.is_empty() || bare == nameless.len() && has_others || first > 0 || name.index == identifier.index {
        return None;
    }
    let within = sample.columns.iter().find(|column| groups(column, name));
    let has_same_blanks = |column: &Column| column.index != name.index && blanks(column) == nameless;
    let has_first_only =
        |column: &Column| column.profile.filled > 0 && nameless.iter().all(|row| column.profile.keys[*row].is_none());
    let follows = |column: &&&Column| if within.is_some() { has_first_only(column) } else { has_same_blanks(column) };
    let columns: Vec<&Column> = std::iter::once(name)
        .chain(others.iter().filter(follows).copied().filter(|it| it.index != name.index))
        .collect();
    let is_certain = within.is_some() || bare == 0 && sample.columns.iter().any(has_same_blanks);
    Some(FillDownProposal { columns, within, is_certain })
}

/// Whether each run of equal values in the column has a single name, in its first row.
fn groups(column: &Column, name: &Column) -> bool {
    let (profile, names) = (&column.profile, &name.profile);
    let has_several = profile.repeats > 0 && profile.filled == profile.rows && profile.runs == profile.distinct;
    column.index != name.index
        && has_several
        && profile.keys.iter().enumerate().all(|(row, key)| {
            let is_first = row == 0 || profile.keys[row - 1] != *key;
            is_first == names.keys[row].is_some()
        })
}
