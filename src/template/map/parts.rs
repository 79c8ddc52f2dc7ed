//! What rows say of a record, on its way into a request: values as JSON, each with the rule and the row that it is from.

use super::super::problem::{Problem, kept};
use super::{json, unquoted};

/// What one row, or several together, say of a record.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// The numbers of the rows.
    pub rows: Vec<u64>,
    pub problems: Vec<Problem>,
    /// The record's values, one after the other.
    pub(super) values: Vec<u8>,
    /// In the order of their rules.
    fields: Vec<Piece>,
    /// The lines as JSON objects with commas between.
    pub(super) lines: Vec<u8>,
    /// The line that is being made, without its last brace.
    line: Vec<u8>,
}

/// A rule's value.
#[derive(Clone, Copy, Debug)]
struct Piece {
    rule: u32,
    /// Where it stands among the values. Nothing: it is at fault, and a problem says why.
    place: Option<(u32, u32)>,
    row: u64,
}

/// What there is for a rule.
pub enum Value<'a> {
    Of(&'a [u8]),
    AtFault,
    None,
}

/// Two rows that say different things of a record.
pub struct Clash {
    pub rule: usize,
    pub row: u64,
    pub value: String,
    pub other_row: u64,
    pub other: String,
}

impl Parts {
    /// Empties it for the row at `number` and keeps its buffers.
    pub fn begin(&mut self, number: u64) {
        self.rows.clear();
        self.rows.push(number);
        self.problems.clear();
        self.values.clear();
        self.fields.clear();
        self.lines.clear();
        self.line.clear();
    }

    pub fn first_row(&self) -> u64 {
        self.rows.first().copied().unwrap_or_default()
    }

    /// The bytes that are held.
    pub fn len(&self) -> usize {
        self.len_from(0)
    }

    /// The same without the first problems, which whoever adds to many has counted before.
    pub fn len_from(&self, problem: usize) -> usize {
        let problems: usize = self.problems.iter().skip(problem).map(Problem::held).sum();
        self.values.len() + self.lines.len() + self.fields.len() * 24 + self.rows.len() * 8 + problems
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// What was written to the values from `start` on is the rule's.
    pub(super) fn push_value(&mut self, rule: usize, start: usize, row: u64) {
        self.fields.push(Piece { rule: narrow(rule), place: Some((narrow(start), narrow(self.values.len()))), row });
    }

    pub(super) fn push_fault(&mut self, rule: usize, row: u64) {
        self.fields.push(Piece { rule: narrow(rule), place: None, row });
    }

    /// Moves what was written to the values from `start` on into the line.
    pub(super) fn push_line_value(&mut self, name: &str, start: usize) {
        if self.line.is_empty() {
            self.line.push(b'{');
        }
        json::key(&mut self.line, name);
        self.line.extend_from_slice(self.values.get(start..).unwrap_or_default());
        self.values.truncate(start);
    }

    /// Ends the line, which counts if the row has something of its own for it.
    pub(super) fn end_line(&mut self, counts: bool) {
        if counts && !self.line.is_empty() {
            self.lines.extend_from_slice(&self.line);
            self.lines.push(b'}');
        }
        self.line.clear();
    }

    pub(super) fn value(&self, rule: usize) -> Value<'_> {
        match self.fields.iter().find(|piece| piece.rule == narrow(rule)) {
            None => Value::None,
            Some(piece) => self.bytes(piece).map_or(Value::AtFault, Value::Of),
        }
    }

    /// A rule's value where it is a text or a number, as JSON has it.
    pub(super) fn text(&self, rule: usize) -> Option<&str> {
        match self.value(rule) {
            Value::Of(b"null") | Value::AtFault | Value::None => None,
            Value::Of(bytes) => std::str::from_utf8(bytes).ok().filter(|text| *text != "\"\""),
        }
    }

    /// Takes a further row in, and answers where it says something else than those before.
    pub(super) fn merge(&mut self, from: &Parts) -> Vec<Clash> {
        let mut clashes = Vec::new();
        for piece in &from.fields {
            let there = self.fields.binary_search_by_key(&piece.rule, |piece| piece.rule);
            match there {
                Err(index) => {
                    let place = from.bytes(piece).map(|bytes| {
                        let start = narrow(self.values.len());
                        self.values.extend_from_slice(bytes);
                        (start, narrow(self.values.len()))
                    });
                    self.fields.insert(index, Piece { place, ..*piece });
                }
                Ok(index) => {
                    let Some(other) = self.fields.get(index).copied() else { continue };
                    if let (Some(ours), Some(theirs)) = (self.bytes(&other), from.bytes(piece))
                        && ours != theirs
                    {
                        clashes.push(Clash {
                            rule: piece.rule as usize,
                            row: piece.row,
                            value: shown(theirs),
                            other_row: other.row,
                            other: shown(ours),
                        });
                    }
                }
            }
        }
        if !from.lines.is_empty() {
            if !self.lines.is_empty() {
                self.lines.push(b',');
            }
            self.lines.extend_from_slice(&from.lines);
        }
        self.rows.extend_from_slice(&from.rows);
        self.problems.extend_from_slice(&from.problems);
        clashes
    }

    /// A copy to be kept, without buffers that are larger than what they hold.
    pub fn kept(&self) -> Parts {
        Parts { line: Vec::new(), ..self.clone() }
    }

    fn bytes(&self, piece: &Piece) -> Option<&[u8]> {
        let (start, end) = piece.place?;
        self.values.get(start as usize..end as usize)
    }
}

/// Rows are far smaller than this: a file's records are bounded in length when they are read.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn shown(json: &[u8]) -> String {
    match std::str::from_utf8(json) {
        Ok("null") | Err(_) => String::new(),
        Ok(text) => kept(&unquoted(text)),
    }
}
