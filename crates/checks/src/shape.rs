//! The form of identifiers: which kinds of characters they have, in which order.

use sheetport_findings::Code;
use sheetport_sheet::Cell;

use super::finding::Finding;

/// Fewest records by whose identifiers one of them can be unlike the others. With three others, one in a hundred windows of real files has an
/// honest exception.
const FEWEST: u64 = 4;
/// Fewest identifiers by which their form is a rule, and by which one of them can be unlike the others where they repeat, as the items of
/// orders do.
const FEWEST_REGULAR: u64 = 20;
/// A form is common if at least a twentieth of the identifiers have it, and three of them.
const COMMON_SHARE: u64 = 20;
const COMMON_FEWEST: u64 = 3;
/// Maximum number of different forms to count. A column with more is irregular.
const MAX_FORMS: usize = 64;
/// Maximum number of runs of characters in a form.
const MAX_RUNS: usize = 24;

/// The runs of characters of an identifier: `L` for letters, `9` for digits, a space, or the sign itself. `AB-101` is `L-9`.
type Runs = Box<[u8]>;

/// Counts of the forms of a column of identifiers.
#[derive(Clone, Debug, Default)]
pub(super) struct FormCounts {
    cells: u64,
    with_digit: u64,
    with_space: u64,
    /// In the order of appearance, with the first identifier of each form.
    forms: Vec<(Runs, String, u64)>,
    /// Whether there are more forms than can be counted.
    is_irregular: bool,
    /// The form of the current identifier; reused.
    runs: Vec<u8>,
}

/// What the identifiers of a column have in common, if a few of them lack it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Form {
    /// All but a few have a digit.
    has_digits: bool,
    /// All but a few have no space.
    has_no_spaces: bool,
    /// All but a few have one of these forms. Empty if nothing is regular, or all have it.
    common: Vec<Runs>,
    /// An identifier of the commonest form.
    example: String,
}

impl FormCounts {
    pub(super) fn add(&mut self, cell: &Cell<'_>) {
        if cell.is_blank() || matches!(cell, Cell::Error(_)) {
            return;
        }
        let text = cell.shown();
        let text = text.trim();
        self.cells += 1;
        self.with_digit += u64::from(has_digit(text));
        self.with_space += u64::from(has_space(text));
        if self.is_irregular {
            return;
        }
        write_runs(text, &mut self.runs);
        if let Some((_, _, count)) = self.forms.iter_mut().find(|(known, _, _)| known.as_ref() == self.runs.as_slice())
        {
            *count += 1;
        } else if self.forms.len() < MAX_FORMS {
            self.forms.push((self.runs.as_slice().into(), text.to_owned(), 1));
        } else {
            self.is_irregular = true;
            self.forms = Vec::new();
        }
    }

    /// Returns what the identifiers have in common. `is_key` says that each row has another one.
    pub(super) fn form(&self, is_key: bool) -> Form {
        let few = (self.cells / 100).max(1);
        let fewest = if is_key { FEWEST } else { FEWEST_REGULAR };
        let are_few = |count: u64| (1..=few).contains(&count) && self.cells >= fewest;
        let has_digits = are_few(self.cells - self.with_digit);
        let has_no_spaces = are_few(self.with_space);
        let mut forms: Vec<&(Runs, String, u64)> = self.forms.iter().collect();
        // Forms with the same count stay in the order of appearance, so that equal rows give equal evidence.
        forms.sort_by_key(|(_, _, count)| std::cmp::Reverse(*count));
        let is_common = |count: u64| count >= (self.cells / COMMON_SHARE).max(COMMON_FEWEST);
        let common: Vec<_> = forms.iter().take(2).filter(|(_, _, count)| is_common(*count)).collect();
        let others = self.cells - common.iter().map(|(_, _, count)| count).sum::<u64>();
        let is_regular = self.cells >= FEWEST_REGULAR && !common.is_empty() && are_few(others);
        let mut common: Vec<Runs> = common.iter().filter(|_| is_regular).map(|(runs, _, _)| runs.clone()).collect();
        common.sort();
        let is_judged = has_digits || has_no_spaces || is_regular;
        let example = forms.first().filter(|_| is_judged).map(|(_, example, _)| example.clone()).unwrap_or_default();
        Form { has_digits, has_no_spaces, common, example }
    }
}

