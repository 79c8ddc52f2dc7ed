//! Which rows of which sheet are data, and how a text file is to be read.

use std::ops::Range;

use toml::Spanned;

use super::super::model::{ColumnName, FillDown, HeaderRow, SheetRules, SheetSelect, SkipRule, Source, Template};
use super::Checker;
use super::raw::RawSheet;
use crate::diagnostics::{Mistake, nearest};
use crate::sheet::Options;

impl Checker<'_> {
    pub(super) fn sheet(&self, raw: RawSheet) -> Result<SheetRules, Mistake> {
        let text = self.text(&raw)?;
        let select = match (raw.name, raw.index) {
            (Some(_), Some(index)) => {
                return Err(self.error(
                    index.span(),
                    "a sheet has a name or an index here, not both",
                    Some("keep one of them"),
                ));
            }
            (Some(name), None) if name == "*" => SheetSelect::All,
            (Some(name), None) => SheetSelect::Name(name),
            (None, Some(index)) => SheetSelect::Index(self.count(&index, "the first sheet is 1")?),
            (None, None) => SheetSelect::FirstThatFits,
        };
        let header = match raw.header.as_ref().map(|header| (header.span(), header.get_ref())) {
            None => HeaderRow::Auto,
            Some((_, toml::Value::String(text))) if text == "auto" => HeaderRow::Auto,
            Some((_, toml::Value::Integer(row))) if *row > 0 => HeaderRow::Number(row.unsigned_abs()),
            Some((span, _)) => {
                return Err(self.error(
                    span,
                    "header is \"auto\" or the header's row number",
                    Some("the first row is 1"),
                ));
            }
        };
        let skip_where = match raw.skip_where {
            None => None,
            Some(skip) => Some(SkipRule { column: skip.column.into_inner().0, matches: self.regex(&skip.matches)? }),
        };
        let fill_down = raw.fill_down.map(|fill| fill.into_inner().0).map(|fill| FillDown {
            columns: fill.columns.0,
            within: fill.within.map_or_else(Vec::new, |within| within.0),
        });
        Ok(SheetRules { select, header, fill_down, skip_where, text, defused: raw.defused })
    }

    /// A column that is filled and that nothing reads is a misspelt one. It may be missing from the sheet, because what
    /// reads it says whether that is right.
    pub(super) fn check_filled(&self, template: &Template, span: Range<usize>) -> Result<(), Mistake> {
        let Some(fill) = &template.sheet.fill_down else { return Ok(()) };
        let mut read: Vec<ColumnName> = Vec::new();
        for rule in template.rules() {
            match &rule.source {
                Source::Column(columns) | Source::Joined { columns, .. } => read.extend(columns.iter().cloned()),
                Source::Text { expression, .. } => {
                    read.extend(expression.columns().iter().cloned().map(ColumnName::Named));
                }
                Source::Constant(_) => {}
            }
        }
        read.extend(template.group.iter().flat_map(|group| group.by.iter().flatten().cloned()));
        read.extend(template.sheet.skip_where.iter().flat_map(|skip| skip.column.iter().cloned()));
        match fill.columns.iter().find(|column| !read.iter().any(|other| other.is_same(column))) {
            None => Ok(()),
            Some(unread) => {
                let names = read.iter().filter_map(|column| match column {
                    ColumnName::Named(name) => Some(name.as_str()),
                    ColumnName::Number(_) => None,
                });
                let hint = match unread {
                    ColumnName::Named(name) => nearest(name, names),
                    ColumnName::Number(_) => None,
                };
                let hint = match hint {
                    Some(nearest) => format!("did you mean '{nearest}'?"),
                    None => "name it as the field does that reads it".to_owned(),
                };
                Err(self.error(span, format!("fill_down has the column {unread}, which no field reads"), Some(hint)))
            }
        }
    }

    /// How a text file is to be read: the same words as the flags know.
    fn text(&self, raw: &RawSheet) -> Result<Options, Mistake> {
        let mark = |key: &Option<Spanned<String>>, read: fn(&str) -> Result<Option<u8>, String>| {
            let read = |word: &Spanned<String>| {
                read(word.get_ref()).map_err(|reason| self.error(word.span(), reason, None::<String>))
            };
            key.as_ref().map(read).transpose()
        };
        if let Some(label) = raw.encoding.as_ref().filter(|label| !Options::is_encoding(label.get_ref())) {
            return Err(self.error(
                label.span(),
                format!("'{}' is no encoding", label.get_ref()),
                Some("one is \"utf-8\", another \"windows-1252\""),
            ));
        }
        Ok(Options {
            delimiter: mark(&raw.delimiter, |word| Options::delimiter_named(word).map(Some))?.flatten(),
            encoding: raw.encoding.as_ref().map(|label| label.get_ref().clone()),
            quote: mark(&raw.quote, Options::mark_named)?,
            escape: mark(&raw.escape, Options::mark_named)?,
        })
    }
}
