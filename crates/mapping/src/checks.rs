//! Checks of a value before it is sent, and constants of a template.

use regex::Regex;
use sheetport_documents::nearest;
use sheetport_values::check_digit::Scheme;
use sheetport_values::decimal::Decimal;

use super::problem::Cause;

/// Checks of converted values.
#[derive(Debug, Default)]
pub struct Checks {
    pub allowed: Vec<String>,
    pub pattern: Option<Regex>,
    pub minimum: Option<Decimal>,
    pub maximum: Option<Decimal>,
    /// The kind of number, to verify its check digit.
    pub check: Option<&'static Scheme>,
    /// Whether no two records, or no two lines of a record, can have the same value.
    pub is_unique: bool,
}

impl Checks {
    /// Checks a text. Fails with the first check that refuses it.
    pub(super) fn text(&self, text: &str) -> Result<(), Cause> {
        if !self.allowed.is_empty() && !self.allowed.iter().any(|allowed| allowed == text) {
            let nearest = nearest(text, self.allowed.iter().map(String::as_str)).map(str::to_owned);
            return Err(Cause::NotAllowed { allowed: self.allowed.clone(), nearest });
        }
        match &self.pattern {
            Some(pattern) if !pattern.is_match(text) => return Err(Cause::Pattern(pattern.to_string())),
            _ => {}
        }
        self.check.map_or(Ok(()), |scheme| scheme.check(text).map_err(Cause::CheckDigit))
    }

    /// Checks a number, and `written`, its text in the request.
    pub(super) fn number(&self, number: Decimal, written: &str) -> Result<(), Cause> {
        if let Some(bound) = self.minimum.filter(|bound| number < *bound) {
            return Err(Cause::TooSmall(bound));
        }
        if let Some(bound) = self.maximum.filter(|bound| number > *bound) {
            return Err(Cause::TooLarge(bound));
        }
        self.text(written)
    }
}

/// A value in the template itself, of the field's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constant {
    Text(String),
    Number(Decimal),
    Boolean(bool),
    Null,
}

impl Constant {
    /// Returns the text that all records get.
    pub fn text(&self) -> Option<&str> {
        match self {
            Constant::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Checks the constant like a value of the sheet.
    pub(super) fn check(&self, checks: &Checks) -> Result<(), Cause> {
        match self {
            Constant::Text(text) => checks.text(text),
            Constant::Number(number) => checks.number(*number, &number.to_string()),
            Constant::Boolean(boolean) => checks.text(&boolean.to_string()),
            Constant::Null => Ok(()),
        }
    }
}
