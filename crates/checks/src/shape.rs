//! The form of identifiers and names: which kinds of characters they have, in which order, and features that only a few of a column have.

use sheetport_sheet::Cell;
use sheetport_values::normalize::trimmed;

use super::features::{Feature, Kind, Runs, Shape};
use super::finding::Finding;

/// Fewest records by whose identifiers one of them can be unlike the others. With three others, one in a hundred windows of real files has an
/// honest exception.
const FEWEST: u64 = 4;
/// Fewest identifiers by which their form is a rule, and by which one of them can be unlike the others where they repeat, as the items of
/// orders do.
const FEWEST_REGULAR: u64 = 20;
/// Fewest identifiers with capital letters by which one with a small letter is mistyped.
const FEWEST_CAPITAL: u64 = 8;
/// Fewest barcodes by which a wrong check digit is one.
const FEWEST_BARCODES: u64 = 8;
/// A form is common if at least a twentieth of the identifiers have it, and three of them.
const COMMON_SHARE: u64 = 20;
const COMMON_FEWEST: u64 = 3;
/// Maximum length of a text that is judged, in bytes. A longer one is a description.
const MAX_BYTES: usize = 512;
/// Maximum length of an identifier whose length is counted, in characters.
const MAX_LENGTH: usize = 32;
/// Number of forms that are kept as examples if a column has more than can be counted.
const EXAMPLES: usize = 8;
/// Number of names whose forms are counted, to show the commonest one as an example: those of a first chunk of rows.
const EXAMPLE_CELLS: u64 = 2048;
/// Maximum number of different forms to count. A column with more is irregular.
const MAX_FORMS: usize = 64;

/// Most different letters at the beginning that are counted.
const MAX_BEGINNINGS: usize = 4;
/// Letters that people and scanners read as digits.
const LOOK_LIKE: [(char, char); 7] =
    [('O', '0'), ('o', '0'), ('l', '1'), ('I', '1'), ('S', '5'), ('B', '8'), ('Z', '2')];

/// Counts of the forms of a column.
#[derive(Clone, Debug)]
pub(super) struct FormCounts {
    kind: Kind,
    cells: u64,
    /// The number of cells with each of the features of the kind.
    featured: Vec<u64>,
    /// The number of cells with capital letters alone, of identifiers.
    capitals: u64,
    /// The number of cells without letters, of identifiers.
    letterless: u64,
    /// The number of identifiers of each length in characters, up to the longest that is counted.
    lengths: [u64; MAX_LENGTH + 1],
    /// Whether a number begins with 1 or with 9, so that shorter or longer ones may come before or after.
    begin_with: [bool; 2],
    /// The letters at the beginning of identifiers, with the number of each, as far as they can be counted.
    beginnings: Vec<(String, u64)>,
    /// In the order of appearance, with the first text of each form.
    forms: Vec<(Runs, String, u64)>,
    /// Whether there are more forms than can be counted.
    is_irregular: bool,
    /// The shape of the current cell; reused.
    shape: Shape,
}

/// What the texts of a column have in common, if a few of them lack it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Form {
    kind: Kind,
    /// Features that all but a few lack.
    rare: Vec<Feature>,
    /// All but a few have one of these forms. Empty if nothing is regular, or all have it.
    common: Vec<Runs>,
    /// All but a few have this length.
    length: Option<usize>,
    begin_with: [bool; 2],
    /// All but a few begin with these letters.
    beginning: Option<String>,
    /// A text of the commonest form.
    example: String,
}

impl FormCounts {
    pub(super) fn new(kind: Kind) -> FormCounts {
        FormCounts {
            kind,
            cells: 0,
            featured: vec![0; kind.features().len()],
            capitals: 0,
            letterless: 0,
            lengths: [0; MAX_LENGTH + 1],
            begin_with: [false; 2],
            beginnings: Vec::new(),
            forms: Vec::new(),
            is_irregular: false,
            shape: Shape::default(),
        }
    }

