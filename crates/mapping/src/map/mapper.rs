//! The mapper: rows to values of records, and values to requests.

use std::borrow::Cow;

use sheetport_findings::SkipReason;
use sheetport_sheet::cell::{NOT_CALCULATED, STORED_TWICE};
use sheetport_sheet::read::header::without_mark;
use sheetport_sheet::{Cell, Row, english_state, write};
use sheetport_values::budget::Budget;
use sheetport_values::currency::CurrencyMark;
use sheetport_values::locale::Locale;
use sheetport_values::number::Notation;
use sheetport_values::{error_value, identifier};

use super::super::bind::{Columns, Layout, own_column};
use super::super::columns::column_of_header_text;
use super::super::commands;
use super::super::model::{Constant, Damaged, FieldRule, HeaderRow, OnBlank, Place, Source, Template, same_header};
use super::super::problem::{Cause, Problem, excerpt};
use super::convert::{Conversion, Doubt, Input, Written};
use super::gathered::Gathered;
use super::json::{self, unquoted};
use super::memo::{self, Memo};
use super::number_formats::{hides_digits, may_lack_zero, shows_fraction, word_beside};
use super::resolved::Resolved;
use super::row_context::RowContext;
use super::special_rules::SpecialRules;
use super::survey::Survey;
use super::survey::numbers::header_currencies::{amount_column, header_currencies};
use super::survey::rows::RowSurvey;
use crate::lookup;
use crate::typed_value::Value;

/// Separator between the cells of a group's name. Never part of a cell.
pub const SEPARATOR: char = '\u{1f}';

/// Maps the rows of one sheet by a template and a layout of its columns.
#[derive(Clone)]
pub struct Mapper<'t> {
    /// Index of the sheet among the sheets read together.
    table: usize,
    template: &'t Template,
    layout: &'t Layout,
    survey: &'t Survey,
    /// By column: the currency in the header above amounts. Empty if no header names a currency.
    header_currencies: Vec<Option<CurrencyMark>>,
    special: SpecialRules,
    /// What values stand for, if looked up.
    resolved: Option<&'t Resolved>,
}

/// The kind of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowKind {
    /// A record, or a row of a record with several.
    #[default]
    Record,
    /// Not a record to send, for this reason.
    Skipped(SkipReason),
    /// Another text of the sheet, such as a heading. The only problem of the draft names the kind of text.
    NoRecord,
}

/// A mapped row. Reusing it for the next row keeps its buffers.
#[derive(Debug, Default)]
pub struct Draft {
    pub kind: RowKind,
    /// The group column's text, or blank. Rows with equal texts form one record.
    pub group: String,
    pub gathered: Gathered,
    /// Present if the rows of one mapper alone are mapped with it.
    pub memo: Option<Memo>,
}

impl Draft {
    /// Turns this into the draft of a skipped row.
    pub fn skip(&mut self, row: u64, cause: SkipReason) {
        self.gathered.begin(row);
        self.group.clear();
        self.kind = RowKind::Skipped(cause);
    }
}

impl<'t> Mapper<'t> {
    pub fn new(table: usize, template: &'t Template, layout: &'t Layout, survey: &'t Survey) -> Mapper<'t> {
        let header_currencies = header_currencies(template, layout);
        let special = SpecialRules::new(template, layout);
        Mapper { table, template, layout, survey, header_currencies, special, resolved: None }
    }

    /// Sends the ids of records in the place of values that stand for them.
    #[must_use]
    pub fn resolving(self, resolved: Option<&'t Resolved>) -> Mapper<'t> {
        Mapper { resolved, ..self }
    }

    pub fn template(&self) -> &'t Template {
        self.template
    }

    /// Whether the sheet is an export of a list of the service.
    pub fn reads_an_export(&self) -> bool {
        self.layout.is_export()
    }

    /// Returns the currency in the header above an amount.
    pub(super) fn header_currency(&self, rule: usize, columns: &Columns) -> Option<CurrencyMark> {
        if self.header_currencies.is_empty() {
            return None;
        }
        let column = amount_column(self.rule(rule).0, columns)?;
        self.header_currencies.get(column).copied().flatten()
    }

    /// Returns the rule of a record's name, if the name comes from a column.
    pub fn name_rule(&self) -> Option<usize> {
        self.special.name
    }

    pub(super) fn row_survey(&self) -> &'t RowSurvey {
        &self.survey.rows
    }

