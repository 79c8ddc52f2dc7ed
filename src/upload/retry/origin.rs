//! Rows of a report that is handed back: what the report's own columns say of where each comes from, and what follows
//! from that and from the ledger. Pure.
//!
//! The ledger is the truth: what a report says of its rows' status counts for nothing, because people sort, filter and
//! fill columns. A row that does not say plainly where it comes from is a problem, never a guess.

use std::collections::HashMap;

use super::fingerprint::{CommonColumns, named};
use super::lost::{Lost, LostCells};
use crate::ledger::{KnownRow, Problem, RowState, RowStates, Run, RunId, Seq, SourceRow};
use crate::sheet::{Cell, RESERVED_PREFIX, Row};
use crate::template::bind::our_column;
use crate::upload::rows::{BEYOND_HEADER, STRAY_QUOTE};
use crate::upload::source::Part;

const RUN: &str = "run";
const ROW: &str = "row";
const SHEET: &str = "sheet";
/// The code of the problem that stays until a row's cells are changed.
const AS_IT_WAS: &str = "as-it-was";
/// Problems with how a row stood in its file. A report has it well written, so that only its cells can tell.
pub(super) const SUSPICIOUS: &[&str] = &[BEYOND_HEADER, STRAY_QUOTE, AS_IT_WAS];
const AS_NEW: &str = "empty its sheetport_run and sheetport_row to send it as a new row";

/// A report's run and what became of its rows.
#[derive(Debug)]
pub struct PastRun {
    run: RunId,
    token: String,
    /// The run read several sheets, so that a row's number alone does not name it.
    has_sheets: bool,
    /// The person had chosen rows, and the others stay left out.
    is_chosen: bool,
    pub(super) states: RowStates,
    /// A record that was accepted is sent again, with all of its rows, where one was added to it.
    sends_whole: bool,
    /// Of rows that are mapped again.
    lost: LostCells,
    /// By their places, the fingerprints of rows whose texts may be cut or whole, as they are with cut ones.
    cut: HashMap<usize, u32>,
    /// For each of the source's parts.
    columns: Vec<Columns>,
}

/// Where a sheet has our columns, and what tells its own from each other.
#[derive(Debug)]
struct Columns {
    run: Option<usize>,
    row: Option<usize>,
    sheet: Option<usize>,
    common: CommonColumns,
    /// Which column of the run each was.
    was: Vec<Option<usize>>,
}

/// What is known of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Past {
    /// The place of its sheet among the source's parts.
    pub part: usize,
    /// As the file at hand counts.
    pub row: u64,
    pub verdict: Verdict,
    /// Somebody added it to this report, or to an earlier one.
    pub is_added: bool,
    /// Its place among the run's rows.
    pub place: Option<usize>,
    /// The record that it was part of then, and how many rows that had.
    pub record: Option<(Seq, u32)>,
    /// Its cells say something else than then.
    pub is_edited: bool,
}

/// What follows for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was not in the run: somebody added it.
    New,
    /// It is mapped as it stands now.
    Open,
    /// It was accepted in that run, as that record, and is not sent.
    Kept(RunId, Seq),
    /// It was left out, and is again.
    LeftOut,
    /// Nobody knows whether it was accepted; that run says so.
    InDoubt(RunId),
    /// It is wrong as long as it is as it was.
    AsItWas,
    /// What it says of where it comes from can't be.
    Wrong,
}

/// Where a row says that it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Claim {
    New,
    Of { place: usize },
    Wrong { column: &'static str, value: String, message: String },
}

impl PastRun {
    /// For a report of `run` whose sheets are `parts`; they have the columns `common`, and `lost` is of the file's kind.
    pub(super) fn new(
        run: &Run,
        states: RowStates,
        sends_whole: bool,
        parts: &[Part],
        common: Vec<CommonColumns>,
        lost: Lost,
    ) -> PastRun {
        let header = named(&run.about.header);
        let columns = parts.iter().zip(common).map(|(part, common)| {
            let names = &part.layout.header.names;
            let column = |name| our_column(names, name);
            let was = named(names).iter().map(|name| header.iter().position(|other| other == name)).collect();
            Columns { run: column(RUN), row: column(ROW), sheet: column(SHEET), common, was }
        });
        PastRun {
            run: run.id,
            token: run.token(),
            has_sheets: run.about.reads_several_sheets(),
            is_chosen: run.about.chosen.is_some(),
            states,
            sends_whole,
            lost: LostCells::new(lost),
            cut: HashMap::new(),
            columns: columns.collect(),
        }
    }

