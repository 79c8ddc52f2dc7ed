//! What one or several rows give to a record: values as JSON, each with its rule and row.

use sheetport_values::currency::CurrencyMark;

use super::super::model::{Severity, Template};
use super::super::problem::{Problem, excerpt};
use super::json::{self, unquoted};

/// The values and problems of a record from one or several rows.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// Row numbers.
    pub rows: Vec<u64>,
    pub problems: Vec<Problem>,
    /// Warnings about the record. They do not hold the record back.
    pub warnings: Vec<Problem>,
    /// The values, concatenated.
    pub(super) values: String,
    /// Places of the values, ordered by rule.
    fields: Vec<Piece>,
    /// The lines as JSON objects, separated by commas.
    pub(super) lines: String,
    /// The current line, without its closing brace.
    line: String,
    /// The currencies beside amounts, each once.
    pub(super) money: Vec<Money>,
    /// Values that must be unique among the lines of the record.
    pub(super) unique: Vec<UniqueInLines>,
    /// The text of the cell that groups the rows, if it has surrounding white space.
    pub(super) padded_group: Option<String>,
}

/// A currency beside an amount.
#[derive(Clone, Copy, Debug)]
pub(super) struct Money {
    pub(super) mark: CurrencyMark,
    pub(super) rule: usize,
    pub(super) column: Option<usize>,
    pub(super) row: u64,
}

/// A value that must be unique among the lines of the record.
#[derive(Clone, Debug)]
pub(super) struct UniqueInLines {
    pub(super) rule: usize,
    pub(super) value: String,
    pub(super) column: Option<usize>,
    pub(super) row: u64,
}

/// The value of a rule.
#[derive(Clone, Copy, Debug)]
struct Piece {
    rule: u32,
    /// Byte range in the values. `None` if the value has a problem.
    place: Option<(u32, u32)>,
    row: u64,
}

/// The value of a rule, as JSON.
pub(super) enum FieldValue<'a> {
    Present(&'a str),
    Invalid,
    Absent,
}

/// Two rows with different values for the same field.
pub(super) struct Conflict {
    pub(super) rule: usize,
    pub(super) row: u64,
    pub(super) value: String,
    pub(super) other_row: u64,
    pub(super) other: String,
}

impl Gathered {
    /// Clears everything for the next row, keeping the buffers.
    pub fn begin(&mut self, number: u64) {
        self.rows.clear();
        self.rows.push(number);
        self.problems.clear();
        self.warnings.clear();
        self.values.clear();
        self.fields.clear();
        self.lines.clear();
        self.line.clear();
        self.money.clear();
        self.unique.clear();
        self.padded_group = None;
    }

    pub fn first_row(&self) -> u64 {
        *self.rows.first().expect("a record has a row")
    }

    /// Returns the approximate memory in bytes.
    pub fn len(&self) -> usize {
        self.len_from(0)
    }

    /// Returns the approximate memory in bytes without the first `problem` problems.
    pub fn len_from(&self, problem: usize) -> usize {
        let problems = self.problems.iter().skip(problem).chain(&self.warnings);
        let problems: usize = problems.map(Problem::size).sum();
        let unique: usize = self.unique.iter().map(|unique| unique.value.len() + size_of::<UniqueInLines>()).sum();
        self.values.len() + self.lines.len() + self.fields.len() * 24 + self.rows.len() * 8 + problems + unique
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the lines as JSON, separated by commas.
    pub fn lines_json(&self) -> &str {
        &self.lines
    }

    /// Adds lines, as JSON with commas between them.
    pub fn add_lines(&mut self, lines: &str) {
        if !self.lines.is_empty() {
            self.lines.push(',');
        }
        self.lines.push_str(lines);
    }

    /// Returns the number of lines.
    pub fn line_count(&self) -> u64 {
        self.visit_lines(&mut |_, _| {})
    }

    /// Assigns the values from `start` to a rule.
    pub(super) fn push_value(&mut self, rule: usize, start: usize, row: u64) {
        self.fields.push(Piece { rule: narrow(rule), place: Some((narrow(start), narrow(self.values.len()))), row });
    }

    pub(super) fn push_invalid(&mut self, rule: usize, row: u64) {
        self.fields.push(Piece { rule: narrow(rule), place: None, row });
    }

    /// Moves the values from `start` into the current line.
    pub(super) fn push_line_value(&mut self, name: &str, start: usize) {
        if self.line.is_empty() {
            self.line.push('{');
        }
        json::key(&mut self.line, name);
        self.line.push_str(&self.values[start..]);
        self.values.truncate(start);
    }

    /// Adds the currency of an amount, unless already known.
    pub(super) fn push_money(&mut self, new: Money) {
        if !self.money.iter().any(|money| money.mark == new.mark) {
            self.money.push(new);
        }
    }

    /// Ends the current line, or drops a line without values.
    pub(super) fn end_line(&mut self, has_values: bool) {
        if has_values && !self.line.is_empty() {
            if !self.lines.is_empty() {
                self.lines.push(',');
            }
            self.lines.push_str(&self.line);
            self.lines.push('}');
        }
        self.line.clear();
    }

    /// Adds the broken rules.
    pub(super) fn add_broken_rules(&mut self, found: Vec<(Severity, Problem)>) {
        for (severity, problem) in found {
            match severity {
                Severity::Error => self.problems.push(problem),
                Severity::Warning => self.warnings.push(problem),
            }
        }
    }

    /// Returns the rules with a value, valid or not, in order.
    pub fn rules(&self) -> impl Iterator<Item = usize> {
        self.fields.iter().map(|piece| piece.rule as usize)
    }

    /// Returns the current line without its closing brace.
    pub(super) fn line(&self) -> &str {
        &self.line
    }

    pub(super) fn value(&self, rule: usize) -> FieldValue<'_> {
        // Most rows have a value for each rule.
        let is_of_rule = |piece: &&Piece| piece.rule == narrow(rule);
        let piece = self.fields.get(rule).filter(is_of_rule).or_else(|| self.fields.iter().find(is_of_rule));
        match piece {
            None => FieldValue::Absent,
            Some(piece) => self.json(piece).map_or(FieldValue::Invalid, FieldValue::Present),
        }
    }