    pub(super) fn table(&self) -> usize {
        self.table
    }

    pub(super) fn special(&self) -> &SpecialRules {
        &self.special
    }

    pub(super) fn layout(&self) -> &'t Layout {
        self.layout
    }

    /// Maps one row into `draft`, with all problems of the row.
    pub fn map(&self, row: &Row, draft: &mut Draft) {
        draft.gathered.begin(row.number);
        draft.group.clear();
        draft.kind = RowKind::Record;
        let budget = Budget::of_row(row.text_len());
        let skipped = if self.was_sent(row) {
            Some(SkipReason::AlreadySent)
        } else if self.repeats_header(row) {
            Some(SkipReason::RepeatedHeader)
        } else {
            self.left_out(row, &budget, &mut draft.gathered).unwrap_or_else(|problem| {
                draft.gathered.problems.push(*problem);
                None
            })
        };
        if let Some(cause) = skipped {
            draft.kind = RowKind::Skipped(cause);
            return;
        }
        if let Some((column, cause)) = self.no_record(row) {
            let value = column.map(|column| excerpt(&self.cell(row, column).shown())).unwrap_or_default();
            draft.gathered.problems.clear();
            draft.gathered.problems.push(self.problem_at(row.number, column, "", value, cause));
            draft.kind = RowKind::NoRecord;
            return;
        }
        for (nth, column) in self.layout.group.iter().enumerate() {
            let cell = self.cell(row, *column);
            if nth > 0 {
                draft.group.push(SEPARATOR);
            }
            let text = cell.shown();
            draft.group.push_str(text.trim());
            if text.trim().len() < text.len() && draft.gathered.padded_group.is_none() {
                draft.gathered.padded_group = Some(text.into_owned());
            }
            draft.gathered.problems.extend(self.group_damage(row, *column));
        }
        if draft.group.chars().all(|c| c == SEPARATOR) {
            draft.group.clear();
        }
        for (index, (rule, columns)) in self.template.fields.iter().zip(&self.layout.columns).enumerate() {
            let start = draft.gathered.values.len();
            let memo = draft.memo.as_mut();
            match self.write_value(index, columns, (row, &budget, memo), &mut draft.gathered.values) {
                Ok(Written::Value { currency, doubt }) => {
                    draft.gathered.push_value(index, start, row.number);
                    self.push_money(&mut draft.gathered, currency, index, columns, row.number);
                    self.warn_of_number(&mut draft.gathered, doubt, (rule, columns), row);
                    draft.gathered.problems.extend(self.price_of_several(rule, columns, row));
                    draft.gathered.problems.extend(self.other_value(index, columns, row));
                }
                Ok(Written::Blank) => draft.gathered.problems.extend(self.only_other_value(index, columns, row)),
                Err(cause) => {
                    draft.gathered.values.truncate(start);
                    draft.gathered.push_invalid(index, row.number);
                    // Fields after the exhausted budget are not the cause, so they are not reported.
                    let is_known =
                        matches!(cause, Cause::TooMuch(_)) && draft.gathered.problems.iter().any(Problem::is_too_much);
                    if !is_known {
                        draft.gathered.problems.push(self.problem(rule, columns, row, cause));
                    }
                }
            }
        }
        self.map_lines((row, &budget), &mut draft.gathered, &mut draft.memo);
        self.warn_of_row(row, &budget, &mut draft.gathered);
        if let Some(rule) = self.special.name.filter(|_| self.lacks_name(row)) {
            draft.gathered.warnings.push(self.same_value(row.number, rule, "", Cause::NoName));
        }
    }

    /// Adds what another row gives to a record. Different values for the same field are a problem at the cell.
    pub fn merge(&self, into: &mut Gathered, from: &Gathered) {
        if let (Some(first), Some(row)) = (into.rows.first(), from.rows.first())
            && into.padded_group.is_some() != from.padded_group.is_some()
        {
            let (row, other_row) = if from.padded_group.is_some() { (*row, *first) } else { (*first, *row) };
            let padded = from.padded_group.as_ref().or(into.padded_group.as_ref());
            let value = padded.map(|text| excerpt(text)).unwrap_or_default();
            let column = self.layout.group.first().copied();
            into.warnings.push(self.problem_at(row, column, "group", value, Cause::OnlySpacesDiffer { other_row }));
        }
        for conflict in into.merge(from) {
            let (rule, columns) = self.rule(conflict.rule);
            let cause = Cause::Disagrees { other_row: conflict.other_row, other: conflict.other };
            into.problems.push(self.problem_at(conflict.row, columns.first(), rule.field.name, conflict.value, cause));
        }
    }

    /// Returns column indexes and texts of cells.
    pub(super) fn cells(&self, columns: &Columns, row: &Row) -> Vec<(usize, String)> {
        columns.iter().map(|column| (own_column(column), self.cell(row, column).shown().into_owned())).collect()
    }

    /// Applies one rule to columns of a row. Returns the JSON value, or `None` for an omitted field.
    pub(super) fn try_rule(&self, index: usize, columns: &Columns, row: &Row) -> Result<Option<String>, Box<Problem>> {
        let (rule, _) = self.rule(index);
        let mut json = String::new();
        let budget = Budget::of_row(row.text_len());
        let written =
            self.write_value(index, columns, (row, &budget, None), &mut json).and_then(|written| match written {
                Written::Value { .. } => Ok(true),
                Written::Blank => self.write_replacement(rule, &mut json),
            });
        match written {
            Ok(has_value) => Ok(has_value.then_some(json)),
            Err(cause) => Err(Box::new(self.problem(rule, columns, row, cause))),
        }
    }

    /// Returns the name of the sheet's locale.
    pub(super) fn locale(&self) -> Option<&'t str> {
        self.template.sheet.locale.as_deref()
    }

    /// Returns a rule of the template and its columns. `index` counts as in [`Template::rules`].
    pub(super) fn rule(&self, index: usize) -> (&'t FieldRule, &'t Columns) {
        (self.template.rule(index).expect("the index of a rule"), &self.layout.columns[index])
    }

    /// Whether a report shows that the row was sent and must not be sent again.
    fn was_sent(&self, row: &Row) -> bool {
        let status = self.layout.status.filter(|_| self.template.input().must_not_repeat());
        let state = |status: usize| match row.get(status) {
            Cell::Text(word) => english_state(word),
            _ => None,
        };
        matches!(status.and_then(state), Some("sent" | "unknown"))
    }

    /// Returns whether a row is the header again, as on every page of a printed list.
    fn repeats_header(&self, row: &Row) -> bool {
        if matches!(self.template.sheet.header, HeaderRow::None) {
            return false;
        }
        let names = &self.layout.header.names;
        let is_name = |column: usize| match self.cell(row, column) {
            Cell::Blank => None,
            _ if column_of_header_text(column).is_some() => None,
            Cell::Text(text) => Some(names.get(column).is_some_and(|name| is_same_header(name, text))),
            _ => Some(false),
        };
        let mut cells = self.layout.columns.iter().flat_map(Columns::iter).filter_map(is_name);
        cells.next() == Some(true) && cells.all(|is_name| is_name)
    }

    /// Returns a cell, or the header of a column.
    pub(super) fn cell<'r>(&self, row: &'r Row, column: usize) -> Cell<'r>
    where
        't: 'r,
    {
        if let Some(column) = column_of_header_text(column) {
            return self.layout.header.names.get(column).map_or(Cell::Blank, |name| Cell::Text(name.trim()));
        }
        row.get(column)
    }

    /// Returns a cell. Fails for an error value or a cut text.
    pub(super) fn usable_cell<'r>(&self, row: &'r Row, column: usize) -> Result<Cell<'r>, Cause>
    where
        't: 'r,
    {
        // The texts of an export come from the service.
        let is_export = self.layout.is_export();
        match self.cell(row, column) {
            Cell::Text(text) if is_surely_usable(text) => Ok(Cell::Text(text)),
            Cell::Error(NOT_CALCULATED) => Err(Cause::NotCalculated),
            Cell::Error(STORED_TWICE) => Err(Cause::StoredTwice),
            Cell::Error(_) => Err(Cause::CellError),
            Cell::Text(text) if write::is_cut(text) => Err(Cause::Cut),
            Cell::Text(text) if text.contains(char::REPLACEMENT_CHARACTER) && !is_export => Err(Cause::LostLetters),
            Cell::Text(text) if error_value::is_error(text) && !is_export => Err(Cause::CellError),
            Cell::Text(text) if error_value::is_stand_in(text) && !is_export => Err(Cause::NotShown),
            cell => Ok(cell),
        }
    }

    /// Returns the value of a cell. Numbers of identifiers become text, to count their digits.
    fn value<'r>(&self, rule: &FieldRule, row: &'r Row, column: usize) -> Result<Value<'r>, Cause>
    where
        't: 'r,
    {
        if let Some(marked) = self.marked_parts(rule, row, column) {
            return Err(Cause::MarkedParts(marked));
        }
        match self.usable_cell(row, column)? {
            Cell::Rounded(number, decimals) if rule.is_name && shows_fraction(number, decimals) => {
                Ok(Value::Text(Cow::Owned(format!("{number:.0$}", usize::from(decimals)))))
            }
            Cell::Number(number) | Cell::Money(number, _) | Cell::Rounded(number, _) if rule.is_name => {
                Ok(Value::Text(Cow::Owned(identifier::from_f64(number).map_err(Cause::Damaged)?)))
            }
            Cell::Formatted(_, shown) if rule.is_name => Ok(Value::Text(Cow::Borrowed(shown))),
            // The formula ="0042" keeps the zeros of an identifier in a CSV.
            Cell::Text(text) => Ok(Value::Text(Cow::Borrowed(unquoted_formula(text)))),
            cell => Value::from_cell(&cell).map_err(Cause::NotANumber),
        }
    }

    /// Returns the displayed text of a workbook cell, if the field is for texts and the value has another text. Identifiers have
    /// separate rules.
    fn shown_text<'r>(&self, rule: &FieldRule, row: &'r Row, column: usize) -> Option<&'r str> {
        let shown = row.shown(column).filter(|_| rule.is_plain_text())?;
        (shown.is_certain || !shown.text.is_empty()).then_some(shown.text)
    }

    /// Returns the notation of numbers in the texts of a column.
    pub(super) fn notation(&self, locale: Option<Locale>, column: usize) -> Notation<'t> {
        Notation::Column { locale, style: self.survey.numbers(column) }
    }

    /// Appends the value of a rule for these columns. The length counts towards the budget of the row.
    pub(super) fn write_value(
        &self,
        index: usize,
        columns: &Columns,
        (row, budget, memo): (&Row, &Budget, Option<&mut Memo>),
        out: &mut String,
    ) -> Result<Written, Cause> {
        let start = out.len();
        let mut repeated = memo.filter(|_| self.resolved.is_none()).zip(self.repeatable(index, columns, row));
        if let Some((memo, place)) = &mut repeated
            && let Some(written) = memo.write(index, *place, out)
        {
            budget.text(out.len() - start).map_err(Cause::TooMuch)?;
            return Ok(written);
        }
        let written = self.convert(index, columns, (row, budget), out)?;
        if let Some((memo, place)) = repeated {
            memo.keep(index, place, &out[start..], written);
        }
        if self.rule(index).0.place == Place::Command && out.len() > start {
            let command = commands::command(&unquoted(&out[start..]), self.template.record)?;
            out.truncate(start);
            json::text(out, command.name());
        }
        if let (Some(resolved), Written::Value { .. }) = (self.resolved, &written) {
            resolved.replace(index, start, out)?;
        }
        budget.text(out.len().saturating_sub(start)).map_err(Cause::TooMuch)?;
        Ok(written)
    }

    /// Returns the column and the text of a cell, if they alone decide the value of a rule.
    pub(super) fn repeatable<'r>(&self, index: usize, columns: &Columns, row: &'r Row) -> Option<(usize, &'r str)> {
        let Columns::One(column) = columns else { return None };
        let Cell::Text(text) = row.get(*column) else { return None };
        let (rule, _) = self.rule(index);
        let is_converted_alone = matches!(rule.source, Source::Column(_))
            && !rule.changes_text()
            && rule.place != Place::Command
            && text.len() <= memo::MAX_BYTES
            && row.is_plain();
        is_converted_alone.then_some((*column, text))
    }

    fn convert(
        &self,
        index: usize,
        columns: &Columns,
        (row, budget): (&Row, &Budget),
        out: &mut String,
    ) -> Result<Written, Cause> {
        let (rule, _) = self.rule(index);
        let is_export = self.reads_an_export();
        let (date, locale, currency) = (self.survey.dates(index), self.locale(), self.template.sheet.currency);
        let conversion = Conversion { rule, date, locale, currency, budget, is_export };
        let notation = |column| self.notation(rule.number.locale, column);
        match (&rule.source, columns) {
            (Source::Constant(constant), _) => {
                json::constant(out, constant);
                Ok(Written::PLAIN)
            }
            (Source::Column(_), Columns::One(column)) => {
                let value = self.value(rule, row, *column)?;
                if matches!(value, Value::Date(_) | Value::DateTime(_)) && self.survey.are_turned(index) {
                    return Err(Cause::TurnedDate);
                }
                let input = match self.shown_text(rule, row, *column) {
                    Some(shown) if rule.translate.is_none() => {
                        Input::cell(Value::Text(shown.into()), notation(*column))
                    }
                    shown => Input { shown, ..Input::cell(value, notation(*column)) },
                };
                conversion.write(input, out)
            }
            (Source::Joined { .. }, Columns::Several(columns)) if rule.compares_several_columns() => {
                let mut texts = Vec::with_capacity(columns.len());
                budget.text(self.length(columns, row)).map_err(Cause::TooMuch)?;
                for column in columns {
                    texts.push(match column {
                        Some(column) => self.value(rule, row, *column)?.text().into_owned(),
                        None => String::new(),
                    });
                }
                match lookup::key(texts.into_iter()) {
                    Some(key) => conversion.write(Input::cell(Value::Text(Cow::Owned(key)), Notation::Canonical), out),
                    None => Ok(Written::Blank),
                }
            }
            (Source::Joined { with, .. }, Columns::Several(columns)) => {
                let mut values = Vec::new();
                budget.text(self.length(columns, row)).map_err(Cause::TooMuch)?;
                for column in columns.iter().flatten() {
                    let value = self.value(rule, row, *column)?;
                    let shown = self.shown_text(rule, row, *column);
                    let value = shown.map_or(value, |shown| Value::Text(shown.into()));
                    if !value.is_blank() {
                        values.push((value, notation(*column)));
                    }
                }
                let input = match values.len() {
                    0 => return Ok(Written::Blank),
                    // A single value keeps its type.
                    1 => values.pop().map(|(value, notation)| Input::cell(value, notation)).expect("a value"),
                    _ => {
                        let notation = joined_notation(&values);
                        let texts: Vec<String> =
                            values.iter().map(|(value, _)| value.text().trim().to_owned()).collect();
                        budget.text(with.len().saturating_mul(texts.len())).map_err(Cause::TooMuch)?;
                        let joined = Value::Text(Cow::Owned(texts.join(with)));
                        Input { step: Some("join"), ..Input::cell(joined, notation) }
                    }
                };
                conversion.write(input, out)
            }
            (Source::Text { expression, written }, Columns::Several(columns)) => {
                let mut values = Vec::with_capacity(columns.len());
                for column in columns {
                    values.push(match column {
                        Some(column) => (self.value(rule, row, *column)?, notation(*column)),
                        None => (Value::Blank, Notation::Canonical),
                    });
                }
                let notation = joined_notation(&values);
                let shown = columns.iter().map(|column| self.shown_text(rule, row, (*column)?)).collect();
                let time_zone = rule.date.time_zone.as_ref();
                let context = RowContext { shown, time_zone, ..self.context(values, row.number, budget) };
                let value = expression.eval(&context).map_err(|error| context.cause(error, written))?;
                conversion.write(Input { step: Some("text"), ..Input::cell(value, notation) }, out)
            }
            _ => Ok(Written::Blank),
        }
    }

    /// Returns the bytes of the texts in columns of a row.
    fn length(&self, columns: &[Option<usize>], row: &Row) -> usize {
        let length = |column: &usize| match self.cell(row, *column) {
            Cell::Text(text) | Cell::Formatted(_, text) => text.len(),
            _ => row.shown(*column).map_or(0, |shown| shown.text.len()),
        };
        columns.iter().flatten().map(length).sum()
    }

    /// Warns of a doubtful number that is sent, including an identifier in a field of texts.
    pub(super) fn warn_of_number(
        &self,
        gathered: &mut Gathered,
        doubt: Option<Doubt>,
        (rule, columns): (&FieldRule, &Columns),
        row: &Row,
    ) {
        let cause = match doubt {
            None if rule.is_name => columns
                .first()
                .and_then(|column| match self.cell(row, column) {
                    Cell::Text(text) if rule.damaged != Damaged::Accept && !self.reads_an_export() => {
                        identifier::ungrouped(text).map(|plain| Cause::MayBeGrouped { plain })
                    }
                    cell => may_lack_zero(cell),
                })
                .or_else(|| self.missing_zeros(rule, columns, row)),
            None if rule.is_plain_text() && rule.translate.is_none() => {
                columns.iter().find_map(|column| self.doubt_of_shown(row, column))
            }
            None => return,
            Some(Doubt::PercentSign(percent)) => Some(Cause::PercentSign(percent)),
            Some(Doubt::Word) => columns.first().and_then(|column| word_beside(self.cell(row, column))),
        };
        gathered.warnings.extend(cause.map(|cause| self.problem(rule, columns, row, cause)));
    }

    /// Returns the warning about an identifier of digits that is shorter than the others of its column, which begin with zeros.
    fn missing_zeros(&self, rule: &FieldRule, columns: &Columns, row: &Row) -> Option<Cause> {
        let column = columns.first().filter(|_| !rule.changes_text() && rule.damaged != Damaged::Accept)?;
        let shown = self.cell(row, column).shown();
        let usual = self.row_survey().missing_zeros(column, shown.trim())?;
        Some(Cause::LacksZeros { usual })
    }

    /// Returns the warning about a cell in a text that other programs display differently, or with hidden digits.
    fn doubt_of_shown(&self, row: &Row, column: usize) -> Option<Cause> {
        let cell = self.cell(row, column);
        match row.shown(column) {
            Some(shown) if !shown.is_certain => Some(Cause::ShownByComputer { is_known: !shown.text.is_empty() }),
            _ => hides_digits(cell).map(|_| Cause::HiddenDigits),
        }
    }

    /// Returns the replacement for blank cells. Fails if the field must not be blank.
    pub(super) fn replacement<'r>(&self, rule: &'r FieldRule) -> Result<Option<&'r Constant>, Cause> {
        match &rule.on_blank {
            _ if matches!(rule.source, Source::Constant(_)) => Ok(None),
            OnBlank::Omit => Ok(None),
            OnBlank::Null => Ok(Some(&Constant::Null)),
            OnBlank::Error => Err(Cause::Blank),
            OnBlank::Default(constant) => Ok(Some(constant)),
        }
    }

    /// Returns the replacement for the blank cells of a rule, by its index.
    pub(super) fn replacement_of(&self, index: usize) -> Option<&'t Constant> {
        self.replacement(self.rule(index).0).ok().flatten()
    }

    /// Appends the replacement for blank cells. Returns `false` for an omitted field.
    pub(super) fn write_replacement(&self, rule: &FieldRule, out: &mut String) -> Result<bool, Cause> {
        Ok(self.replacement(rule)?.inspect(|constant| json::constant(out, constant)).is_some())
    }
}