    pub(super) fn add(&mut self, cell: &Cell<'_>) {
        if cell.is_blank() || matches!(cell, Cell::Error(_)) {
            return;
        }
        let text = cell.shown();
        let text = trimmed(&text);
        self.cells += 1;
        // Names have no form, but some are examples.
        let may_be_example = self.forms.len() < EXAMPLES && self.cells <= EXAMPLE_CELLS;
        let is_example = self.kind == Kind::Identifier || may_be_example;
        if text.len() > MAX_BYTES || !is_example && Feature::are_ruled_out(self.kind, text) {
            return;
        }
        self.shape.set(text);
        self.capitals += u64::from(self.shape.is_capital());
        self.letterless += u64::from(!self.shape.has_letters());
        for (feature, count) in self.kind.features().iter().zip(&mut self.featured) {
            *count += u64::from(feature.is_in(&self.shape, text));
        }
        if self.kind == Kind::Identifier
            && let Some(count) = self.lengths.get_mut(text.chars().count())
        {
            *count += 1;
            let first = text.bytes().find(u8::is_ascii_digit);
            self.begin_with[0] |= first == Some(b'1');
            self.begin_with[1] |= first == Some(b'9');
            self.add_beginning(text);
        }
        if is_example {
            self.add_form(text);
        }
    }

    fn add_beginning(&mut self, text: &str) {
        let beginning = beginning(text);
        if let Some((_, count)) = self.beginnings.iter_mut().find(|(known, _)| known == beginning) {
            *count += 1;
        } else if self.beginnings.len() < MAX_BEGINNINGS {
            self.beginnings.push((beginning.to_owned(), 1));
        }
    }

    fn add_form(&mut self, text: &str) {
        if self.is_irregular {
            return;
        }
        let form = self.shape.runs.as_slice();
        if let Some((_, _, count)) = self.forms.iter_mut().find(|(known, _, _)| known.as_ref() == form) {
            *count += 1;
        } else if self.forms.len() < MAX_FORMS {
            self.forms.push((form.into(), text.to_owned(), 1));
        } else {
            // Some stay as examples.
            self.is_irregular = true;
            self.forms.truncate(EXAMPLES);
        }
    }

    /// Returns what the texts have in common. `is_of_row` says that each row has another one, or one of its own.
    pub(super) fn form(&self, is_of_row: bool) -> Form {
        let few = (self.cells / 100).max(1);
        let fewest = if is_of_row { FEWEST } else { FEWEST_REGULAR };
        let are_few = |count: u64| (1..=few).contains(&count) && self.cells >= fewest;
        let features = self.kind.features().iter().zip(&self.featured);
        let barcodes =
            features.clone().find(|(feature, _)| **feature == Feature::Barcode).map_or(0, |(_, count)| *count);
        // Among numbers, a code with a letter is another kind of code.
        let are_capital = self.cells >= FEWEST_CAPITAL && self.capitals + few >= self.cells;
        let is_said = |feature: Feature| match feature {
            Feature::SmallLetter => are_capital,
            // One in ten long numbers has a check digit by chance.
            Feature::Barcode => self.letterless <= few,
            Feature::CheckDigit => barcodes >= FEWEST_BARCODES && barcodes + few >= self.cells,
            _ => true,
        };
        let are_few_of = |feature: Feature, count: u64| match feature {
            // No list of other people has one of these, so that several of them are mistakes, too.
            Feature::Markup | Feature::BrokenWord => {
                self.cells >= fewest && (1..=(self.cells / 10).max(1)).contains(&count)
            }
            _ => are_few(count),
        };
        let rare = features.filter(|(feature, count)| are_few_of(**feature, **count) && is_said(**feature));
        let rare: Vec<Feature> = rare.map(|(feature, _)| *feature).collect();
        let is_regular = self.kind == Kind::Identifier && self.cells >= FEWEST_REGULAR && !self.is_irregular;
        let common = if is_regular { self.common(are_few) } else { Vec::new() };
        let is_odd = |text: &str| {
            let mut shape = Shape::default();
            shape.set(text);
            rare.iter().any(|feature| feature.is_in(&shape, text))
        };
        let length = is_regular.then(|| self.length(few)).flatten();
        let beginning = is_regular.then(|| self.beginning((self.cells / 30).max(1))).flatten();
        let is_judged = !rare.is_empty() || !common.is_empty() || length.is_some() || beginning.is_some();
        let examples = self.forms.iter().filter(|_| is_judged);
        // Of equal counts, the first.
        let commonest = examples.filter(|(_, text, _)| !is_odd(text)).rev().max_by_key(|(_, _, count)| *count);
        let example = commonest.map(|(_, text, _)| text.clone()).unwrap_or_default();
        Form { kind: self.kind, rare, common, length, begin_with: self.begin_with, beginning, example }
    }

