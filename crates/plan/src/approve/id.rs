//! The name of a change in a file: the plan, the position of the record, and letters that tell whether somebody has edited it.

use sheetport_files::digest;
use sheetport_ledger::Seq;

/// As in the names of runs, so that no spreadsheet program takes the name for a date, a number or a formula.
const LETTERS: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";
const LEN: usize = 4;

/// A change of a plan, as a file names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChangeId {
    /// The name of the run, see [`sheetport_ledger::Run::token`].
    pub plan: String,
    pub seq: Seq,
}

/// Returns the name of the change of a field; of a record as a whole without one.
pub fn change_id(plan: &str, seq: Seq, field: &str) -> String {
    format!("{plan}-{seq}-{}", letters(plan, seq, field))
}

fn letters(plan: &str, seq: Seq, field: &str) -> String {
    let digest = digest::of_parts([plan.as_bytes(), &seq.to_le_bytes(), field.as_bytes()]);
    digest.into_iter().take(LEN).map(|byte| char::from(LETTERS[usize::from(byte) % LETTERS.len()])).collect()
}

impl ChangeId {
    /// Reads the name of the change of `field`. Returns `None` for any other text, and if one of the two was edited.
    pub(super) fn parse(name: &str, field: &str) -> Option<ChangeId> {
        let (rest, found) = name.rsplit_once('-')?;
        let (plan, seq) = rest.rsplit_once('-')?;
        let seq: Seq = seq.parse().ok().filter(|seq| *seq >= 0)?;
        (found == letters(plan, seq, field)).then(|| ChangeId { plan: plan.to_owned(), seq })
    }

    /// Returns the number of the run and its whole name.
    pub(super) fn run(&self) -> Option<i64> {
        let (run, _) = self.plan.split_once('-')?;
        run.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edited_name_is_noticed() {
        let name = change_id("2-bcdfgh", 17, "price");
        let found = ChangeId::parse(&name, "price").expect("a name");
        assert_eq!((found.plan.as_str(), found.seq, found.run()), ("2-bcdfgh", 17, Some(2)));
        let others = [name.replace("-17-", "-18-"), name.replace('2', "3"), format!("{name}b"), String::new()];
        for other in others.iter().map(String::as_str).chain(["2-bcdfgh", "-", "2-bcdfgh--1-bbbb"]) {
            assert_eq!(ChangeId::parse(other, "price"), None, "{other}");
        }
        assert_eq!(ChangeId::parse(&name, "name"), None, "another field");
    }
}
