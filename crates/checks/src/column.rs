//! What is known about one column, for a person who asks why its values are judged as they are.

use std::collections::BTreeMap;

use sheetport_sheet::Row;

use super::Evidence;
use super::features::{Runs, Shape};
use super::finding::Finding;

/// Maximum number of shapes that are told apart. A column with more has no regular shape.
const MAX_SHAPES: usize = 64;
/// Findings that are kept. More are counted.
const MAX_FINDINGS: usize = 20;

/// Collects what is known about a column, in a second pass over the rows that gave the evidence.
pub struct ColumnSurvey<'e> {
    evidence: &'e Evidence,
    column: usize,
    /// By the place of the relation.
    calculations: BTreeMap<usize, ColumnCalculation>,
    shape: Shape,
    forms: Vec<(Runs, ColumnShape)>,
    known: ColumnProfile,
}

/// What is known about a column.
#[derive(Clone, Debug, Default)]
pub struct ColumnProfile {
    pub filled: u64,
    pub blank: u64,
    /// The commonest first.
    pub shapes: Vec<ColumnShape>,
    /// Cells with further shapes.
    pub other_shapes: u64,
    pub calculations: Vec<ColumnCalculation>,
    /// What is unlike the other rows, each with its row: the first ones.
    pub findings: Vec<(u64, Finding)>,
    pub finding_count: u64,
}

/// Cells that are alike in the order of letters, digits and signs.
#[derive(Clone, Debug)]
pub struct ColumnShape {
    /// Such as `A-9` for `SKU-101`: a letter for letters, a 9 for digits.
    pub shape: String,
    pub cells: u64,
    /// The first of them, and its row.
    pub example: String,
    pub row: u64,
}

/// A calculation in which the column takes part.
#[derive(Clone, Debug, Default)]
pub struct ColumnCalculation {
    /// The calculation of the first row in which it holds, such as `2 × 5.00 = 10.00`.
    pub example: String,
    pub row: u64,
    /// The rows that have its numbers.
    pub rows: u64,
    pub holds: u64,
}

impl<'e> ColumnSurvey<'e> {
    pub fn new(evidence: &'e Evidence, column: usize) -> ColumnSurvey<'e> {
        ColumnSurvey {
            evidence,
            column,
            calculations: BTreeMap::new(),
            shape: Shape::default(),
            forms: Vec::new(),
            known: ColumnProfile::default(),
        }
    }

    pub fn row(&mut self, row: &Row) {
        let cell = row.get(self.column);
        let text = cell.shown();
        let text = text.trim();
        if text.is_empty() {
            self.known.blank += 1;
        } else {
            self.known.filled += 1;
            self.add_shape(text, row.number);
        }
        let mut found = Vec::new();
        self.evidence.judge(row, &mut found);
        for finding in found.into_iter().filter(|finding| finding.column == self.column) {
            self.known.finding_count += 1;
            if self.known.findings.len() < MAX_FINDINGS {
                self.known.findings.push((row.number, finding));
            }
        }
        for (place, does_hold, shown) in self.evidence.calculations.tried(self.column, row) {
            let known = self.calculations.entry(place).or_default();
            known.rows += 1;
            if does_hold {
                if known.holds == 0 {
                    (known.row, known.example) = (row.number, shown);
                }
                known.holds += 1;
            }
        }
    }

    fn add_shape(&mut self, text: &str, row: u64) {
        self.shape.set(text);
        let runs = self.shape.runs.as_slice();
        if let Some((_, known)) = self.forms.iter_mut().find(|(known, _)| known.as_ref() == runs) {
            known.cells += 1;
        } else if self.forms.len() < MAX_SHAPES {
            let letter = |run: &u8| if *run == b'L' { 'A' } else { char::from(*run) };
            let shape = runs.iter().map(letter).collect();
            self.forms.push((runs.into(), ColumnShape { shape, cells: 1, example: text.to_owned(), row }));
        } else {
            self.known.other_shapes += 1;
        }
    }

    pub fn finish(self) -> ColumnProfile {
        let mut shapes: Vec<ColumnShape> = self.forms.into_iter().map(|(_, shape)| shape).collect();
        // Of equal counts, the first.
        shapes.sort_by_key(|shape| std::cmp::Reverse(shape.cells));
        let calculations = self.calculations.into_values().filter(|calculation| calculation.holds > 0);
        ColumnProfile { shapes, calculations: calculations.collect(), ..self.known }
    }
}
