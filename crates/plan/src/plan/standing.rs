//! Whether the rows of each record stand together, as in nearly all sheets: then few records are in memory.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

/// The records whose rows are assumed to stand together.
#[derive(Debug, Default)]
pub(super) struct Standing {
    state: State,
    /// Hashes of the names of complete records. Of a million names, two have the same hash in one of thirty million runs, and the sheet is
    /// read again in vain.
    ended: HashSet<u64>,
    hasher: RandomState,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Scattered,
    Together,
    /// A further row of a complete record came.
    Refuted,
}

impl Standing {
    /// `together`: whether to assume it, until a further row of a complete record comes.
    pub(super) fn new(together: bool) -> Standing {
        Standing { state: if together { State::Together } else { State::Scattered }, ..Standing::default() }
    }

    /// Begins the record with a name. Returns whether the records before it are complete, as far as is known.
    pub(super) fn begin(&mut self, last: Option<&str>, name: &str) -> bool {
        if self.state == State::Together {
            self.ended.extend(last.map(|last| self.hasher.hash_one(last)));
            if self.ended.contains(&self.hasher.hash_one(name)) {
                self.state = State::Refuted;
            }
        }
        self.state != State::Scattered
    }

    /// Whether the rows of a record do not stand together, so that the sheet must be read again.
    pub(super) fn is_refuted(&self) -> bool {
        self.state == State::Refuted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_a_complete_record_refutes_the_assumption() {
        let mut standing = Standing::new(true);
        assert!(standing.begin(None, "A") && standing.begin(Some("A"), "B") && standing.begin(Some("B"), "C"));
        assert!(!standing.is_refuted());
        assert!(standing.begin(Some("C"), "A"));
        assert!(standing.is_refuted());
        let mut anywhere = Standing::new(false);
        assert!(!anywhere.begin(None, "A") && !anywhere.begin(Some("A"), "B") && !anywhere.begin(Some("B"), "A"));
        assert!(!anywhere.is_refuted());
    }
}