impl Form {
    /// Returns how an identifier differs from the others of its column.
    pub(super) fn judge(&self, column: usize, field: &'static str, cell: &Cell<'_>) -> Option<Finding> {
        if self.example.is_empty() || cell.is_blank() || matches!(cell, Cell::Error(_)) {
            return None;
        }
        let text = cell.shown();
        let text = text.trim();
        let example = &self.example;
        let is_common =
            || self.common.is_empty() || self.common.iter().any(|form| form.as_ref() == runs(text).as_slice());
        let (message, is_warning) = if self.has_digits && !has_digit(text) {
            (format!("has no digit, unlike the others, which are like '{example}'"), false)
        } else if self.has_no_spaces && has_space(text) {
            (format!("has a space, unlike the others, which are like '{example}'"), false)
        } else if is_common() {
            return None;
        } else {
            (format!("has another form than the others, which are like '{example}'"), true)
        };
        let remedy = "correct it, or leave the row out if it is no record; if it is right, set damaged = \"accept\" for the field in the template";
        Some(Finding {
            code: Code::UnlikeOthers,
            column,
            field,
            value: text.to_owned(),
            message,
            remedy: remedy.to_owned(),
            is_warning,
        })
    }
}

fn has_digit(text: &str) -> bool {
    text.chars().any(char::is_numeric)
}

fn has_space(text: &str) -> bool {
    text.contains(char::is_whitespace)
}

/// Whether a text has the form of a UUID, as the ids of the service. Its digits and letters stand in any order.
fn is_uuid(text: &str) -> bool {
    const DASHES: [usize; 4] = [8, 13, 18, 23];
    let is_in_place =
        |(at, byte): (usize, u8)| if DASHES.contains(&at) { byte == b'-' } else { byte.is_ascii_hexdigit() };
    text.len() == 36 && text.bytes().enumerate().all(is_in_place)
}

fn runs(text: &str) -> Vec<u8> {
    let mut runs = Vec::new();
    write_runs(text, &mut runs);
    runs
}

fn write_runs(text: &str, runs: &mut Vec<u8>) {
    runs.clear();
    if is_uuid(text) {
        return runs.extend(b"UUID");
    }
    for c in text.chars() {
        let class = match c {
            _ if c.is_numeric() => b'9',
            _ if c.is_alphabetic() => b'L',
            _ if c.is_whitespace() => b' ',
            _ if c.is_ascii() => c as u8,
            _ => b'?',
        };
        // Signs count one by one: `A--1` is not `A-1`.
        let is_run = matches!(class, b'9' | b'L' | b' ');
        if (!is_run || runs.last() != Some(&class)) && runs.len() < MAX_RUNS {
            runs.push(class);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the identifiers that are unlike the others, with `?` for a warning.
    fn unlike(texts: &[&str]) -> Vec<String> {
        let mut counts = FormCounts::default();
        texts.iter().for_each(|text| counts.add(&Cell::Text(text)));
        let form = counts.form(true);
        let found = texts.iter().filter_map(|text| form.judge(0, "externalId", &Cell::Text(text)));
        found.map(|finding| format!("{}{}", finding.value, if finding.is_warning { "?" } else { "" })).collect()
    }

    #[test]
    fn identifiers_unlike_the_others_are_found() {
        assert_eq!(unlike(&["A-1", "A-2", "Nut", "A-4"]), ["Nut"]);
        assert_eq!(unlike(&["A-1", "A-2", "A-3", "A 4"]), ["A 4"]);
        // Two of five are no exception.
        assert!(unlike(&["A-1", "A-2", "Nut", "Bolt", "A-4"]).is_empty());
        assert!(unlike(&["A-1", "Nut", "A-3"]).is_empty());
        assert!(unlike(&["red", "green", "blue", "B4"]).is_empty());
    }

    #[test]
    fn a_rare_form_is_only_a_warning() {
        let mut texts: Vec<String> = (0..60).map(|number| format!("AB-{}", 100 + number)).collect();
        texts.extend((0..30).map(|number| format!("{}", 4000 + number)));
        texts.push("AB/7".to_owned());
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(unlike(&texts), ["AB/7?"]);
        // A third of the forms are common, so nothing is regular.
        let mixed: Vec<String> = (0..90).map(|n| ["A-1", "1A", "A.1"][n % 3].replace('1', &n.to_string())).collect();
        assert!(unlike(&mixed.iter().map(String::as_str).collect::<Vec<_>>()).is_empty());
    }

    #[test]
    fn forms_ignore_lengths() {
        assert_eq!(runs("AB-101"), b"L-9");
        assert_eq!(runs("Ö７ x"), b"L9 L");
        assert_eq!(runs("--"), b"--");
        assert_eq!(runs("019a3c00-0002-7000-8000-00000000000a"), runs("019a3c00-0002-7000-8000-000000000005"));
    }
}
