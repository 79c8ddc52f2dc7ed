//! A row of the sheet to its part of a record, and a record's parts to the body of a request, or to everything that is
//! wrong with them.
//!
//! Where each row is a record, a row's part is all of it. Where several rows make one, their parts are put together by
//! [`Mapper::merge`]. Either way [`Mapper::finish`] says what is wrong with the whole, and [`Mapper::body`] makes the request.

mod convert;
mod json;
mod parts;

use std::borrow::Cow;

use self::convert::Conversion;
pub use self::parts::Parts;
use super::bind::{Columns, Layout};
use super::model::{Constant, FieldRule, OnBlank, Place, Source, Template};
use super::number;
use super::problem::{Cause, Problem, kept};
use super::survey::Survey;
use crate::sheet::cell::NOT_CALCULATED;
use crate::sheet::{Cell, Row, write};

/// Between the cells that together name a record; no cell holds it.
const BETWEEN: char = '\u{1f}';

/// A template, where its columns are, and what was found out about them.
#[derive(Clone, Copy)]
pub struct Mapper<'t> {
    /// Which of the sheets that are read together this one is for, from 0.
    part: usize,
    template: &'t Template,
    layout: &'t Layout,
    survey: &'t Survey,
}

/// What became of a row. Its buffers are used again from row to row.
#[derive(Debug, Default)]
pub struct Draft {
    /// The template leaves such rows out.
    pub is_skipped: bool,
    /// What names the record that the row belongs to. Blank: the row does not say.
    pub group: String,
    pub parts: Parts,
    /// A text on its way into a value.
    text: String,
}

/// What a record is sent with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names<'a> {
    /// What identifies the record, as JSON writes it; see [`unquoted`].
    pub key: Option<&'a str>,
    /// What stands in the call's path, if the call has a place for it.
    pub target: Option<&'a str>,
}

impl<'t> Mapper<'t> {
    pub fn new(part: usize, template: &'t Template, layout: &'t Layout, survey: &'t Survey) -> Mapper<'t> {
        Mapper { part, template, layout, survey }
    }

    pub fn template(&self) -> &'t Template {
        self.template
    }

    /// Maps one row. All problems of the row are found, not only the first.
    pub fn map(&self, row: &Row, draft: &mut Draft) {
        draft.parts.begin(row.number);
        draft.group.clear();
        draft.is_skipped = self.is_skipped(row);
        if draft.is_skipped {
            return;
        }
        for (nth, column) in self.layout.group.iter().enumerate() {
            let cell = self.cell(row, *column);
            if nth > 0 {
                draft.group.push(BETWEEN);
            }
            draft.group.push_str(cell.shown().trim());
        }
        if draft.group.chars().all(|c| c == BETWEEN) {
            draft.group.clear();
        }
        let mut line_has_values = false;
        let mut line_problems = Vec::new();
        for (index, (rule, columns)) in self.template.rules().zip(&self.layout.columns).enumerate() {
            let start = draft.parts.values.len();
            let written = self.value(index, rule, columns, row, draft);
            match (rule.place, written) {
                (Place::Line, Ok(has_value)) => {
                    let is_stated = matches!(rule.source, Source::Constant(_));
                    line_has_values |= has_value && !is_stated;
                    match has_value {
                        true => draft.parts.push_line_value(rule.field.name, start),
                        false => match self.write_blank(rule, &mut draft.parts.values) {
                            Ok(true) => draft.parts.push_line_value(rule.field.name, start),
                            Ok(false) => {}
                            Err(cause) => line_problems.push(self.problem(rule, columns, row, cause)),
                        },
                    }
                }
                (_, Ok(true)) => draft.parts.push_value(index, start, row.number),
                (_, Ok(false)) => {}
                (place, Err(cause)) => {
                    draft.parts.values.truncate(start);
                    if place == Place::Line {
                        line_has_values = true;
                    } else {
                        draft.parts.push_fault(index, row.number);
                    }
                    draft.parts.problems.push(self.problem(rule, columns, row, cause));
                }
            }
        }
        // A row without anything of a line only says something of the record.
        if line_has_values || self.layout.group.is_empty() {
            draft.parts.problems.append(&mut line_problems);
        }
        draft.parts.end_line(line_has_values);
    }

