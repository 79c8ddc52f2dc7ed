//! Evidence about the values of a sheet that needs no list of cases: what is regular in all rows, and which rows break it.
//!
//! A [`Survey`] sees the rows in order and keeps bounded counts. Its [`Evidence`] then judges each row. Evidence from the first rows may
//! differ from that of the whole sheet; the sheet is then read again, as for the notation of numbers.
//!
//! Pure. This crate knows cells, headers and the fields that a template maps, but no records, no ledger and no service.
//!
//! | file or folder | evidence |
//! |---|---|
//! | `agreement.rs` | columns that always have the same values beside each other |
//! | `dependence.rs` | columns of few values of which one decides another |
//! | `arithmetic/` | columns as the product, the sum or the percentage of others, or in proportion to them; rates in two notations; sizes |
//! | `shape.rs`, `features.rs` | the form of identifiers and names |
//! | `blank_below.rs` | names, dates and currencies on the first of several rows only |
//! | `selectors.rs`, `words.toml` | columns with orders about the row, such as *DELETE* |
//! | `full.rs` | blank cells and zeros in columns of prices and quantities that all other rows fill |
//! | `dates.rs`, `prices.rs` | implausible dates and prices |
//! | `misspelt.rs` | words with a letter too many, missing or wrong |
//! | `sequence.rs` | rows out of order: dates, consecutive numbers, rows of a record |
//! | `sample.rs` | the first rows, for what their order tells |
//! | `repeats.rs` | values that are there already, where all others differ |
//! | `runs.rs` | numbers that were dragged, sorted alone or left in cents |
//! | `shifted.rs` | cells that belong to the row above or below |
//! | `periods.rs` | two dates of a row in the wrong order |
//! | `balance.rs` | units that contradict a running balance |
//! | `sparse.rs` | rows that lack what all others have |
//! | `twice.rs` | rows that were entered twice |
//! | `whole_records.rs` | the total, the number of lines and the positions of a record's rows |
//! | `column.rs` | what is known about one column, for people |
//! | `hashed.rs` | maps by hashes of texts |
//! | `roles.rs` | the meaning of evidence about each column: begin here |
//! | `finding.rs` | a finding in a row, and the rows that others contradict |

mod agreement;
mod arithmetic;
mod balance;
mod blank_below;
mod column;
mod dates;
mod dependence;
mod features;
mod finding;
mod full;
mod hashed;
mod misspelt;
mod periods;
mod prices;
mod repeats;
mod roles;
mod runs;
mod sample;
mod selectors;
mod sequence;
mod shape;
mod shifted;
mod sparse;
#[cfg(test)]
mod testing;
mod twice;
mod whole_records;
mod words;

pub use column::{ColumnCalculation, ColumnProfile, ColumnShape, ColumnSurvey};
pub use dates::{expired, implausible_date};
pub use finding::Finding;
pub use words::is_selector;

use sheetport_mapping::{Layout, Template};
use sheetport_sheet::{Cell, Row, english_state};

use self::agreement::Agreement;
use self::arithmetic::{Calculations, Reservoir};
use self::blank_below::{BlankBelow, BlankCounts};
use self::dates::{FarMonths, MonthCounts};
use self::dependence::Dependence;
use self::finding::OddRows;
use self::full::{Full, FullCounts};
use self::misspelt::{Misspelt, WordCounts};
use self::roles::Roles;
use self::sample::Sample;
use self::selectors::{Selector, SelectorCounts};
use self::sequence::Sequences;
use self::shape::{Form, FormCounts};
use self::sparse::{Sparse, SparseCounts};
use self::whole_records::{OddRecord, RecordCounts};

/// Collects evidence from the rows of a sheet.
#[derive(Clone, Debug)]
pub struct Survey {
    roles: Roles,
    /// One per column with a form.
    forms: Vec<FormCounts>,
    /// One per column that each row should fill.
    blanks: Vec<BlankCounts>,
    /// One per column that may give orders.
    selectors: Vec<SelectorCounts>,
    reservoir: Reservoir,
    /// One per column of dates.
    months: Vec<MonthCounts>,
    /// One per column of words.
    words: Vec<WordCounts>,
    sequences: Sequences,
    sample: Sample,
    sparse: SparseCounts,
    records: RecordCounts,
    /// One per column of prices and quantities.
    full: Vec<FullCounts>,
    rows: u64,
    /// Rows of a report that have a problem, or whose status is not known.
    faulty: u64,
}

/// What is regular in a sheet. Equal evidence judges all rows in the same way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    roles: Roles,
    forms: Vec<Form>,
    blank_below: Vec<BlankBelow>,
    selectors: Vec<Selector>,
    calculations: Calculations,
    far_months: Vec<FarMonths>,
    misspelt: Vec<Misspelt>,
    /// Rows that are odd beside the rows above and below.
    odd_rows: Vec<OddRows>,
    sparse: Option<Sparse>,
    agreements: Vec<Agreement>,
    dependences: Vec<Dependence>,
    odd_records: Vec<OddRecord>,
    full: Vec<Full>,
}

impl Survey {
    pub fn new(template: &Template, layout: &Layout) -> Survey {
        let roles = Roles::of(template, layout);
        Survey {
            forms: roles.formed.iter().map(|formed| FormCounts::new(formed.kind)).collect(),
            blanks: roles.leading.iter().map(|(column, field)| BlankCounts::new(*column, field)).collect(),
            selectors: roles.ordering.iter().map(|_| SelectorCounts::default()).collect(),
            reservoir: Reservoir::new(&roles),
            months: roles.dates.iter().map(|(column, field)| MonthCounts::new(*column, field)).collect(),
            sequences: Sequences::new(&roles),
            sample: Sample::new(&roles),
            sparse: SparseCounts::new(&roles),
            records: RecordCounts::new(&roles),
            words: roles.words.iter().map(|(column, field)| WordCounts::new(*column, field)).collect(),
            full: FullCounts::of(&roles),
            roles,
            rows: 0,
            faulty: 0,
        }
    }

