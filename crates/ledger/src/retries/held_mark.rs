//! Marks in the reports of checks and rehearsals. These runs are in no ledger, so the report itself has to tell which rows stay rejected
//! until they are edited.

use std::borrow::Cow;

use sheetport_files::text_file::normalize_line_ends;
use sheetport_findings::{Code, Edit, Scope};
use twox_hash::XxHash3_64;

use super::super::runs::Run;

/// The mark of a problem: its code, and a hash of the cells that have to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldMark {
    pub code: Code,
    hash: u32,
}

/// What a row is judged by. Under another template, or without strictness, the same cells may be right.
#[derive(Clone, Copy, Debug)]
pub struct JudgedBy<'a> {
    pub template_toml: &'a str,
    pub is_strict: bool,
}

impl<'a> From<&'a Run> for JudgedBy<'a> {
    fn from(run: &'a Run) -> JudgedBy<'a> {
        JudgedBy { template_toml: &run.about.template_toml, is_strict: run.about.settings.strict }
    }
}

impl HeldMark {
    /// Returns the mark of a row that was rejected with `code`, or `None` if it is sent as it is once the file shows no problem. `cells` are
    /// the titles and texts of all cells, of which `column` has the problem.
    pub fn new<'c>(
        code: Code,
        judged: JudgedBy<'_>,
        column: Option<usize>,
        cells: impl Iterator<Item = (&'c str, Cow<'c, str>)>,
    ) -> Option<HeldMark> {
        let edit = code.needs()?;
        let mut cells = cells.map(titled_hash);
        let cells = match column.filter(|_| edit == Edit::Cell) {
            Some(column) => cells.nth(column)?.alone(),
            None => cells.map(|cell| cell.value).fold(0, u64::wrapping_add),
        };
        Some(HeldMark { code, hash: Seal::new(code, judged).hash(cells) })
    }

    /// Whether a row with these cells is the one that was rejected: none of the cells that have to change has changed. Strictness that was
    /// added since releases nothing.
    pub fn is_of<'c>(&self, judged: JudgedBy<'_>, cells: impl Iterator<Item = (&'c str, Cow<'c, str>)>) -> bool {
        let hashes: Vec<TitledHash> = cells.map(titled_hash).collect();
        let row = hashes.iter().map(|cell| cell.value).fold(0, u64::wrapping_add);
        let may_be_cell = self.code.needs() == Some(Edit::Cell);
        [false, judged.is_strict].into_iter().any(|is_strict| {
            let seal = Seal::new(self.code, JudgedBy { is_strict, ..judged });
            let is_hash = |cells: u64| seal.hash(cells) == self.hash;
            is_hash(row) || (may_be_cell && hashes.iter().map(TitledHash::alone).any(is_hash))
        })
    }

    /// Reads the marks in a cell after the name of the kind of run. Other words are ignored.
    pub fn read(text: &str) -> impl Iterator<Item = HeldMark> {
        text.split_whitespace().filter_map(|word| {
            let (code, hash) = word.split_once(':')?;
            Some(HeldMark { code: Code::named(code)?, hash: u32::from_str_radix(hash, 16).ok()? })
        })
    }
}

impl std::fmt::Display for HeldMark {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{:08x}", self.code, self.hash)
    }
}

/// The mark of a row without a name that belongs to the record above it: the number of the row with the name. The rows of the report may
/// be sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BelowMark(pub u64);

impl std::fmt::Display for BelowMark {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{BELOW}:{}", self.0)
    }
}

const BELOW: &str = "below";

impl BelowMark {
    /// Reads the mark among those of a row.
    pub fn read(text: &str) -> Option<BelowMark> {
        let mut marks = text.split_whitespace().filter_map(|word| word.split_once(':'));
        marks.find_map(|(mark, row)| row.parse().ok().filter(|_| mark == BELOW)).map(BelowMark)
    }
}

/// Returns the same number for a cell after a spreadsheet program saved it: 1.50 as 1.5, with other line ends. Blank cells are 0. `seed` is
/// of the column.
pub fn cell_hash(seed: u64, text: &str) -> u64 {
    let text = text.trim();
    if text.is_empty() {
        return 0;
    }
    match text.parse::<f64>().ok().filter(|number| number.is_finite()) {
        Some(number) => XxHash3_64::oneshot_with_seed(seed, &number.to_le_bytes()),
        None => XxHash3_64::oneshot_with_seed(seed, normalize_line_ends(text).as_bytes()),
    }
}

/// The hash of a cell below its title.
struct TitledHash {
    title: u64,
    /// 0 for a blank cell, so that the hash of a row does not depend on columns that were added.
    value: u64,
}