    /// Returns the valid values of record fields as JSON, each with the index of its rule.
    pub fn values(&self) -> impl Iterator<Item = (usize, &str)> {
        self.fields.iter().filter_map(|piece| Some((piece.rule as usize, self.json(piece)?)))
    }

    /// Passes each valid value to `visit`, except null and empty texts, with the index of its rule as in [`Template::rules`].
    /// Returns the number of lines.
    pub fn visit_values(&self, template: &Template, visit: &mut impl FnMut(usize, &str)) -> u64 {
        let mut visit = |rule: usize, json: &str| {
            if !json::is_empty(json) {
                visit(rule, json);
            }
        };
        self.values().for_each(|(rule, json)| visit(rule, json));
        self.visit_lines(&mut |name, json| {
            if let Some(nth) = template.lines.iter().position(|rule| rule.field.name == name) {
                visit(template.fields.len() + nth, json);
            }
        })
    }

    /// Passes the name and JSON of each value of each line to `visit`. Returns the number of lines.
    fn visit_lines(&self, visit: &mut impl FnMut(&str, &str)) -> u64 {
        let mut count = 0;
        let mut rest = self.lines.as_str();
        while let Some(mut members) = rest.strip_prefix('{') {
            count += 1;
            while let Some((name, value, behind)) = json::first_member(members) {
                visit(name, value);
                members = behind.strip_prefix(',').unwrap_or(behind);
            }
            let behind = members.strip_prefix('}').unwrap_or_default();
            rest = behind.strip_prefix(',').unwrap_or(behind);
        }
        count
    }

    /// Returns the JSON of a rule's value, or `None` for an invalid, absent, null or empty value.
    pub(super) fn text(&self, rule: usize) -> Option<&str> {
        match self.value(rule) {
            FieldValue::Present(json) => Some(json).filter(|json| !json::is_empty(json)),
            FieldValue::Invalid | FieldValue::Absent => None,
        }
    }

    /// Adds what another row gives. Returns the conflicting fields.
    pub(super) fn merge(&mut self, from: &Gathered) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        for piece in &from.fields {
            match self.fields.binary_search_by_key(&piece.rule, |piece| piece.rule) {
                Err(index) => {
                    let place = from.json(piece).map(|json| {
                        let start = narrow(self.values.len());
                        self.values.push_str(json);
                        (start, narrow(self.values.len()))
                    });
                    self.fields.insert(index, Piece { place, ..*piece });
                }
                Ok(index) => {
                    let other = self.fields[index];
                    if let (Some(ours), Some(theirs)) = (self.json(&other), from.json(piece))
                        && ours != theirs
                    {
                        conflicts.push(Conflict {
                            rule: piece.rule as usize,
                            row: piece.row,
                            value: display(theirs),
                            other_row: other.row,
                            other: display(ours),
                        });
                    }
                }
            }
        }
        if !from.lines.is_empty() {
            if !self.lines.is_empty() {
                self.lines.push(',');
            }
            self.lines.push_str(&from.lines);
        }
        self.rows.extend_from_slice(&from.rows);
        from.money.iter().for_each(|money| self.push_money(*money));
        self.unique.extend_from_slice(&from.unique);
        self.problems.extend_from_slice(&from.problems);
        self.warnings.extend_from_slice(&from.warnings);
        conflicts
    }

    /// Returns a copy without spare capacity.
    pub fn kept(&self) -> Gathered {
        Gathered { line: String::new(), ..self.clone() }
    }

    fn json(&self, piece: &Piece) -> Option<&str> {
        piece.place.map(|(start, end)| &self.values[start as usize..end as usize])
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("the length of rows is limited when they are read")
}

/// Returns a JSON value in readable form.
fn display(json: &str) -> String {
    match json {
        "null" => String::new(),
        text => excerpt(&unquoted(text)),
    }
}