    /// Returns the letters that all but a few of the identifiers begin with.
    fn beginning(&self, few: u64) -> Option<String> {
        let (letters, count) = self.beginnings.iter().max_by_key(|(_, count)| *count)?;
        (*count < self.cells && count + few >= self.cells && !letters.is_empty()).then(|| letters.clone())
    }

    /// Returns the length of all but a few of the cells.
    fn length(&self, few: u64) -> Option<usize> {
        let (length, count) = self.lengths.iter().enumerate().max_by_key(|(_, count)| **count)?;
        (*count < self.cells && count + few >= self.cells).then_some(length)
    }

    /// Returns the forms of all but a few of the cells, in order.
    fn common(&self, are_few: impl Fn(u64) -> bool) -> Vec<Runs> {
        let mut forms: Vec<&(Runs, String, u64)> = self.forms.iter().collect();
        // Forms with the same count stay in the order of appearance, so that equal rows give equal evidence.
        forms.sort_by_key(|(_, _, count)| std::cmp::Reverse(*count));
        let is_common = |count: u64| count >= (self.cells / COMMON_SHARE).max(COMMON_FEWEST);
        let common: Vec<_> = forms.into_iter().take(2).filter(|(_, _, count)| is_common(*count)).collect();
        let others = self.cells - common.iter().map(|(_, _, count)| count).sum::<u64>();
        let mut common: Vec<Runs> = common.into_iter().map(|(form, _, _)| form.clone()).collect();
        common.sort();
        if are_few(others) { common } else { Vec::new() }
    }
}

impl Form {
    /// Whether a text has another length than those with the same letters. Numbers grow by a digit from 999 to 1000.
    fn has_other_length(&self, text: &str) -> bool {
        let first = text.chars().find(char::is_ascii_digit);
        let is_other = self.length.is_some_and(|usual| match text.chars().count() {
            // What is far longer is no code, and the service has a limit of its own.
            length if length == usual || length > MAX_LENGTH => false,
            length if length == usual + 1 => first != Some('1') || !self.begin_with[1],
            length if length + 1 == usual => first != Some('9') || !self.begin_with[0],
            _ => true,
        });
        let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<String>();
        is_other && letters(text) == letters(&self.example)
    }

    /// Whether a text would have a common form if a digit were read in place of a letter that looks like it, or the other way round.
    fn is_confused(&self, text: &str) -> bool {
        LOOK_LIKE.iter().any(|(one, other)| {
            let has_form = |changed: String| {
                let mut shape = Shape::default();
                shape.set(&changed);
                self.common.iter().any(|form| **form == *shape.runs)
            };
            let places = text.char_indices().filter(|(_, c)| c == one || c == other);
            let mut places = places.map(|(at, c)| (at, c.len_utf8(), if c == *one { other } else { one }));
            text.contains(*one) && has_form(text.replace(*one, &other.to_string()))
                || places.any(|(at, length, read)| has_form(format!("{}{read}{}", &text[..at], &text[at + length..])))
        })
    }

    /// Returns how a text differs from the others of its column.
    pub(super) fn judge(&self, column: usize, field: &'static str, cell: &Cell<'_>) -> Option<Finding> {
        let is_plain = self.example.is_empty();
        if is_plain || cell.is_blank() || matches!(cell, Cell::Error(_)) {
            return None;
        }
        let text = cell.shown();
        let text = trimmed(&text);
        if text.len() > MAX_BYTES || Feature::are_ruled_out(self.kind, text) {
            return None;
        }
        let mut shape = Shape::default();
        shape.set(text);
        let feature = self.rare.iter().find(|feature| feature.is_in(&shape, text));
        let example = &self.example;
        let (message, is_warning) = match feature {
            Some(feature) => (feature.message(example), feature.is_warning()),
            None if self.common.is_empty() || self.common.iter().any(|form| **form == *shape.runs) => {
                let is_code = |text: &str| text.bytes().any(|byte| byte.is_ascii_digit());
                let is_other = self.beginning.as_deref().is_some_and(|usual| usual != beginning(text));
                if is_other && is_code(text) && is_code(example) {
                    (format!("begins with other letters than the others, which are like '{example}'"), false)
                } else if self.has_other_length(text) {
                    (format!("is shorter or longer than the others, which are all as long as '{example}'"), false)
                } else {
                    return None;
                }
            }
            None => (format!("has another form than the others, which are like '{example}'"), !self.is_confused(text)),
        };
        let remedy = "correct it, or leave the row out if it is no record; if it is right, set damaged = \"accept\" for the field in the template";
        Some(Finding {
            remedy: remedy.to_owned(),
            is_warning,
            ..Finding::unlike_others((column, field), text.to_owned(), message)
        })
    }
}

