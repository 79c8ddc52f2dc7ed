//! Completing records: checks of all their values together, identifiers, and request bodies.

use sheetport_findings::Command;

use super::super::commands::command;
use super::super::model::{Constant, Place};
use super::super::problem::{Cause, Problem, excerpt};
use super::gathered::{FieldValue, Gathered};
use super::json::{self, unquoted};
use super::mapper::Mapper;

/// The identifiers of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names<'a> {
    /// The key, as JSON.
    pub key: Option<&'a str>,
    /// The identifier for the path of the call, as JSON.
    pub target: Option<&'a str>,
    /// Whether the target is the service's id, and not the key.
    pub is_id: bool,
}

impl Mapper<'_> {
    /// Checks a complete record and adds to the problems. Returns the record's identifiers.
    pub fn finish<'p>(&self, gathered: &'p mut Gathered) -> Names<'p> {
        let mut problems = Vec::new();
        for (index, rule) in self.template().fields.iter().enumerate() {
            if let FieldValue::Absent = gathered.value(index)
                && let Err(cause) = self.replacement(rule)
            {
                problems.push(self.missing(index, gathered, cause));
            }
        }
        if let Some((list, _)) = self.template().input().lines()
            && list.required
            && gathered.lines.is_empty()
            && gathered.problems.is_empty()
        {
            problems.push(self.problem_at(gathered.first_row(), None, list.name, String::new(), Cause::NoLines));
        }
        self.check_currencies(gathered, &mut problems);
        self.check_unique_lines(gathered, &mut problems);
        gathered.problems.append(&mut problems);
        self.check_rules(gathered);
        self.check_needs(gathered);
        self.names(gathered)
    }

    /// Finds a new record that names no subject, or that moves no quantity.
    fn check_needs(&self, gathered: &mut Gathered) {
        let has_value = |gathered: &Gathered, index: usize| {
            gathered.text(index).is_some()
                || matches!(gathered.value(index), FieldValue::Invalid)
                || self.replacement_of(index).is_some_and(|constant| *constant != Constant::Null)
        };
        if self.special().id.is_some_and(|index| has_value(gathered, index)) {
            return;
        }
        let input = self.template().input();
        // The lines of a record name their subjects themselves.
        let subject = input.needed_reference().filter(|_| input.lines().is_none());
        let has_column =
            self.template().fields.iter().enumerate().any(|(index, rule)| {
                input.needs_one_of.contains(&rule.field.name) && self.rule(index).1.first().is_some()
            });
        let fields = input.needs_one_of;
        let subject = subject.map(|what| (fields, Cause::NothingNamed { what, fields, has_column }));
        let moved = (input.quantities, Cause::NothingMoved { fields: input.quantities });
        for (fields, cause) in subject.into_iter().chain([moved]) {
            let Some(first) = fields.first() else { continue };
            let rules = self.template().fields.iter().enumerate();
            let mut rules = rules.filter(|(_, rule)| fields.contains(&rule.field.name)).map(|(index, _)| index);
            if rules.clone().any(|index| has_value(gathered, index)) {
                continue;
            }
            // Without a column, all records would be about nothing.
            let is_problem = matches!(cause, Cause::NothingNamed { has_column: false, .. });
            let found = match rules.next_back() {
                Some(index) => self.missing(index, gathered, cause),
                None => self.problem_at(gathered.first_row(), None, first, String::new(), cause),
            };
            if is_problem { gathered.problems.push(found) } else { gathered.warnings.push(found) }
        }
    }

    /// Returns what the rows of a record say is to be done with it. `None` if they don't say it, or say something wrong.
    pub fn command(&self, gathered: &Gathered) -> Option<Command> {
        let index = self.template().fields.iter().position(|rule| rule.place == Place::Command)?;
        match gathered.value(index) {
            FieldValue::Present(json) => Command::named(&unquoted(json)),
            FieldValue::Invalid => None,
            FieldValue::Absent => match self.replacement_of(index) {
                Some(Constant::Text(text)) => command(text, self.template().record).ok(),
                _ => None,
            },
        }
    }

    /// Appends the request body of a finished record without problems.
    pub fn body(&self, gathered: &Gathered, body: &mut String) {
        let input = self.template().input();
        body.push('{');
        if let Some(member) = input.member() {
            json::key(body, member);
            body.push('{');
        }
        self.members(body, Place::Record, gathered);
        if let Some(currency) = self.currency_of_amounts(gathered) {
            json::member(body, "currency", |body| json::text(body, currency.as_str()));
        }
        if let Some((list, _)) = input.lines().filter(|_| !gathered.lines.is_empty()) {
            json::member(body, list.name, |body| {
                body.push('[');
                body.push_str(&gathered.lines);
                body.push(']');
            });
        }
        if input.member().is_some() {
            body.push('}');
            self.members(body, Place::Option, gathered);
        }
        body.push('}');
    }

    /// Appends all values of a place to an unclosed object.
    fn members(&self, body: &mut String, place: Place, gathered: &Gathered) {
        for (index, rule) in self.template().fields.iter().enumerate().filter(|(_, rule)| rule.place == place) {
            match (gathered.value(index), self.replacement(rule)) {
                (FieldValue::Present(value), _) => {
                    json::member(body, rule.field.name, |body| body.push_str(value));
                }
                (FieldValue::Absent, Ok(Some(constant))) => {
                    json::member(body, rule.field.name, |body| json::constant(body, constant));
                }
                _ => {}
            }
        }
    }

    /// Returns the identifiers of a record. Adds a problem for a missing or invalid identifier.
    fn names<'p>(&self, gathered: &'p mut Gathered) -> Names<'p> {
        let input = self.template().input();
        let is_filled = |rule: &usize| gathered.text(*rule).is_some();
        let key = self.special().keys.iter().copied().find(is_filled);
        let id = self.special().id.filter(is_filled);
        // If the service can't create records, the key can also serve as the address.
        let target = id.or(if input.create.is_none() { key } else { None });
        if target.is_none()
            && input.create.is_none()
            && gathered.problems.is_empty()
            && let Some(index) = self.special().keys.last()
        {
            let problem = self.missing(*index, gathered, Cause::Blank);
            gathered.problems.push(problem);
        }
        if let Some(index) = target
            && let Some(call) = input.update.as_ref()
            && let Some(text) = gathered.text(index).map(unquoted)
            && call.path(&text).is_none()
        {
            let value = excerpt(&text);
            let problem = Problem { value, ..self.missing(index, gathered, Cause::NotAnAddress) };
            gathered.problems.push(problem);
        }
        let gathered = &*gathered;
        Names {
            key: key.and_then(|index| gathered.text(index)),
            target: target.and_then(|index| gathered.text(index)),
            is_id: id.is_some(),
        }
    }

    /// Creates a problem of the whole record, located in the first row.
    fn missing(&self, index: usize, gathered: &Gathered, cause: Cause) -> Problem {
        let (rule, columns) = self.rule(index);
        self.problem_at(gathered.first_row(), columns.first(), rule.field.name, String::new(), cause)
    }

    /// Returns the values that must be unique among all records, each with the index of its rule.
    pub fn unique_values(&self, gathered: &Gathered) -> Vec<(usize, String)> {
        let rules = self.template().fields.iter().enumerate().filter(|(_, rule)| rule.checks.is_unique);
        rules.filter_map(|(index, _)| Some((index, unquoted(gathered.text(index)?).into_owned()))).collect()
    }
}