    /// Takes a further row's part into a record. Rows that say different things of the record are a problem at the cell.
    pub fn merge(&self, into: &mut Parts, from: &Parts) {
        for clash in into.merge(from) {
            let Some(rule) = self.template.rule(clash.rule) else { continue };
            let columns = self.layout.columns.get(clash.rule).unwrap_or(&Columns::None);
            let cause = Cause::Disagrees { other_row: clash.other_row, other: clash.other };
            into.problems.push(self.problem_at(clash.row, columns.first(), rule.field.name, clash.value, cause));
        }
    }

    /// What the row has in the columns that a rule reads.
    pub fn cells(&self, index: usize, row: &Row) -> Vec<(usize, String)> {
        let columns = match self.layout.columns.get(index) {
            None | Some(Columns::None) => Vec::new(),
            Some(Columns::One(column)) => vec![*column],
            Some(Columns::Several(columns)) => columns.iter().flatten().copied().collect(),
        };
        columns.into_iter().map(|column| (column, self.cell(row, column).shown().into_owned())).collect()
    }

    /// What one rule makes of a row, as JSON. Nothing: the field is left out.
    pub fn try_rule(&self, index: usize, row: &Row, draft: &mut Draft) -> Result<Option<String>, Box<Problem>> {
        let (Some(rule), Some(columns)) = (self.template.rule(index), self.layout.columns.get(index)) else {
            return Ok(None);
        };
        draft.parts.begin(row.number);
        let written = self.value(index, rule, columns, row, draft).and_then(|has_value| match has_value {
            true => Ok(true),
            false => self.write_blank(rule, &mut draft.parts.values),
        });
        match written {
            Ok(has_value) => Ok(has_value.then(|| String::from_utf8_lossy(&draft.parts.values).into_owned())),
            Err(cause) => Err(Box::new(self.problem(rule, columns, row, cause))),
        }
    }