/// Returns the notation of a text joined from several values: the notation of the first text, unless a number has a decimal
/// point.
fn joined_notation<'a>(values: &[(Value<'_>, Notation<'a>)]) -> Notation<'a> {
    let has_point = |value: &Value<'_>| match value {
        Value::Number(number) | Value::Money(number, _) | Value::Percent(number) | Value::Formatted(number, _) => {
            number.scale() > 0
        }
        _ => false,
    };
    if values.iter().any(|(value, _)| has_point(value)) {
        return Notation::Canonical;
    }
    let text = values.iter().find(|(value, _)| matches!(value, Value::Text(_)));
    text.or(values.first()).map_or(Notation::Canonical, |(_, notation)| *notation)
}

/// Whether a text is short and of letters and signs of ASCII, as most are, and begins like neither an error of a formula nor what programs
/// show in its place.
fn is_surely_usable(text: &str) -> bool {
    const MAX_BYTES: usize = 256;
    matches!(text.as_bytes(), [b'!'..=b'~', ..])
        && !text.starts_with(['#', 'E', 'L'])
        && text.len() <= MAX_BYTES
        && text.is_ascii()
}

/// Returns the text of a formula such as `="0042"`, or the text itself.
fn unquoted_formula(text: &str) -> &str {
    if !text.ends_with('"') && !text.ends_with(char::is_whitespace) {
        return text;
    }
    let inner = text.trim().strip_prefix("=\"").and_then(|rest| rest.strip_suffix('"'));
    inner.filter(|inner| !inner.contains('"')).unwrap_or(text)
}

/// Compares a cell with the name of its column.
fn is_same_header(name: &str, cell: &str) -> bool {
    let cell = without_mark(cell);
    // Most cells differ in the first letter.
    let initial = |text: &str| text.trim_start().chars().next().map(|c| c.to_lowercase().next());
    !name.is_empty() && initial(name) == initial(cell) && same_header(name, cell)
}
