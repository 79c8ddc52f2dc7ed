//! Values that are there already, where all others differ: a name that is the number or the barcode of its row, a name that repeats in the row
//! below, as where a cell was dragged or a block has moved, and a barcode of two articles.

use sheetport_findings::Code;

use super::features::Kind;
use super::finding::OddRows;
use super::roles::Roles;
use super::sample::{Column, Sample};

/// Fewest rows by which values differ.
const FEWEST: usize = 20;
/// One row in so many, beside the first two, may say the same as another column.
const RARE: usize = 40;
/// One value in so many repeats in a column of values that each row has alone.
const DISTINCT: usize = 50;

/// Returns the rows with a value that is there already.
pub(super) fn repeats(roles: &Roles, sample: &Sample) -> Vec<OddRows> {
    if !roles.group.is_empty() || roles.keys.is_empty() || sample.rows.len() < FEWEST {
        return Vec::new();
    }
    let names =
        roles.formed.iter().filter(|formed| formed.kind == Kind::Name).map(|formed| (formed.column, formed.field));
    let names: Vec<(usize, &'static str)> = names.collect();
    let is_number = |column: &Column| roles.numbers.iter().any(|(number, _)| *number == column.index);
    let mut odd = Vec::new();
    for place in &names {
        let Some(name) = sample.column(place.0) else { continue };
        for other in sample.columns.iter().filter(|other| other.index != name.index && !is_number(other)) {
            let message = format!("is the same as '{}' of its row, unlike the others", roles.name_of(other.index));
            odd.extend(rows(sample, *place, echoes(name, other), &message));
        }
        // Variants of one article have its number, too.
        let key = roles.keys.first().and_then(|key| sample.column(*key));
        let is_variant = |at: usize| key.is_some_and(|key| again(&key.hashes).contains(&at));
        let message = "is the same as in the row above or below, where all others differ";
        let same = neighbours(name).into_iter().filter(|at| !is_variant(*at)).collect();
        odd.extend(rows(sample, *place, same, message));
    }
    for column in sample.columns.iter().filter(|column| column.are_barcodes() && !roles.keys.contains(&column.index)) {
        let place = roles.mapped_at(column.index).unwrap_or((column.index, ""));
        let message = "is the barcode of another row, too, where all others differ";
        odd.extend(rows(sample, place, again(&column.hashes), message));
    }
    odd
}

fn rows(sample: &Sample, place: (usize, &'static str), odd: Vec<usize>, message: &str) -> Option<OddRows> {
    let rows = odd.into_iter().filter_map(|at| Some((*sample.rows.get(at)?, message.to_owned())));
    Some(OddRows::new(Code::UnlikeOthers, place, rows.collect())).filter(|odd| odd.len() > 0)
}

/// Returns the few places at which two columns are equal.
fn echoes(column: &Column, other: &Column) -> Vec<usize> {
    let pairs = column.hashes.iter().zip(&other.hashes).enumerate();
    let equal: Vec<usize> = pairs.filter(|(_, (one, other))| one == other && **one != 0).map(|(at, _)| at).collect();
    if equal.len() <= (column.hashes.len() / RARE).max(2) { equal } else { Vec::new() }
}

/// Returns the places of the only value of a column that repeats, if it does so one below the other.
fn neighbours(column: &Column) -> Vec<usize> {
    let again = again(&column.hashes);
    let are_together = again.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    let first = again.first().and_then(|at| column.hashes.get(*at));
    let are_one = again.iter().all(|at| column.hashes.get(*at) == first);
    if are_together && are_one && again.len() * 4 <= column.hashes.len() { again } else { Vec::new() }
}

/// Returns the places of the few values that repeat.
fn again(hashes: &[u64]) -> Vec<usize> {
    let mut sorted: Vec<(u64, usize)> = hashes.iter().copied().zip(0..).filter(|(hash, _)| *hash != 0).collect();
    sorted.sort_unstable();
    let several = sorted.chunk_by(|one, other| one.0 == other.0).filter(|places| places.len() > 1);
    let mut values = 0;
    let mut again: Vec<usize> = several.inspect(|_| values += 1).flatten().map(|(_, at)| *at).collect();
    again.sort_unstable();
    if sorted.len() >= FEWEST && values <= (sorted.len() / DISTINCT).max(1) { again } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::super::roles::Formed;
    use super::super::testing::row;
    use super::*;

    #[test]
    fn values_that_are_there_already_are_odd_where_all_others_differ() {
        let name = Formed { column: 1, field: "name", kind: Kind::Name, is_of_row: true };
        let roles = Roles {
            formed: vec![name],
            keys: vec![0],
            mapped: vec![(0, "externalId"), (1, "name")],
            unmapped: vec![2],
            names: ["Number", "Name", "EAN"].map(str::to_owned).to_vec(),
            ..Roles::default()
        };
        let found = |changed: &[(usize, usize, &str)]| {
            let mut lines: Vec<[String; 3]> = (0..30)
                .map(|n| [format!("A-{n}"), format!("Thing {n}"), format!("40063813{:05}", 33931 + 7 * n)])
                .collect();
            changed.iter().for_each(|(at, column, text)| lines[*at][*column] = (*text).to_owned());
            let mut sample = Sample::new(&roles);
            (0..).zip(&lines).for_each(|(number, line)| sample.row(&roles, &row(number, line)));
            let rows = repeats(&roles, &sample).into_iter().flat_map(|odd| odd.rows);
            rows.map(|(row, _)| row).collect::<Vec<_>>()
        };
        assert!(found(&[]).is_empty());
        assert_eq!(found(&[(7, 1, "A-7")]), [7]);
        assert_eq!(found(&[(7, 1, "Thing 6")]), [6, 7]);
        // The same name in another place, and names that repeat now and then.
        assert!(found(&[(7, 1, "Thing 20")]).is_empty());
        assert!(found(&[(7, 1, "Thing 6"), (9, 1, "Thing 8")]).is_empty());
    }
}