    /// Adds to the record's problems what only shows when it is whole, and answers what the record is called by.
    pub fn finish<'p>(&self, parts: &'p mut Parts) -> Names<'p> {
        let mut problems = Vec::new();
        for (index, rule) in self.template.fields.iter().enumerate() {
            if let parts::Value::None = parts.value(index)
                && let Err(cause) = self.blank(rule)
            {
                problems.push(self.missing(index, rule, parts, cause));
            }
        }
        if let Some((list, _)) = self.template.record.input().lines()
            && list.required
            && parts.lines.is_empty()
            && parts.problems.is_empty()
        {
            problems.push(self.problem_at(parts.first_row(), None, list.name, String::new(), Cause::NoLines));
        }
        parts.problems.append(&mut problems);
        self.name(parts)
    }

    /// Adds the body of the request to `body`, for a record that was finished and has no problem.
    pub fn body(&self, parts: &Parts, body: &mut Vec<u8>) {
        let input = self.template.record.input();
        body.push(b'{');
        if let Some(member) = input.member() {
            json::key(body, member);
            body.push(b'{');
        }
        self.members(body, Place::Record, parts);
        if let Some((list, _)) = input.lines().filter(|_| !parts.lines.is_empty()) {
            json::member(body, list.name, |body| {
                body.push(b'[');
                body.extend_from_slice(&parts.lines);
                body.push(b']');
            });
        }
        if input.member().is_some() {
            body.push(b'}');
            self.members(body, Place::Option, parts);
        }
        body.push(b'}');
    }

    /// Adds what is known of the rules of one place to the object that `body` holds so far.
    fn members(&self, body: &mut Vec<u8>, place: Place, parts: &Parts) {
        for (index, rule) in self.template.fields.iter().enumerate().filter(|(_, rule)| rule.place == place) {
            match (parts.value(index), self.blank(rule)) {
                (parts::Value::Of(value), _) => {
                    json::member(body, rule.field.name, |body| body.extend_from_slice(value));
                }
                (parts::Value::None, Ok(Some(constant))) => {
                    json::member(body, rule.field.name, |body| json::constant(body, constant));
                }
                _ => {}
            }
        }
    }

    /// What identifies the record and what its path holds. Without what it needs, the record gets a problem.
    fn name<'p>(&self, parts: &'p mut Parts) -> Names<'p> {
        let input = self.template.record.input();
        let at = |name: &str| self.template.fields.iter().position(|rule| rule.field.name == name);
        let named = |parts: &Parts, name: &str| at(name).filter(|index| parts.text(*index).is_some());
        let key = input.key.iter().find_map(|name| named(parts, name));
        let id = input.id.as_ref().and_then(|id| named(parts, id.name));
        // Where nothing can be created, what identifies the record stands in for an id.
        let target = id.or(if input.create.is_none() { key } else { None });
        if target.is_none() && input.create.is_none() && parts.problems.is_empty() {
            let rule = input.key.iter().rev().find_map(|name| at(name));
            if let Some((index, rule)) = rule.and_then(|index| Some((index, self.template.fields.get(index)?))) {
                let problem = self.missing(index, rule, parts, Cause::Blank);
                parts.problems.push(problem);
            }
        }
        if let Some(index) = target
            && let Some(call) = input.update.as_ref()
            && call.path(&unquoted(parts.text(index).unwrap_or_default())).is_none()
            && let Some(rule) = self.template.fields.get(index)
        {
            let value = kept(&unquoted(parts.text(index).unwrap_or_default()));
            let problem = Problem { value, ..self.missing(index, rule, parts, Cause::NotAnAddress) };
            parts.problems.push(problem);
        }
        let parts = &*parts;
        Names { key: key.and_then(|index| parts.text(index)), target: target.and_then(|index| parts.text(index)) }
    }

    /// A problem of the record as a whole, at the first row's cell of a rule.
    fn missing(&self, index: usize, rule: &FieldRule, parts: &Parts, cause: Cause) -> Problem {
        let column = self.layout.columns.get(index).and_then(Columns::first);
        self.problem_at(parts.first_row(), column, rule.field.name, String::new(), cause)
    }

    /// A problem of the columns that say which record a row belongs to.
    pub fn group_problem(&self, row: u64, group: &str, cause: Cause) -> Problem {
        let column = self.layout.group.first().copied();
        let value = kept(group).replace(BETWEEN, " ");
        self.problem_at(row, column, "group", value, cause)
    }

    /// A problem of a record whose key another one has, too.
    pub fn same_key(&self, row: u64, key: &str, cause: Cause) -> Problem {
        let input = self.template.record.input();
        let index = self.template.fields.iter().position(|rule| input.key.contains(&rule.field.name));
        let column = index.and_then(|index| self.layout.columns.get(index)).and_then(Columns::first);
        let field = index.and_then(|index| self.template.fields.get(index)).map_or("", |rule| rule.field.name);
        self.problem_at(row, column, field, kept(key), cause)
    }

    fn is_skipped(&self, row: &Row) -> bool {
        if let Some(status) = self.layout.status.filter(|_| self.template.record.input().must_not_repeat())
            && matches!(row.get(status), Cell::Text("sent" | "unknown"))
        {
            return true;
        }
        match (&self.template.sheet.skip_where, self.layout.skip_column) {
            (Some(skip), Some(column)) => skip.matches.is_match(&self.cell(row, column).shown()),
            _ => false,
        }
    }

    /// The cell at `column`; in one of our reports and exports, as it was before a formula in it was defused.
    fn cell<'r>(&self, row: &'r Row, column: usize) -> Cell<'r> {
        match row.get(column) {
            Cell::Text(text) if self.layout.is_defused => Cell::Text(write::restore(text)),
            cell => cell,
        }
    }

    /// Writes a rule's value. False: there is none.
    fn value(
        &self,
        index: usize,
        rule: &FieldRule,
        columns: &Columns,
        row: &Row,
        draft: &mut Draft,
    ) -> Result<bool, Cause> {
        let conversion = Conversion { rule, date: self.survey.date(index) };
        let out = &mut draft.parts.values;
        match (&rule.source, columns) {
            (Source::Constant(constant), _) => {
                json::constant(out, constant);
                Ok(true)
            }
            (Source::Column(_), Columns::One(column)) => conversion.write(usable(self.cell(row, *column))?, out),
            (Source::Joined { with, .. }, Columns::Several(columns)) => {
                draft.text.clear();
                for column in columns.iter().flatten() {
                    let cell = usable(self.cell(row, *column))?;
                    if cell.is_blank() {
                        continue;
                    }
                    if !draft.text.is_empty() {
                        draft.text.push_str(with);
                    }
                    draft.text.push_str(text_of(cell)?.trim());
                }
                conversion.write(Cell::Text(&draft.text), out)
            }
            (Source::Text { expression, written }, Columns::Several(columns)) => {
                draft.text.clear();
                let mut texts = Vec::with_capacity(columns.len());
                for column in columns {
                    texts.push(match column {
                        Some(column) => text_of(usable(self.cell(row, *column))?)?,
                        None => Cow::Borrowed(""),
                    });
                }
                let value = |index: usize| Cow::Borrowed(texts.get(index).map_or("", AsRef::as_ref));
                expression
                    .eval(&value, &mut draft.text)
                    .map_err(|error| Cause::Expression { reason: error.message, source: written.clone() })?;
                conversion.write(Cell::Text(&draft.text), out)
            }
            _ => Ok(false),
        }
    }

    /// What is sent where the sheet has nothing.
    fn blank<'r>(&self, rule: &'r FieldRule) -> Result<Option<&'r Constant>, Cause> {
        match &rule.on_blank {
            _ if matches!(rule.source, Source::Constant(_)) => Ok(None),
            OnBlank::Omit => Ok(None),
            OnBlank::Null => Ok(Some(&Constant::Null)),
            OnBlank::Error => Err(Cause::Blank),
            OnBlank::Default(constant) => Ok(Some(constant)),
        }
    }

    /// Writes what is sent where the sheet has nothing. False: the field is left out.
    fn write_blank(&self, rule: &FieldRule, out: &mut Vec<u8>) -> Result<bool, Cause> {
        Ok(self.blank(rule)?.inspect(|constant| json::constant(out, constant)).is_some())
    }

    fn problem(&self, rule: &FieldRule, columns: &Columns, row: &Row, cause: Cause) -> Problem {
        let column = match columns {
            // Of several the one at fault, where it can be told.
            Columns::Several(several) => {
                several.iter().flatten().copied().find(|column| usable(row.get(*column)).is_err()).or(columns.first())
            }
            columns => columns.first(),
        };
        let value = column.map(|index| kept(&self.cell(row, index).shown())).unwrap_or_default();
        self.problem_at(row.number, column, rule.field.name, value, cause)
    }

    fn problem_at(&self, row: u64, column: Option<usize>, field: &'static str, value: String, cause: Cause) -> Problem {
        let header = column.and_then(|index| self.layout.header.names.get(index)).map(|name| kept(name));
        let header = header.unwrap_or_default();
        Problem { part: self.part, row, column, header, field, value, cause }
    }
}

/// The text that a JSON string means.
pub fn unquoted(json: &str) -> Cow<'_, str> {
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) if !inner.contains('\\') => Cow::Borrowed(inner),
        Some(_) => serde_json::from_str(json).map_or(Cow::Borrowed(json), Cow::Owned),
        None => Cow::Borrowed(json),
    }
}

/// A cell that holds an error value, or the beginning of a text, says nothing that could be sent.
fn usable(cell: Cell<'_>) -> Result<Cell<'_>, Cause> {
    match cell {
        Cell::Error(NOT_CALCULATED) => Err(Cause::NotCalculated),
        Cell::Error(_) => Err(Cause::CellError),
        Cell::Text(text) if write::is_cut(text) => Err(Cause::Cut),
        cell => Ok(cell),
    }
}

/// A cell as the text that a person reads, a number without the noise of its binary form.
fn text_of(cell: Cell<'_>) -> Result<Cow<'_, str>, Cause> {
    match cell {
        Cell::Number(number) => number::from_double(number).map(Cow::Owned).map_err(Cause::NotANumber),
        cell => Ok(cell.shown()),
    }
}
