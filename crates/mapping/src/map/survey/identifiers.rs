//! What the identifiers of a sheet have in common: digits, no white space, and a name beside them.

/// Maximum number of rows at the end of a list that may be footers.
const MAX_FOOTERS: u64 = 5;

/// Collects the form of identifiers. Rows at the end without a property are no evidence against it, because they may be footers.
#[derive(Clone, Debug, Default)]
pub(super) struct IdentifierSurveyor {
    digits: Property,
    no_spaces: Property,
    names: Property,
}

/// How many rows have a property.
#[derive(Clone, Copy, Debug, Default)]
struct Property {
    with: u64,
    rows: u64,
    /// Number of rows up to the last with the property.
    rows_to_last: u64,
}

impl Property {
    fn add(&mut self, has_it: bool) {
        self.rows += 1;
        if has_it {
            self.with += 1;
            self.rows_to_last = self.rows;
        }
    }

    /// Returns the number of rows without footers at the end.
    fn records(&self) -> u64 {
        let footers = self.rows - self.rows_to_last;
        if footers <= MAX_FOOTERS.min(self.rows_to_last) { self.rows_to_last } else { self.rows }
    }

    /// Whether at least this part of the records has the property.
    fn is_usual(&self, percent: u64) -> bool {
        self.rows > 0 && self.with * 100 >= self.records() * percent
    }
}

impl IdentifierSurveyor {
    pub(super) fn add(&mut self, identifier: &str, has_name: bool) {
        self.digits.add(identifier.chars().any(char::is_numeric));
        self.no_spaces.add(!identifier.trim().contains(char::is_whitespace));
        self.names.add(has_name);
    }

    pub(super) fn have_digits(&self) -> bool {
        self.digits.is_usual(80)
    }

    pub(super) fn half_have_digits(&self) -> bool {
        self.digits.is_usual(50)
    }

    pub(super) fn have_no_spaces(&self) -> bool {
        self.no_spaces.is_usual(90)
    }

    /// Whether most records have a name. Two records are evidence if both have one.
    pub(super) fn have_names(&self) -> bool {
        self.names.records() > 1 && self.names.is_usual(if self.names.records() > 2 { 70 } else { 100 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(rows: &[(&str, bool)]) -> IdentifierSurveyor {
        let mut survey = IdentifierSurveyor::default();
        rows.iter().for_each(|(identifier, has_name)| survey.add(identifier, *has_name));
        survey
    }

    #[test]
    fn footers_are_no_evidence() {
        let few = survey(&[("A-1", true), ("A-2", true), ("Freight charge", false), ("Signed by", false)]);
        assert!(few.have_digits() && few.have_no_spaces() && few.have_names());
        let mixed = survey(&[("A-1", true), ("BOLT", true), ("A-2", true), ("NUT", true), ("PIN", true)]);
        assert!(!mixed.have_digits() && mixed.half_have_digits());
        let words = survey(&[("A-1", true), ("BOLT", true), ("NUT", true)]);
        assert!(!words.have_digits());
        assert!(!survey(&[]).have_digits() && !survey(&[("A-1", true)]).have_names());
    }
}
