//! Evidence about the values of a sheet that needs no list of cases: what is regular in all rows, and which rows break it.
//!
//! A [`Survey`] sees the rows in order and keeps bounded counts. Its [`Evidence`] then judges each row. Evidence from the first rows may
//! differ from that of the whole sheet; the sheet is then read again, as for the notation of numbers.
//!
//! Pure. This crate knows cells, headers and the fields that a template maps, but no records, no ledger and no service.
//!
//! | file or folder | evidence |
//! |---|---|
//! | `arithmetic/` | columns as the product, the sum or the percentage of others; rates in two notations |
//! | `shape.rs`, `features.rs` | the form of identifiers and names |
//! | `blank_names.rs` | names on the first of several rows only |
//! | `selectors.rs`, `words.toml` | columns with orders about the row, such as *DELETE* |
//! | `dates.rs`, `prices.rs` | implausible dates and prices |
//! | `column.rs` | what is known about one column, for people |
//! | `roles.rs` | the meaning of evidence about each column: begin here |
//! | `finding.rs` | a finding in a row |

mod arithmetic;
mod blank_names;
mod column;
mod dates;
mod features;
mod finding;
mod prices;
mod roles;
mod selectors;
mod shape;
mod words;

pub use column::{ColumnCalculation, ColumnProfile, ColumnShape, ColumnSurvey};
pub use dates::implausible_date;
pub use finding::Finding;

use sheetport_mapping::{Layout, Template};
use sheetport_sheet::{Cell, Row, english_state};

use self::arithmetic::{Calculations, Reservoir};
use self::blank_names::NameCounts;
use self::roles::Roles;
use self::selectors::{Selector, SelectorCounts};
use self::shape::{Form, FormCounts};

/// Collects evidence from the rows of a sheet.
#[derive(Clone, Debug)]
pub struct Survey {
    roles: Roles,
    /// One per column with a form.
    forms: Vec<FormCounts>,
    names: NameCounts,
    /// One per unmapped column.
    selectors: Vec<SelectorCounts>,
    reservoir: Reservoir,
    rows: u64,
    /// Rows of a report that have a problem, or whose status is not known.
    faulty: u64,
}

/// What is regular in a sheet. Equal evidence judges all rows in the same way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    roles: Roles,
    forms: Vec<Form>,
    /// The first row with a name, if names are only on the first of several rows.
    first_named: Option<u64>,
    selectors: Vec<Selector>,
    calculations: Calculations,
}

impl Survey {
    pub fn new(template: &Template, layout: &Layout) -> Survey {
        let roles = Roles::of(template, layout);
        Survey {
            forms: roles.formed.iter().map(|formed| FormCounts::new(formed.kind)).collect(),
            names: NameCounts::default(),
            selectors: roles.unmapped.iter().map(|_| SelectorCounts::default()).collect(),
            reservoir: Reservoir::new(&roles),
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
        self.names.row(&self.roles, row);
        for (column, counts) in self.roles.unmapped.iter().zip(&mut self.selectors) {
            counts.add(&row.get(*column));
        }
        self.reservoir.row(row);
    }

    /// Ends the rows of an earlier sheet, of which the next rows are a report, with other numbers.
    pub fn end_earlier_sheet(&mut self) {
        self.names.begin_anywhere();
    }

    /// Returns the evidence of the rows so far.
    pub fn evidence(&mut self) -> Evidence {
        // What is regular is not to be seen in a report of problems alone.
        if !self.roles.are_judged || self.faulty * 2 > self.rows {
            return Evidence::default();
        }
        let calculations = self.reservoir.calculations(&self.roles);
        let columns = self.roles.unmapped.iter().zip(&self.selectors);
        let formed = self.roles.formed.iter().zip(&self.forms);
        Evidence {
            forms: formed.map(|(formed, counts)| counts.form(formed.is_of_row)).collect(),
            first_named: self.names.first_named(),
            selectors: columns
                .filter_map(|(column, counts)| counts.selector(*column, self.roles.name_of(*column), self.rows))
                .collect(),
            calculations,
            roles: self.roles.clone(),
        }
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
        if let Some(first) = self.first_named {
            found.extend(blank_names::judge(&self.roles, first, row));
        }
        found.extend(self.selectors.iter().filter_map(|selector| selector.judge(&self.roles, row)));
        self.calculations.judge(&self.roles, row, found);
        found.extend(prices::negative(&self.roles, row));
    }
}
