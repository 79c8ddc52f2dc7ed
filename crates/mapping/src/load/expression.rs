//! Checks expressions: the texts of fields, the conditions of rows (`skip_where`, `keep_where`, `warn_where`) and `[[rules]]`.

use std::ops::Range;

use sheetport_documents::Mistake;
use sheetport_values::locale::Locale;
use toml::Spanned;

use super::super::language::{Expression, ExpressionError};
use super::super::model::{Condition, FieldRule, Place, RecordRule, RowTest, Severity, Template, Tested};
use super::checker::Checker;
use super::parameters::no_parameter;
use super::raw::{OneOrMany, RawRowTest, RawRule, RawSkip, column_names};

impl Checker<'_> {
    /// Parses an expression with parameters of the template. Errors point into the text, unless the TOML has escapes.
    pub(super) fn expression(
        &self,
        text: &Spanned<String>,
        parse: fn(&str) -> Result<Expression, ExpressionError>,
    ) -> Result<Expression, Mistake> {
        let whole = text.span();
        let expression = parse(text.get_ref()).map_err(|error| {
            let in_toml = self.files.text(whole.clone()).and_then(|written| written.find(text.get_ref().as_str()));
            let place = in_toml.map(|at| {
                let position = |offset: usize| whole.start + at + offset.min(text.get_ref().len());
                let start = position(error.range.start);
                start..position(error.range.end).max(start)
            });
            let hint = "docs/expressions.md describes expressions";
            self.error(place.unwrap_or(whole.clone()), error.message, Some(hint))
        })?;
        self.count_patterns(expression.size_of_patterns(), text.span())?;
        let known = |name: &&str| self.parameters.contains_key(*name);
        match expression.parameters().into_iter().find(|name| !known(name)) {
            Some(unknown) => Err(no_parameter(self.files, whole, unknown, self.parameters.keys().map(String::as_str))),
            None => Ok(expression),
        }
    }

    /// Checks the tests of `skip_where` or `warn_where`. Returns those without a mistake.
    pub(super) fn row_tests(
        &self,
        key: &str,
        raw: Option<Spanned<OneOrMany<RawRowTest>>>,
        locale: Option<Locale>,
    ) -> Vec<RowTest> {
        let Some(raw) = raw else { return Vec::new() };
        let span = raw.span();
        let tests = raw.into_inner().0.into_iter();
        tests.filter_map(|test| self.keep(self.row_test(key, (test, span.clone()), locale))).collect()
    }

    /// Checks a test of the key `key`, written somewhere in `span`. Texts have the number style of `locale`.
    pub(super) fn row_test(
        &self,
        key: &str,
        (raw, span): (RawRowTest, Range<usize>),
        locale: Option<Locale>,
    ) -> Result<RowTest, Mistake> {
        let RawSkip { column, matches, condition, because, optional } = match raw {
            RawRowTest::Table(table) => table,
            RawRowTest::Condition(written) => {
                RawSkip { condition: Some(Spanned::new(span.clone(), written)), ..RawSkip::default() }
            }
        };
        let subject = match (column, matches, condition) {
            (Some(column), Some(matches), None) => {
                Tested::Matches { column: column_names(column.into_inner()), pattern: self.regex(&matches)? }
            }
            (None, None, Some(written)) => Tested::Condition { condition: self.condition(written)?, locale },
            _ => {
                let hint =
                    format!("write {key} = {{ column = \"…\", matches = \"…\" }}, or {key} = {{ condition = '…' }}");
                return Err(self.error(
                    span,
                    format!("{key} needs a column and what it matches, or a condition"),
                    Some(hint),
                ));
            }
        };
        Ok(RowTest { subject, because, optional })
    }

    pub(super) fn condition(&self, written: Spanned<String>) -> Result<Condition, Mistake> {
        let expression = self.expression(&written, Expression::parse_condition)?;
        Ok(Condition { expression, written: written.into_inner() })
    }

    /// Checks a rule over the fields of the template.
    pub(super) fn rule(&self, template: &Template, raw: RawRule) -> Result<RecordRule, Mistake> {
        let span = raw.rule.span();
        let severities = [("error", Severity::Error), ("warning", Severity::Warning)];
        let severity = self.choice("severity", raw.severity, &severities)?.unwrap_or(Severity::Error);
        let condition = self.condition(raw.rule)?;
        let find = |name: &str, place: fn(Place) -> bool| {
            template.rules().position(|rule: &FieldRule| rule.field.name == name && place(rule.place))
        };
        let is_line = |place: Place| place == Place::Line;
        let is_record = |place: Place| place != Place::Line;
        let names = condition.expression.columns();
        let of_lines = names.iter().any(|name| find(name, is_record).is_none() && find(name, is_line).is_some());
        let mut fields = Vec::new();
        for name in names {
            if let Some(index) = find(name, if of_lines { is_line } else { is_record }) {
                fields.push(index);
                continue;
            }
            if of_lines && find(name, is_record).is_some() {
                let message = format!("{name} is a field of the record, and this rule is about its lines");
                return Err(self.error(span, message, Some("write a rule about fields of one kind")));
            }
            let known = template.rules().map(|rule| rule.field.name);
            return Err(self.unknown(span, "field that this template sets", name, known));
        }
        if fields.is_empty() {
            return Err(self.error(span, "this rule names no field", Some("an example is price >= purchasePrice")));
        }
        Ok(RecordRule { condition, fields, is_of_lines: of_lines, severity, message: raw.message })
    }
}
