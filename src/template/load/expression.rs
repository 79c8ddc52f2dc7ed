//! Checks expressions: the texts of fields, `skip_where`, `keep_where` and `[[rules]]`.

use toml::Spanned;

use super::super::language::{Expression, ExpressionError};
use super::super::model::{Condition, FieldRule, Place, RecordRule, RowTest, Severity, Template};
use super::super::value::locale::Locale;
use super::checker::Checker;
use super::parameters::no_parameter;
use super::raw::{RawRowTest, RawRule, column_names};
use crate::diagnostics::Mistake;

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

    /// Checks `skip_where` or `keep_where`. Texts have the number style of `locale`.
    pub(super) fn row_test(&self, raw: Spanned<RawRowTest>, locale: Option<Locale>) -> Result<RowTest, Mistake> {
        let span = raw.span();
        match raw.into_inner() {
            RawRowTest::Matches(matches) => {
                let pattern = self.regex(&matches.matches)?;
                Ok(RowTest::Matches { column: column_names(matches.column.into_inner()), pattern })
            }
            RawRowTest::Condition(written) => {
                Ok(RowTest::Condition { condition: self.condition(Spanned::new(span, written))?, locale })
            }
        }
    }

    fn condition(&self, written: Spanned<String>) -> Result<Condition, Mistake> {
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