    /// Takes in what a row of the run has in the ledger, if it is mapped again. `of_run` are the run's columns that the
    /// report has, too. False: there are too many of them.
    pub(super) fn take_lost(&mut self, row: &SourceRow, of_run: &CommonColumns, cells: &mut Row) -> bool {
        let place = self.states.find(&row.sheet, row.number);
        if let Some(place) = place.filter(|_| self.lost.may_be_cut(&row.cells)) {
            self.cut.insert(place, of_run.fingerprint_of_kept(&row.cells, Lost::Ends, cells));
        }
        let is_open = |place: &usize| {
            let state = self.states.row(*place).map(|row| row.state);
            match state {
                Some(RowState::Open | RowState::Skipped) => true,
                Some(RowState::Accepted(..)) => self.sends_whole,
                Some(RowState::Unknown(_)) | None => false,
            }
        };
        place.filter(is_open).is_none_or(|place| self.lost.take(place, &row.cells, cells))
    }

    /// Writes the row into `typed` with what the file lost of its cells. False: it is right as it is.
    pub(in crate::upload) fn restore(&self, part: usize, past: &Past, row: &Row, typed: &mut Row) -> bool {
        let (Some(columns), Some(place)) = (self.columns.get(part), past.place) else { return false };
        self.lost.restore(place, row, &columns.was, typed)
    }

    /// Whether the row says nothing of where it comes from.
    pub(in crate::upload) fn is_new(&self, part: usize, row: &Row) -> bool {
        let is_blank = |column: Option<usize>| column.is_none_or(|column| row.get(column).is_blank());
        self.columns.get(part).is_none_or(|columns| is_blank(columns.run) && is_blank(columns.row))
    }

    /// What is known of a row of the sheet `part`, and what is wrong with what it says.
    pub(in crate::upload) fn past(&self, part: usize, row: &Row) -> (Past, Option<Problem>) {
        let mut past = Past {
            part,
            row: row.number,
            verdict: Verdict::New,
            is_added: true,
            place: None,
            record: None,
            is_edited: false,
        };
        let Some(columns) = self.columns.get(part) else { return (past, None) };
        let cell = |column: Option<usize>| column.map_or(Cell::Blank, |column| row.get(column));
        match self.claim(cell(columns.run), cell(columns.row), cell(columns.sheet)) {
            Claim::New => (past, None),
            Claim::Of { place } => {
                let Some(known) = self.states.row(place) else { return (past, None) };
                past.place = Some(place);
                past.is_added = known.is_added;
                past.record = Some((known.record, known.rows_of_record));
                let fingerprint = columns.common.fingerprint_of_report(row);
                past.is_edited = fingerprint != known.fingerprint && self.cut.get(&place) != Some(&fingerprint);
                past.verdict = verdict(&known, past.is_edited, self.is_chosen);
                (past, None)
            }
            Claim::Wrong { column, value, message } => {
                past.verdict = Verdict::Wrong;
                let problem = Problem { value, ..of_origin(row.number, column, message) };
                (past, Some(problem))
            }
        }
    }

    fn claim(&self, run: Cell<'_>, row: Cell<'_>, sheet: Cell<'_>) -> Claim {
        let wrong =
            |column, cell: Cell<'_>, message| Claim::Wrong { column, value: cell.shown().into_owned(), message };
        if run.is_blank() && row.is_blank() {
            return Claim::New;
        }
        if run.shown().trim() != self.token {
            let message = format!("is not {}, as in the other rows", self.token);
            return wrong(RUN, run, message);
        }
        let sheet = if self.has_sheets { sheet.shown() } else { Default::default() };
        match number(row).and_then(|number| self.states.find(&sheet, number)) {
            Some(place) => Claim::Of { place },
            None if self.has_sheets => wrong(ROW, row, format!("is no row of the sheet '{sheet}' of run {}", self.run)),
            None => wrong(ROW, row, format!("is no row of run {}", self.run)),
        }
    }
}

fn verdict(known: &KnownRow<'_>, is_edited: bool, is_chosen: bool) -> Verdict {
    match known.state {
        RowState::Accepted(run, seq) => Verdict::Kept(run, seq),
        RowState::Unknown(run) => Verdict::InDoubt(run),
        RowState::Skipped if is_chosen || !is_edited => Verdict::LeftOut,
        RowState::Open if known.is_suspicious && !is_edited => Verdict::AsItWas,
        RowState::Skipped | RowState::Open => Verdict::Open,
    }
}

impl Past {
    /// The problem of a row that belongs to the record above and was taken away from it, where the record that it would
    /// now be of begins with the row `first`.
    pub(super) fn strayed(&self, first: &Past) -> Option<Problem> {
        let is_home = self.record.is_none() || self.record == first.record;
        (!is_home).then(|| Problem {
            row: Some(self.row),
            remedy: "write into it which record it belongs to, or sort the rows as they were".to_owned(),
            ..Problem::of_record("strayed", "belongs to the record above, and that is not the one of the first file")
        })
    }

    /// Why a row is not sent whatever its cells say; nothing where they decide.
    pub(super) fn problem(&self) -> Option<Problem> {
        match self.verdict {
            Verdict::InDoubt(run) => Some(Problem {
                row: Some(self.row),
                remedy: format!("look it up in the service, and say what you found: `sheetport resolve {run}`"),
                ..Problem::of_record("in-doubt", format!("may have been applied in run {run}, so it is not sent"))
            }),
            Verdict::AsItWas => Some(Problem {
                row: Some(self.row),
                remedy: format!("correct its cells; if they are right as they are, {AS_NEW}"),
                ..Problem::of_record(AS_IT_WAS, "its cells may have slipped in the first file, and are as they were")
            }),
            _ => None,
        }
    }
}

