//! Writing a run's report, with drop-down lists from the template.

use std::collections::BTreeMap;
use std::path::Path;

use sheetport_ledger::{Run, RunId};
use sheetport_mapping::model::{Source, Translate};
use sheetport_mapping::{Template, language_of};
use sheetport_report::{Choices, CsvForm, Format, MAX_CHOICES, Request, RowFilter, Written};
use sheetport_sheet::ReportWords;
use sheetport_sheet::write::Existing;

use super::super::context::Context;
use super::super::event::{Event, Observer};
use super::super::files::{report_format, write_report};
use super::super::templates::load_template::template_of_run;
use super::next_command;
use super::unsent::check_has_plan;
use crate::operation::Operation;

/// A report to write from the ledger.
#[derive(Clone, Copy, Debug)]
pub struct ReportRequest<'a> {
    /// The newest run if `None`.
    pub run: Option<RunId>,
    pub path: &'a Path,
    /// The usual rows of the format if `None`.
    pub rows: Option<RowFilter>,
    pub existing: Existing,
    /// The format of a CSV. Missing settings come from the locale of the user, or else from the file of the run.
    pub csv: CsvForm,
    /// Includes the next command.
    pub has_next: bool,
    /// Hides data in the report that a supplier should not see. `None` uses the setting of the run.
    pub for_supplier: Option<bool>,
}

impl ReportRequest<'_> {
    /// Returns the request for a new report of a run, as the run was asked for.
    pub fn of_run(run: RunId, path: &Path) -> ReportRequest<'_> {
        ReportRequest {
            run: Some(run),
            path,
            rows: None,
            existing: Existing::Keep,
            csv: CsvForm::default(),
            has_next: true,
            for_supplier: None,
        }
    }
}

/// Writes a report. Returns the run and the next command.
pub fn report<'a>(
    context: &'a Context,
    request: &'a ReportRequest<'a>,
    observer: Observer<'a>,
) -> Operation<'a, (Run, Written, Option<String>)> {
    Box::pin(async move {
        let format = report_format(request.path)?;
        let ledger = context.readable_ledger().await?;
        let run = ledger.run_or_newest(request.run).await?;
        check_has_plan(&run, "reported")?;
        let accounting = ledger.accounting(run.id).await?;
        // A report of rows that are settled is nothing to go on with.
        let named = request.rows.is_none_or(RowFilter::has_open_rows).then_some(request.path);
        let next = next_command::after_run(context, &run, &accounting, None, named);
        let next = next.filter(|_| request.has_next);
        let for_supplier = request.for_supplier.unwrap_or(run.about.settings.for_supplier);
        let choices = choices(&run, format, for_supplier, observer);
        let request = Request {
            path: request.path,
            format,
            existing: request.existing,
            rows: request.rows.unwrap_or_else(|| format.default_rows()),
            next: next.as_deref(),
            is_kept: true,
            choices: &choices,
            csv: request.csv.or(context.csv_form()),
            words: words(context, &run, format),
            for_supplier,
        };
        let written = write_report(context, &ledger, &run, &request).await?;
        ledger.close().await;
        Ok((run, written, next))
    })
}

/// Returns the words of a report: the chosen ones, or else in the language of the titles of the sheet, or else of the locale of
/// the template. A CSV is for programs, which need the same words of every sheet.
pub(crate) fn words(context: &Context, run: &Run, format: Format) -> &'static ReportWords {
    if let Some(words) = context.report_words {
        return words;
    }
    if format == Format::Csv {
        return ReportWords::of(None);
    }
    if let Some(language) = language_of(&run.about.header) {
        return ReportWords::of(Some(language));
    }
    let locale = template_of_run(&run.about).ok().and_then(|template| template.sheet.locale);
    ReportWords::of(locale.as_deref().and_then(|locale| locale.split(['-', '_']).next()))
}

/// Returns the drop-down lists of a report, from the run's own copy of the template. A supplier gets no lists of keys of lookup
/// tables.
pub(crate) fn choices(run: &Run, format: Format, for_supplier: bool, observer: Observer<'_>) -> Vec<Choices> {
    if format != Format::Xlsx {
        return Vec::new();
    }
    match template_of_run(&run.about) {
        Ok(template) => choices_of(&template, run, for_supplier),
        Err(error) => {
            observer(Event::Warning(&format!(
                "the report has no drop-down lists, because the template can't be read again: {error}"
            )));
            Vec::new()
        }
    }
}

fn choices_of(template: &Template, run: &Run, for_supplier: bool) -> Vec<Choices> {
    let mut columns = run.about.columns.iter().peekable();
    // By column. `None` if a column is used by several fields, because a valid value of one field may be invalid for another.
    let mut choices: BTreeMap<usize, Option<Choices>> = BTreeMap::new();
    for rule in template.rules().filter(|rule| !matches!(rule.source, Source::Constant(_))) {
        // The run lists the rules with a column in the sheet, in the template's order.
        let Some((_, column)) = columns.next_if(|(field, _)| field == rule.field.name) else { continue };
        let is_lookup = matches!(rule.translate, Some(Translate::Lookup(_)));
        let of_rule = rule.listed_values().filter(|_| !(is_lookup && for_supplier)).map(|values| {
            let count = values.len();
            let fits = count <= MAX_CHOICES;
            let values = values.take(if fits { count } else { 0 }).map(|value| value.trim().to_owned());
            let values = values.chain(rule.clear.clone().filter(|_| fits)).collect();
            Choices { column: *column, count, is_closed: rule.listed_values_are_all(), values }
        });
        choices.entry(*column).and_modify(|known| *known = None).or_insert(of_rule);
    }
    choices.into_values().flatten().collect()
}