/// Returns the letters at the beginning of an identifier.
fn beginning(text: &str) -> &str {
    text.find(|c: char| !c.is_alphabetic()).map_or(text, |end| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the identifiers that are unlike the others, with `?` for a warning.
    fn unlike(texts: &[&str]) -> Vec<String> {
        let mut counts = FormCounts::new(Kind::Identifier);
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
    fn one_with_a_feature_of_its_own_is_no_identifier() {
        let capital: Vec<String> = (1..9).map(|n| format!("ST-{n}")).collect();
        let capital: Vec<&str> = capital.iter().map(String::as_str).chain(["St-9"]).collect();
        assert_eq!(unlike(&capital), ["St-9"]);
        assert!(unlike(&["101", "102", "103", "104", "105", "106", "107", "108", "10b9"]).is_empty());
        let long = ["10000001", "10000002", "10000003", "10000004", "10000007"];
        assert!(unlike(&long).is_empty(), "one in ten has a check digit by chance");
        for odd in ["4006381333931", "[A-9]", "A-9*", "12.50", "12:30", "2026-03-04", "\u{410}-9"] {
            assert_eq!(unlike(&["A-1", "A-2", "A-3", odd]), [odd]);
        }
    }

    #[test]
    fn an_identifier_that_is_shorter_or_longer_is_found() {
        let numbers = |odd: &str| {
            let texts: Vec<String> = (0..24).map(|n| format!("{}", 102_300 + n * 7)).collect();
            unlike(&texts.iter().map(String::as_str).chain([odd]).collect::<Vec<_>>())
        };
        assert_eq!(numbers("10247"), ["10247"]);
        assert_eq!(numbers("103825103825"), ["103825103825"]);
        assert!(numbers("99998").is_empty(), "numbers that go on");
        assert_eq!(numbers("1000004"), ["1000004"]);
        let codes: Vec<String> = (0..24).map(|n| format!("INV-{}", 200 + n)).collect();
        assert_eq!(unlike(&codes.iter().map(String::as_str).chain(["CN-31"]).collect::<Vec<_>>()), ["CN-31"]);
        assert_eq!(unlike(&codes.iter().map(String::as_str).chain(["INV-2O4"]).collect::<Vec<_>>()), ["INV-2O4"]);
    }

    #[test]
    fn a_wrong_check_digit_is_found_among_barcodes() {
        let barcodes =
            ["4006381333931", "4006381333948", "4006381333955", "4006381333962", "4006381333979", "4006381333986"];
        let more = ["4006381333993", "4006381334006", "4006381334013"];
        let all: Vec<&str> = barcodes.into_iter().chain(more).collect();
        assert!(unlike(&all).is_empty());
        for odd in ["4006381334021", "400638133402"] {
            assert_eq!(unlike(&all.iter().copied().chain([odd]).collect::<Vec<_>>()), [odd]);
        }
        assert!(unlike(&all.iter().copied().chain(["W-17"]).collect::<Vec<_>>()).is_empty());
    }

    #[test]
    fn a_number_among_names_is_none() {
        let names = ["Nut", "Bolt M8", "Lamp", "12.50", "4711"];
        let found = |texts: &[&str]| {
            let mut counts = FormCounts::new(Kind::Name);
            texts.iter().for_each(|text| counts.add(&Cell::Text(text)));
            let form = counts.form(true);
            let found = texts.iter().filter_map(|text| form.judge(1, "name", &Cell::Text(text)));
            found.map(|finding| (finding.value, finding.is_warning)).collect::<Vec<_>>()
        };
        assert_eq!(found(&names[..4]), [("12.50".to_owned(), false)]);
        assert_eq!(found(&["Nut", "Bolt", "Lamp", "4711"]), [("4711".to_owned(), true)]);
        assert!(found(&["501", "505", "Lamp", "Desk"]).is_empty());
    }
}
