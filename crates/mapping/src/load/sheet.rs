//! Checks `[sheet]`: the data rows of the sheet, and options for text files.

use std::ops::Range;

use sheetport_documents::{Mistake, nearest};
use sheetport_sheet::Options;
use sheetport_sheet::cell::column_index;
use sheetport_values::locale::AUTO;
use toml::Spanned;

use super::super::model::{ColumnName, FillDown, HeaderRow, SheetRules, SheetSelect, Template};
use super::checker::Checker;
use super::field::SheetDefaults;
use super::raw::{RawSheet, column_names};

impl Checker<'_> {
    /// Checks `[sheet]`. Returns `None` after noting mistakes.
    pub(super) fn sheet(&self, raw: RawSheet, defaults: &SheetDefaults) -> Option<SheetRules> {
        let locale = defaults.locale;
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
        let skip_where = self.row_tests("skip_where", raw.skip_where, locale);
        let keep_where = raw.keep_where.and_then(|test| {
            let span = test.span();
            self.keep(self.row_test("keep_where", (test.into_inner(), span), locale))
        });
        let warn_where = self.row_tests("warn_where", raw.warn_where, locale);
        let fill_down = raw.fill_down.map(|fill| fill.into_inner().0).map(|fill| FillDown {
            columns: column_names(fill.columns),
            within: fill.within.map_or_else(Vec::new, |within| within.0.into_iter().map(column_names).collect()),
        });
        let ignored = raw.ignored.map_or_else(Vec::new, column_names);
        let currency = raw.currency.as_ref().and_then(|name| self.keep(self.currency(name.get_ref(), name.span())));
        let locale = raw.locale.map(Spanned::into_inner).filter(|name| name != AUTO);
        Some(SheetRules {
            select: select?,
            locale,
            time_zone: defaults.time_zone.clone(),
            currency,
            header: header?,
            fill_down,
            skip_where,
            keep_where,
            ignored,
            warn_where,
            text,
            defused: raw.defused,
        })
    }

    fn header(&self, header: Option<Spanned<toml::Value>>) -> Result<HeaderRow, Mistake> {
        let Some(header) = header else { return Ok(HeaderRow::Auto) };
        let number = |value: &toml::Value| {
            value.as_integer().and_then(|number| u64::try_from(number).ok()).filter(|number| *number > 0)
        };
        let chosen = match header.get_ref() {
            toml::Value::String(word) if word == "auto" => Some(HeaderRow::Auto),
            toml::Value::String(word) if word == "none" => Some(HeaderRow::None),
            toml::Value::Array(rows) => rows.iter().map(number).collect::<Option<Vec<u64>>>().and_then(|rows| {
                let is_sorted = rows.is_sorted_by(|one, next| one < next);
                (!rows.is_empty() && is_sorted).then_some(HeaderRow::Rows(rows))
            }),
            row => number(row).map(HeaderRow::Number),
        };
        chosen.ok_or_else(|| {
            let message =
                "header must be \"auto\", \"none\", the number of the header row, or a list of rows such as [1, 2]";
            self.error(header.span(), message, Some("the first row is 1"))
        })
    }

    /// Refuses names of columns for a sheet without a header.
    pub(super) fn check_lettered_columns(&self, template: &Template) {
        if template.sheet.header != HeaderRow::None {
            return;
        }
        for rule in template.rules() {
            let columns = rule.source.columns().concat();
            let is_of_cell =
                |column: &ColumnName| template.unpivot.as_ref().is_some_and(|unpivot| unpivot.names(column));
            let is_name = |column: &&ColumnName| {
                matches!(column, ColumnName::Named(name) if column_index(name).is_none()) && !is_of_cell(column)
            };
            if let Some(column) = columns.iter().find(is_name) {
                let message = format!("{} has the column {column}, but the sheet has no header", rule.field.name);
                let hint = "name columns by letters (\"C\") or numbers (3), or change header in [sheet]";
                self.note(self.error(rule.span.clone(), message, Some(hint)));
            }
        }
    }

    /// Refuses columns to fill without a field, because the names are probably misspelt. Missing columns are checked with
    /// the fields.
    pub(super) fn check_filled_columns(&self, template: &Template, span: Range<usize>) -> Result<(), Mistake> {
        let Some(fill) = &template.sheet.fill_down else { return Ok(()) };
        let mut used: Vec<ColumnName> = Vec::new();
        template.rules().for_each(|rule| used.extend(rule.source.columns().concat()));
        used.extend(template.group.iter().flat_map(|group| group.by.iter().flatten().cloned()));
        used.extend(template.sheet.row_tests().flat_map(|test| test.columns().into_iter().flatten()));
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
            password_file: None,
        }
    }
}
