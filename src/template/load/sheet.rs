//! Checks `[sheet]`: the data rows of the sheet, and options for text files.

use std::ops::Range;

use toml::Spanned;

use super::super::model::{ColumnName, FillDown, HeaderRow, SheetRules, SheetSelect, SkipRule, Source, Template};
use super::checker::Checker;
use super::raw::{RawSheet, column_names};
use crate::diagnostics::{Mistake, nearest};
use crate::sheet::Options;

impl Checker<'_> {
    /// Checks `[sheet]`. Returns `None` after noting mistakes.
    pub(super) fn sheet(&self, raw: RawSheet) -> Option<SheetRules> {
        let text = self.text_options(&raw);
        let select = match (raw.name, raw.index) {
            (Some(_), Some(index)) => {
                let message = "a sheet has a name or an index, not both";
                self.keep(Err(self.error(index.span(), message, Some("keep one of them"))))
            }
            (Some(name), None) if name == "*" => Some(SheetSelect::All),
            (Some(name), None) => Some(SheetSelect::Name(name)),
            (None, Some(index)) => self.keep(self.positive(&index, "the first sheet is 1")).map(SheetSelect::Index),
            (None, None) => Some(SheetSelect::FirstThatFits),
        };
        let header = self.keep(self.header(raw.header));
        let skip_where = raw.skip_where.and_then(|skip| {
            let matches = self.keep(self.regex(&skip.matches))?;
            Some(SkipRule { column: column_names(skip.column.into_inner()), matches })
        });
        let fill_down = raw.fill_down.map(|fill| fill.into_inner().0).map(|fill| FillDown {
            columns: column_names(fill.columns),
            within: fill.within.map_or_else(Vec::new, column_names),
        });
        Some(SheetRules { select: select?, header: header?, fill_down, skip_where, text, defused: raw.defused })
    }

    fn header(&self, header: Option<Spanned<toml::Value>>) -> Result<HeaderRow, Mistake> {
        match header.as_ref().map(|header| (header.span(), header.get_ref())) {
            None => Ok(HeaderRow::Auto),
            Some((_, toml::Value::String(text))) if text == "auto" => Ok(HeaderRow::Auto),
            Some((_, toml::Value::Integer(row))) if *row > 0 => Ok(HeaderRow::Number(row.unsigned_abs())),
            Some((span, _)) => {
                let message = "header must be \"auto\" or the number of the header row";
                Err(self.error(span, message, Some("the first row is 1")))
            }
        }
    }

    /// Refuses columns to fill without a field, because the names are probably misspelt. Missing columns are checked with
    /// the fields.
    pub(super) fn check_filled_columns(&self, template: &Template, span: Range<usize>) -> Result<(), Mistake> {
        let Some(fill) = &template.sheet.fill_down else { return Ok(()) };
        let mut used: Vec<ColumnName> = Vec::new();
        for rule in template.rules() {
            match &rule.source {
                Source::Column(columns) => used.extend(columns.iter().cloned()),
                Source::Joined { columns, .. } => used.extend(columns.iter().flatten().cloned()),
                Source::Text { expression, .. } => {
                    used.extend(expression.columns().iter().cloned().map(ColumnName::Named));
                }
                Source::Constant(_) => {}
            }
        }
        used.extend(template.group.iter().flat_map(|group| group.by.iter().flatten().cloned()));
        used.extend(template.sheet.skip_where.iter().flat_map(|skip| skip.column.iter().cloned()));
        let Some(unused) = fill.columns.iter().find(|column| !used.iter().any(|other| other.is_same(column))) else {
            return Ok(());
        };
        let text = |column: &ColumnName| match column {
            ColumnName::Named(name) => Some(name.clone()),
            ColumnName::Number(_) => None,
        };
        let used: Vec<String> = used.iter().filter_map(text).collect();
        let similar = text(unused).and_then(|name| nearest(&name, used.iter().map(String::as_str)).map(str::to_owned));
        let hint = match similar {
            Some(name) => format!("did you mean '{name}'?"),
            None => "use the same name as the field that reads it".to_owned(),
        };
        Err(self.error(span, format!("fill_down has the column {unused}, which no field reads"), Some(hint)))
    }

    /// Returns the options for text files, with the same values as the flags.
    fn text_options(&self, raw: &RawSheet) -> Options {
        let parse = |key: &Option<Spanned<String>>, parse: fn(&str) -> Result<Option<u8>, String>| {
            let word = key.as_ref()?;
            self.keep(parse(word.get_ref()).map_err(|reason| self.error(word.span(), reason, None::<String>)))?
        };
        let mark = |key: &Option<Spanned<String>>| {
            let word = key.as_ref()?;
            let parsed = Options::mark_named(word.get_ref());
            self.keep(parsed.map_err(|reason| self.error(word.span(), reason, None::<String>)))
        };
        if let Some(label) = raw.encoding.as_ref().filter(|label| !Options::is_encoding(label.get_ref())) {
            let hint = "examples are \"utf-8\" and \"windows-1252\"";
            self.note(self.error(label.span(), format!("'{}' is not an encoding", label.get_ref()), Some(hint)));
        }
        Options {
            delimiter: parse(&raw.delimiter, |word| Options::delimiter_named(word).map(Some)),
            encoding: raw.encoding.as_ref().map(|label| label.get_ref().clone()),
            quote: mark(&raw.quote),
            escape: mark(&raw.escape),
        }
    }
}