    pub fn row(&mut self, row: &Row) {
        if !self.roles.are_judged {
            return;
        }
        self.rows += 1;
        self.faulty += u64::from(self.roles.status.is_some_and(|status| is_faulty(&row.get(status))));
        for (formed, counts) in self.roles.formed.iter().zip(&mut self.forms) {
            counts.add(&row.get(formed.column));
        }
        self.blanks.iter_mut().for_each(|counts| counts.row(&self.roles, row));
        for (column, counts) in self.roles.ordering.iter().zip(&mut self.selectors) {
            counts.add(&row.get(*column));
        }
        self.reservoir.row(row);
        self.months.iter_mut().for_each(|counts| counts.row(row));
        self.words.iter_mut().for_each(|counts| counts.row(row));
        self.sequences.row(&self.roles, row);
        self.sample.row(&self.roles, row);
        self.sparse.row(row);
        self.records.row(&self.roles, row);
        self.full.iter_mut().for_each(|counts| counts.row(row));
    }

    /// Ends the rows of an earlier sheet, of which the next rows are a report, with other numbers.
    pub fn end_earlier_sheet(&mut self) {
        self.blanks.iter_mut().for_each(BlankCounts::begin_anywhere);
    }

    /// Returns the evidence of the rows so far.
    pub fn evidence(&mut self) -> Evidence {
        // What is regular is not to be seen in a report of problems alone.
        if !self.roles.are_judged || self.faulty * 2 > self.rows {
            return Evidence::default();
        }
        let calculations = self.reservoir.calculations(&self.roles);
        let columns = self.roles.ordering.iter().zip(&self.selectors);
        let formed = self.roles.formed.iter().zip(&self.forms);
        Evidence {
            forms: formed.map(|(formed, counts)| counts.form(formed.is_of_row)).collect(),
            blank_below: self.blanks.iter().filter_map(BlankCounts::below).collect(),
            selectors: columns
                .filter_map(|(column, counts)| counts.selector(*column, &self.roles, self.rows))
                .collect(),
            calculations,
            far_months: self.months.iter().filter_map(MonthCounts::far).collect(),
            misspelt: self.words.iter().filter_map(WordCounts::misspelt).collect(),
            odd_rows: self.odd_rows(),
            sparse: self.sparse.sparse(&self.roles),
            agreements: agreement::agreements(&self.roles, &self.sample),
            dependences: dependence::dependences(&self.roles, &self.sample),
            odd_records: self.records.odd(&self.roles),
            full: self.full.iter().filter_map(FullCounts::full).collect(),
            roles: self.roles.clone(),
        }
    }

    fn odd_rows(&self) -> Vec<OddRows> {
        let mut odd = self.sequences.out_of_order(&self.roles);
        odd.extend(shifted::shifted(&self.roles, &self.sample));
        odd.extend(shifted::shifted_prices(&self.roles, &self.sample));
        odd.extend(balance::balance(&self.roles, &self.sample));
        odd.extend(twice::twice(&self.roles, &self.sample));
        odd.extend(periods::periods(&self.roles, &self.sample));
        odd.extend(repeats::repeats(&self.roles, &self.sample));
        odd.extend(runs::runs(&self.roles, &self.sample));
        odd
    }
}

/// Whether a row of a report with this status was not accepted, nor is to be sent.
fn is_faulty(status: &Cell<'_>) -> bool {
    let state = if let Cell::Text(text) = status { english_state(text) } else { None };
    !matches!(state, Some("pending" | "sent" | "skipped" | "unchanged"))
}

impl Evidence {
    /// Adds what is wrong in a row that is taken for a record.
    pub fn judge(&self, row: &Row, found: &mut Vec<Finding>) {
        if !self.roles.are_judged {
            return;
        }
        for (formed, form) in self.roles.formed.iter().zip(&self.forms) {
            found.extend(form.judge(formed.column, formed.field, &row.get(formed.column)));
        }
        found.extend(self.blank_below.iter().filter_map(|below| below.judge(&self.roles, row)));
        found.extend(self.selectors.iter().filter_map(|selector| selector.judge(&self.roles, row)));
        self.calculations.judge(&self.roles, row, found);
        found.extend(self.far_months.iter().filter_map(|far| far.judge(row)));
        let odd_rows = self.odd_rows.iter().filter_map(|odd| odd.judge(row));
        let sparse = self.sparse.iter().filter_map(|sparse| sparse.judge(row));
        let agreement = self.agreements.iter().find_map(|agreement| agreement.judge(row));
        let dependence = self.dependences.iter().find_map(|dependence| dependence.judge(row));
        let odd_record = self.odd_records.iter().find_map(|record| record.judge(row));
        let blank = self.full.iter().filter_map(|full| full.judge(row));
        // What is odd about a cell by itself says more.
        for finding in odd_rows.chain(sparse).chain(agreement).chain(dependence).chain(odd_record).chain(blank) {
            if !found.iter().any(|known| known.column == finding.column) {
                found.push(finding);
            }
        }
        found.extend(self.misspelt.iter().filter_map(|misspelt| misspelt.judge(row)));
        found.extend(prices::negative(&self.roles, row));
    }
}
