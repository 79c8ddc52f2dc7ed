//! Conditions of rows and records: `skip_where`, `keep_where`, `warn_where` and the rules.

use std::cell::{Cell, OnceCell};

use jiff::tz::TimeZone;
use sheetport_findings::SkipReason;
use sheetport_records::JsonType;
use sheetport_sheet::Row;
use sheetport_values::budget::Budget;
use sheetport_values::date::{ParsedDate, iso};
use sheetport_values::decimal;
use sheetport_values::number::Notation;

use crate::bind::{Columns, TestColumns};
use crate::map::gathered::Gathered;
use crate::map::json::unquoted;
use crate::map::mapper::Mapper;
use crate::map::row_context::RowContext;
use crate::model::{Condition, Constant, FieldRule, RecordRule, RowTest, Tested};
use crate::problem::{Cause, Problem, excerpt};
use crate::typed_value::Value;

impl Mapper<'_> {
    /// Returns the condition by which the template leaves a row out, if any, and adds what the template says about such rows to the
    /// warnings of `gathered`. Fails if a condition can't be evaluated.
    pub(crate) fn left_out(
        &self,
        row: &Row,
        budget: &Budget,
        gathered: &mut Gathered,
    ) -> Result<Option<SkipReason>, Box<Problem>> {
        let (sheet, layout) = (&self.template().sheet, self.layout());
        for (test, columns) in sheet.skip_where.iter().zip(&layout.skip) {
            if self.holds(("skip_where", test), columns, row, budget)? {
                let because = test.because.clone();
                gathered.warnings.extend(because.map(|because| self.remark(columns, row, Cause::LeftOut(because))));
                return Ok(Some(SkipReason::SkipWhere));
            }
        }
        for (test, columns) in sheet.keep_where.iter().zip(&layout.keep) {
            if !self.holds(("keep_where", test), columns, row, budget)? {
                let because = test.because.clone();
                gathered.warnings.extend(because.map(|because| self.remark(columns, row, Cause::LeftOut(because))));
                return Ok(Some(SkipReason::KeepWhere));
            }
        }
        Ok(None)
    }

    /// Adds a warning for each test of `warn_where` that holds for a row. A condition that can't be evaluated is a problem.
    pub(crate) fn warn_of_row(&self, row: &Row, budget: &Budget, gathered: &mut Gathered) {
        for (test, columns) in self.template().sheet.warn_where.iter().zip(&self.layout().warn) {
            match self.holds(("warn_where", test), columns, row, budget) {
                Ok(false) => {}
                Ok(true) => {
                    let cause = Cause::WarnWhere(test.because.clone().unwrap_or_else(|| test.subject.to_string()));
                    gathered.warnings.push(self.remark(columns, row, cause));
                }
                Err(problem) => gathered.problems.push(*problem),
            }
        }
    }

    /// Returns what the template says about a row, at the cell of its only column.
    fn remark(&self, columns: &TestColumns, row: &Row, cause: Cause) -> Problem {
        let column = columns.first().copied().flatten().filter(|_| columns.len() == 1);
        let value = column.map(|column| excerpt(&self.cell(row, column).shown())).unwrap_or_default();
        self.problem_at(row.number, column, "", value, cause)
    }

    fn holds(
        &self,
        (name, test): (&'static str, &RowTest),
        columns: &TestColumns,
        row: &Row,
        budget: &Budget,
    ) -> Result<bool, Box<Problem>> {
        let (condition, locale) = match &test.subject {
            Tested::Matches { pattern, .. } => {
                let cell = columns.first().copied().flatten().map(|column| self.cell(row, column));
                return Ok(cell.is_some_and(|cell| pattern.is_match(&cell.shown())));
            }
            Tested::Condition { condition, locale } => (condition, *locale),
        };
        let found: Vec<usize> = columns.iter().flatten().copied().collect();
        let values = columns.iter().map(|column| {
            let Some(column) = column else { return Ok((Value::Blank, Notation::Canonical)) };
            let value = Value::from_cell(&self.cell(row, *column));
            let value = value.map_err(|error| (Some(*column), Cause::NotANumber(error)))?;
            let locale = self.special().locales.get(column).copied().unwrap_or(locale);
            Ok((value, self.notation(locale, *column)))
        });
        let problem = |(column, cause): (Option<usize>, Cause)| {
            let value = column.map(|column| excerpt(&self.cell(row, column).shown())).unwrap_or_default();
            Box::new(self.problem_at(row.number, column, name, value, cause))
        };
        let values = values.collect::<Result<Vec<_>, _>>().map_err(problem)?;
        let context = RowContext { time_zone: self.time_zone(&found), ..self.context(values, row.number, budget) };
        match evaluate(condition, &context) {
            Ok(holds) => Ok(holds.unwrap_or(false)),
            Err((at_fault, cause)) => {
                Err(problem((at_fault.and_then(|index| columns.get(index).copied().flatten()), cause)))
            }
        }
    }

    pub(crate) fn context<'v>(
        &'v self,
        values: Vec<(Value<'v>, Notation<'v>)>,
        row: u64,
        budget: &'v Budget,
    ) -> RowContext<'v> {
        let (parameters, facts) = (&self.template().parameters, &self.layout().facts);
        let (shown, time_zone) = (Vec::new(), None);
        let (ambiguous, not_a_number) = (OnceCell::new(), Cell::new(None));
        RowContext { values, shown, row, parameters, facts, time_zone, budget, ambiguous, not_a_number }
    }

    /// Returns the time zone of the first field for dates from one of these columns, or else of the template.
    fn time_zone(&self, columns: &[usize]) -> Option<&TimeZone> {
        let rules = || self.template().rules().zip(&self.layout().columns);
        let is_date = |(rule, of_rule): &(&FieldRule, &Columns)| {
            rule.field.json == JsonType::DateTime && columns.iter().any(|column| of_rule.contains(*column))
        };
        let own = rules().filter(is_date).find_map(|(rule, _)| rule.date.time_zone.as_ref());
        own.or_else(|| self.template().sheet.time_zone.as_ref())
    }

    /// Checks the rules for the fields of a complete record.
    pub(crate) fn check_rules(&self, gathered: &mut Gathered) {
        let mut found = Vec::new();
        let budget = Budget::of_row(gathered.len());
        let rules = self.template().record_rules.iter().filter(|rule| !rule.is_of_lines);
        for rule in rules.filter(|rule| self.can_judge(rule, gathered)) {
            let value = |index: usize| match (gathered.text(index), self.replacement_of(index)) {
                (Some(json), _) => self.field_value(index, json),
                (None, Some(Constant::Text(text))) => Value::Text(text.as_str().into()),
                (None, Some(Constant::Number(number))) => Value::Number(*number),
                (None, Some(Constant::Boolean(boolean))) => Value::Boolean(*boolean),
                (None, Some(Constant::Null) | None) => Value::Blank,
            };
            let values: Vec<Value<'_>> = rule.fields.iter().map(|index| value(*index)).collect();
            let problem = self.check_rule(rule, values, (gathered.first_row(), &self.layout().columns), &budget);
            found.extend(problem.map(|problem| (rule.severity, problem)));
        }
        gathered.add_broken_rules(found);
    }

    /// Checks the rules for the fields of the current line, in JSON without its closing brace. `columns` are the columns of the
    /// line's fields.
    pub(crate) fn check_line_rules(&self, gathered: &mut Gathered, columns: &[Columns], budget: &Budget) {
        let rules = self.template().record_rules.iter().filter(|rule| rule.is_of_lines);
        let rules: Vec<&RecordRule> = rules.filter(|rule| self.can_judge(rule, gathered)).collect();
        if rules.is_empty() {
            return;
        }
        let line = [gathered.line(), "}"].concat();
        let line: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&line).expect("a line is a JSON object");
        let all_columns = [&self.layout().columns[..self.template().fields.len()], columns].concat();
        let mut found = Vec::new();
        for rule in rules {
            let json: Vec<Option<String>> = rule
                .fields
                .iter()
                .map(|index| line.get(self.template().rule(*index)?.field.name).map(ToString::to_string))
                .collect();
            let values = rule.fields.iter().zip(&json).map(|(index, json)| match json.as_deref() {
                None | Some("null") => Value::Blank,
                Some(json) => self.field_value(*index, json),
            });
            let problem = self.check_rule(rule, values.collect(), (gathered.first_row(), &all_columns), budget);
            found.extend(problem.map(|problem| (rule.severity, problem)));
        }
        gathered.add_broken_rules(found);
    }

    /// Whether a rule can be checked: all problems so far are broken rules, or are about fields outside of this rule.
    fn can_judge(&self, rule: &RecordRule, gathered: &Gathered) -> bool {
        let has_field = |name| rule.fields.iter().any(|index| self.rule(*index).0.field.name == name);
        gathered.problems.iter().all(|problem| match problem.cause {
            Cause::Rule { .. } => true,
            Cause::NoRecord(_) | Cause::TooMuch(_) => false,
            _ => !problem.field.is_empty() && !has_field(problem.field),
        })
    }

    /// Returns a problem if a rule is broken. A rule that can't be evaluated because a field is blank is not broken. `columns`
    /// are the columns of all rules of the template.
    fn check_rule(
        &self,
        rule: &RecordRule,
        values: Vec<Value<'_>>,
        (row, columns): (u64, &[Columns]),
        budget: &Budget,
    ) -> Option<Problem> {
        let shown: Vec<String> = values.iter().map(|value| excerpt(&value.text())).collect();
        let values = values.into_iter().map(|value| (value, Notation::Canonical)).collect();
        let zones = rule.fields.iter().filter_map(|index| self.template().rule(*index));
        let time_zone =
            zones.filter(|rule| rule.field.json == JsonType::DateTime).find_map(|rule| rule.date.time_zone.as_ref());
        let context = RowContext { time_zone, ..self.context(values, row, budget) };
        let (at_fault, cause) = match evaluate(&rule.condition, &context) {
            Ok(None | Some(true)) => return None,
            Ok(Some(false)) => {
                let written = rule.condition.written.clone();
                let message = rule.message.clone().unwrap_or_else(|| written.clone());
                (Some(0).filter(|_| rule.fields.len() == 1), Cause::Rule { message, written })
            }
            Err(error) => error,
        };
        let index = *rule.fields.get(at_fault.unwrap_or_default())?;
        let field = self.template().rule(index)?.field.name;
        let column = at_fault.and_then(|_| columns.get(index)?.first());
        let value = at_fault.and_then(|at_fault| shown.into_iter().nth(at_fault)).unwrap_or_default();
        Some(self.problem_at(row, column, field, value, cause))
    }

    /// Converts the JSON value of a field.
    fn field_value<'j>(&self, index: usize, json: &'j str) -> Value<'j> {
        let is_date = self.template().rule(index).is_some_and(|rule| rule.field.json == JsonType::DateTime);
        match (json, decimal::parse(json)) {
            ("true", _) => Value::Boolean(true),
            ("false", _) => Value::Boolean(false),
            (_, Ok(number)) => Value::Number(number),
            _ => {
                let text = unquoted(json);
                match is_date.then(|| iso::parse(&text)) {
                    Some(Ok(ParsedDate::Date(date))) => Value::Date(date),
                    _ => Value::Text(text),
                }
            }
        }
    }
}

/// Evaluates a condition. Returns `None` if a blank value makes this impossible. An error has the column of the expression that
/// is at fault, if it is known.
fn evaluate(condition: &Condition, context: &RowContext<'_>) -> Result<Option<bool>, (Option<usize>, Cause)> {
    match condition.expression.holds(context) {
        Ok(holds) => Ok(Some(holds)),
        Err(error) if error.is_about_blank() => Ok(None),
        Err(error) => {
            let at_fault = context.column_at_fault(&condition.expression.columns_at(&error.range));
            Err((at_fault, context.cause(error, &condition.written)))
        }
    }
}
