//! The lines of a row: a single line, or several in numbered columns such as `Item 1` and `Item 2`.

use std::borrow::Cow;
use std::collections::HashMap;

use sheetport_sheet::{Cell, Row, column_letters};
use sheetport_values::budget::Budget;
use sheetport_values::decimal;

use super::super::bind::Columns;
use super::super::model::{FieldRule, Source};
use super::super::problem::{Cause, Problem, excerpt};
use super::convert::Written;
use super::gathered::{Gathered, UniqueInLines};
use super::json::{self, unquoted};
use super::mapper::Mapper;
use super::memo::Memo;

impl Mapper<'_> {
    /// Adds the lines of a row. A line without a value is left out.
    pub(super) fn map_lines(&self, (row, budget): (&Row, &Budget), gathered: &mut Gathered, memo: &mut Option<Memo>) {
        let numbered = &self.layout().numbered_lines;
        let unpivot = self.template().unpivot.as_ref();
        let is_left_out = |cell: Cell<'_>| unpivot.map_or(cell.is_blank(), |unpivot| unpivot.skips(&cell));
        let is_filled = |own: &[usize]| own.iter().any(|column| !is_left_out(self.cell(row, *column)));
        let mut has_lines = false;
        for line in numbered.iter().filter(|line| is_filled(&line.own)) {
            let mut problems = Vec::new();
            let input = (row, budget, &mut *memo);
            let has_values = self.map_line(input, &line.columns, Some(&line.own), gathered, &mut problems);
            if has_values {
                gathered.problems.append(&mut problems);
                self.check_line_rules(gathered, &line.columns, budget);
                has_lines = true;
            }
            gathered.end_line(has_values);
        }
        // All cells of an unpivoted row may be left out.
        if has_lines || unpivot.is_some() && !numbered.is_empty() {
            return;
        }
        let columns = &self.layout().columns[self.template().fields.len()..];
        let own = numbered.first().map(|line| line.own.as_slice());
        let mut problems = Vec::new();
        let has_values = self.map_line((row, budget, memo), columns, own, gathered, &mut problems);
        // A row of a group without any value of a line has no line.
        if has_values || self.layout().group.is_empty() {
            gathered.problems.append(&mut problems);
        }
        if has_values {
            self.check_line_rules(gathered, columns, budget);
        }
        gathered.end_line(has_values);
    }

    /// Maps the values of one line. Returns whether the line has any values besides constants and columns shared by all lines of
    /// the row. `own` are the columns that are not shared, if there are several lines. `problems` receives the problems of blank
    /// cells.
    fn map_line(
        &self,
        (row, budget, memo): (&Row, &Budget, &mut Option<Memo>),
        columns: &[Columns],
        own: Option<&[usize]>,
        gathered: &mut Gathered,
        problems: &mut Vec<Problem>,
    ) -> bool {
        let first = self.template().fields.len();
        let is_filled = |column: &usize| !self.cell(row, *column).is_blank();
        let is_own = |rule: &FieldRule, columns: &Columns| match own {
            Some(own) => columns.iter().filter(|column| own.contains(column)).any(|column| is_filled(&column)),
            None => !matches!(rule.source, Source::Constant(_)),
        };
        let needed = self.template().record.input().needs_one_of;
        let (mut has_values, mut is_named) = (false, needed.is_empty());
        for (nth, (rule, columns)) in self.template().lines.iter().zip(columns).enumerate() {
            let index = first + nth;
            let start = gathered.values.len();
            let names = needed.contains(&rule.field.name);
            match self.write_value(index, columns, (row, budget, memo.as_mut()), &mut gathered.values) {
                Ok(Written::Value { currency, doubt }) => {
                    is_named |= names && text_of(&gathered.values[start..]).is_some();
                    has_values |= is_own(rule, columns);
                    if rule.checks.is_unique {
                        let value = text_of(&gathered.values[start..]);
                        let column = columns.first();
                        gathered.unique.extend(value.map(|value| UniqueInLines {
                            rule: index,
                            value,
                            column,
                            row: row.number,
                        }));
                    }
                    gathered.push_line_value(rule.field.name, start);
                    self.push_money(gathered, currency, index, columns, row.number);
                    self.warn_of_number(gathered, doubt, (rule, columns), row);
                    gathered.problems.extend(self.price_of_several(rule, columns, row));
                    gathered.problems.extend(self.other_value(index, columns, row));
                }
                Ok(Written::Blank) => {
                    problems.extend(self.only_other_value(index, columns, row));
                    match self.write_replacement(rule, &mut gathered.values) {
                        Ok(true) => {
                            is_named |= names && text_of(&gathered.values[start..]).is_some();
                            gathered.push_line_value(rule.field.name, start);
                        }
                        Ok(false) => {}
                        Err(cause) => problems.push(self.problem(rule, columns, row, cause)),
                    }
                }
                Err(Cause::TooMuch(_)) if gathered.problems.iter().any(Problem::is_too_much) => {
                    gathered.values.truncate(start)
                }
                Err(cause) => {
                    gathered.values.truncate(start);
                    is_named |= names;
                    has_values |= is_own(rule, columns);
                    gathered.problems.push(self.problem(rule, columns, row, cause));
                }
            }
        }
        if has_values && !is_named {
            match self.unnamed_line(columns, row) {
                Some((problem, true)) => gathered.warnings.push(problem),
                Some((problem, false)) => gathered.problems.push(problem),
                None => {}
            }
        }
        has_values
    }

    /// Returns a problem about a line if all fields that identify its subject are blank, and whether the sheet has a column for one of
    /// them. Without one, all lines would be about nothing.
    fn unnamed_line(&self, columns: &[Columns], row: &Row) -> Option<(Problem, bool)> {
        let input = self.template().record.input();
        let fields = input.needs_one_of;
        let what = input.needed_reference()?;
        let rules = self.template().lines.iter().zip(columns);
        let named = rules
            .filter(|(rule, _)| fields.contains(&rule.field.name))
            .max_by_key(|(_, columns)| columns.first().is_some());
        let has_column = named.is_some_and(|(_, columns)| columns.first().is_some());
        let cause = Cause::NothingNamed { what, fields, has_column };
        let problem = match named {
            Some((rule, columns)) => {
                self.problem_at(row.number, columns.first(), rule.field.name, String::new(), cause)
            }
            None => self.problem_at(row.number, None, fields.first()?, String::new(), cause),
        };
        Some((problem, has_column))
    }

    /// Adds a problem for each value that must be unique and also occurs in an earlier line of the record.
    pub(super) fn check_unique_lines(&self, gathered: &Gathered, problems: &mut Vec<Problem>) {
        let mut seen: HashMap<(usize, Cow<'_, str>), &UniqueInLines> = HashMap::new();
        for value in &gathered.unique {
            let (rule, _) = self.rule(value.rule);
            let number = if rule.field.json.is_number() { decimal::canonical(&value.value) } else { None };
            let compared = number.map_or(Cow::Borrowed(value.value.as_str()), Cow::Owned);
            let Some(earlier) = seen.insert((value.rule, compared), value) else { continue };
            let other = match earlier.column.filter(|_| earlier.row == value.row) {
                Some(column) => format!("column {}", column_letters(column)),
                None => format!("row {}", earlier.row),
            };
            let cause = Cause::RepeatedInLines { other };
            problems.push(self.problem_at(value.row, value.column, rule.field.name, excerpt(&value.value), cause));
        }
    }
}

/// Returns the JSON of a value as text, or `None` for null and empty values.
fn text_of(json: &str) -> Option<String> {
    (!json::is_empty(json)).then(|| unquoted(json).into_owned())
}