impl TitledHash {
    /// Returns the hash of the cell without its row. A blank cell is that of its column, because other cells of the row may be blank.
    fn alone(&self) -> u64 {
        if self.value == 0 { self.title } else { self.value }
    }
}

fn titled_hash((title, text): (&str, Cow<'_, str>)) -> TitledHash {
    let title = XxHash3_64::oneshot(title.trim().as_bytes());
    TitledHash { title, value: cell_hash(title, &text) }
}

/// What may release cells, as a hash of the template and as a seed.
struct Seal {
    template: u64,
    strictness: u64,
}

impl Seal {
    fn new(code: Code, judged: JudgedBy<'_>) -> Seal {
        // Whatever is right, the cells may be in the wrong places.
        if code.scope() == Scope::Reading {
            return Seal { template: 0, strictness: 0 };
        }
        let is_strict = judged.is_strict && code.asks().is_none();
        Seal { template: XxHash3_64::oneshot(judged.template_toml.as_bytes()), strictness: u64::from(is_strict) }
    }

    /// Combines the cells with what may release them.
    fn hash(&self, cells: u64) -> u32 {
        let parts = [self.template.to_le_bytes(), cells.to_le_bytes()].concat();
        // Half of the hash is enough to tell the cells of one row from another version of it.
        (XxHash3_64::oneshot_with_seed(self.strictness, &parts) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOSE: JudgedBy<'_> = JudgedBy { template_toml: "record = 'item'", is_strict: false };
    const STRICT: JudgedBy<'_> = JudgedBy { is_strict: true, ..LOOSE };
    const OTHER: JudgedBy<'_> = JudgedBy { template_toml: "record = 'order'", ..LOOSE };

    fn cells<'c>(texts: &[&'c str]) -> impl Iterator<Item = (&'c str, Cow<'c, str>)> {
        let texts: Vec<Cow<'c, str>> = texts.iter().map(|text| Cow::Borrowed(*text)).collect();
        ["SKU", "Name", "Price"].into_iter().zip(texts)
    }

    #[test]
    fn a_mark_holds_until_the_cells_that_count_change() {
        let before = ["RT-42", "Bolt", "5.50"];
        for (code, column, after, is_held) in [
            (Code::BrokenRow, Some(0), ["RT-42", "Bolt", "5.50"], true),
            (Code::BrokenRow, Some(0), ["RT-42", "Bolt", " 5.5"], true),
            (Code::BrokenRow, Some(0), ["RT-42", "Bolts", "5.50"], false),
            (Code::Selector, Some(1), ["RT-43", "Bolt", "6"], true),
            (Code::Selector, Some(1), ["RT-42", "Bolts", "5.50"], false),
        ] {
            let mark = HeldMark::new(code, LOOSE, column, cells(&before)).expect("a code of held rows");
            assert_eq!(mark.is_of(LOOSE, cells(&after)), is_held, "{code} {after:?}");
            assert_eq!(HeldMark::read(&format!("check {mark} later:words")).collect::<Vec<_>>(), [mark]);
        }
        assert_eq!(HeldMark::new(Code::Blank, LOOSE, Some(1), cells(&before)), None);
        let mark = HeldMark::new(Code::NoName, LOOSE, Some(1), cells(&["RT-42", "", ""])).expect("a code of held rows");
        assert!(mark.is_of(LOOSE, cells(&["RT-42", "", "6"])), "the name is still blank");
        assert!(!mark.is_of(LOOSE, cells(&["RT-42", "Bolt", ""])), "another cell is blank");
    }

    #[test]
    fn a_row_says_below_which_row_it_stood() {
        assert_eq!(BelowMark::read(&format!("check no-name:12 {} x", BelowMark(6))), Some(BelowMark(6)));
        assert_eq!(BelowMark::read("check no-name:12"), None);
    }

    #[test]
    fn another_template_and_less_strictness_release_what_they_decide() {
        let row = ["RT-42", "Bolt", "5.50"];
        let holds = |code, then, now| {
            HeldMark::new(code, then, Some(1), cells(&row)).is_some_and(|mark| mark.is_of(now, cells(&row)))
        };
        for (code, then, now, is_held) in [
            (Code::Selector, LOOSE, STRICT, true),
            (Code::Selector, STRICT, LOOSE, true),
            (Code::Selector, LOOSE, OTHER, false),
            (Code::BrokenRow, STRICT, OTHER, true),
            (Code::CopiedRows, LOOSE, STRICT, true),
            (Code::CopiedRows, STRICT, LOOSE, false),
        ] {
            assert_eq!(holds(code, then, now), is_held, "{code} {then:?} {now:?}");
        }
    }
}