/// The problem of a row that says that it is the same as another one.
pub(super) fn copied(row: u64, number: u64) -> Problem {
    let problem = of_origin(row, ROW, "is the number of another row here, too: this one is a copy".to_owned());
    Problem { value: number.to_string(), ..problem }
}

fn of_origin(row: u64, column: &str, message: String) -> Problem {
    Problem {
        row: Some(row),
        field: format!("{RESERVED_PREFIX}{column}"),
        remedy: AS_NEW.to_owned(),
        ..Problem::of_record("origin", message)
    }
}

/// A row's number, which a workbook has as a number and a text as digits.
fn number(cell: Cell<'_>) -> Option<u64> {
    cell.shown().trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, prop_assert_eq, prop_oneof, proptest};

    use super::*;

    const TOKEN: &str = "12-bcdfgh";

    fn past_run(has_sheets: bool) -> PastRun {
        let rows = [("", 2), ("", 5), ("North", 2), ("South", 2), ("South", 3)];
        PastRun {
            run: 12,
            token: TOKEN.to_owned(),
            has_sheets,
            is_chosen: false,
            states: RowStates::of(&rows.map(|(sheet, number)| (sheet, number, RowState::Open))),
            sends_whole: false,
            lost: LostCells::default(),
            cut: HashMap::new(),
            columns: Vec::new(),
        }
    }

    fn known(state: RowState, is_suspicious: bool) -> KnownRow<'static> {
        KnownRow {
            number: 2,
            sheet: "",
            state,
            is_added: false,
            record: 0,
            rows_of_record: 1,
            fingerprint: 0,
            is_suspicious,
        }
    }

    #[test]
    fn what_was_accepted_or_is_in_doubt_is_never_open() {
        for (is_edited, is_chosen, is_suspicious) in (0..8).map(|bits| (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0)) {
            let of = |state| verdict(&known(state, is_suspicious), is_edited, is_chosen);
            assert_eq!(of(RowState::Accepted(3, 7)), Verdict::Kept(3, 7));
            assert_eq!(of(RowState::Unknown(3)), Verdict::InDoubt(3));
            let left_out = if is_edited && !is_chosen { Verdict::Open } else { Verdict::LeftOut };
            assert_eq!(of(RowState::Skipped), left_out);
            let open = if is_suspicious && !is_edited { Verdict::AsItWas } else { Verdict::Open };
            assert_eq!(of(RowState::Open), open);
        }
    }

    #[test]
    fn a_workbook_says_the_number_as_a_number() {
        let past_run = past_run(false);
        let place = past_run.states.find("", 5).expect("row 5");
        for row in [Cell::Number(5.0), Cell::Text(" 5 ")] {
            assert_eq!(past_run.claim(Cell::Text(" 12-bcdfgh "), row, Cell::Blank), Claim::Of { place });
        }
        for row in [Cell::Number(5.5), Cell::Number(-5.0), Cell::Boolean(true), Cell::Blank, Cell::Text("5.0")] {
            assert!(
                matches!(past_run.claim(Cell::Text(TOKEN), row, Cell::Blank), Claim::Wrong { column: ROW, .. }),
                "{row:?}"
            );
        }
    }

    fn texts() -> impl Strategy<Value = (String, String, String)> {
        let run = prop_oneof![Just(TOKEN.to_owned()), Just(String::new()), "[0-9]{0,3}-?[a-z]{0,6}", "\\PC{0,12}"];
        let row = prop_oneof!["[0-9]{0,2}", Just("2".to_owned()), "\\PC{0,5}"];
        let sheet = prop_oneof![Just("North".to_owned()), Just("South".to_owned()), "\\PC{0,5}"];
        (run, row, sheet)
    }

    proptest! {
        /// Only the run's own token together with a row that it has says where a row is from; only nothing says nothing.
        #[test]
        fn a_row_comes_from_where_it_plainly_says_or_it_is_wrong((run, row, sheet) in texts(), has_sheets: bool) {
            let past_run = past_run(has_sheets);
            let cell = |text| Cell::Text(text);
            let claim = past_run.claim(cell(&run), cell(&row), cell(&sheet));
            let of = if has_sheets { sheet.as_str() } else { "" };
            let place = row.trim().parse().ok().and_then(|number| past_run.states.find(of, number));
            let is_new = run.trim().is_empty() && row.trim().is_empty();
            match (is_new, place.filter(|_| run.trim() == TOKEN)) {
                (true, _) => prop_assert_eq!(claim, Claim::New),
                (false, Some(place)) => prop_assert_eq!(claim, Claim::Of { place }),
                (false, None) => prop_assert_eq!(matches!(claim, Claim::Wrong { .. }), true),
            }
        }
    }
}
