//! Proposes a template: assigns columns, collects the keys of each field, and writes the text.

use sheetport_documents::write::{inline_table, quoted};
use sheetport_mapping::bind::bind;
use sheetport_mapping::load::{load, no_tables};
use sheetport_mapping::model::Place;
use sheetport_mapping::words::movements::is_state_header;
use sheetport_records::{Field, JsonType, RecordKind};
use sheetport_words::{ValueKind, vocabulary};

use super::context::Context;
use super::headers::{Slot, Slots};
use super::matching::{Assignments, are_identifiers};
use super::mismatch::is_order_list;
use super::previous_templates::{PreviousTemplate, Step, WrittenRule};
use super::proposal::{
    Confidence, FieldProposal, GroupProposal, MissingField, Proposal, ProposedSource, SheetColumn, SkipProposal,
};
use super::record_layout::fill_down::{self, FillDownProposal};
use super::record_layout::{movements, unpivot};
use super::sample::{Column, ExtraRows, Sample};
use super::text::{Evidence, TemplateText, Trial};

/// Maximum number of columns suggested for a missing field.
const MAX_CANDIDATES: usize = 3;
/// Values of a column from which a person sees what it has.
const MAX_SAMPLES: usize = 3;

/// Proposes a template for a sheet.
pub fn propose(kind: RecordKind, sample: &Sample, context: &Context<'_>) -> Proposal {
    let slots = Slots::of(kind);
    let assignments = Assignments::new(slots, &sample.columns, context.previous);
    let evidence = Evidence { kind, sample, assignments: &assignments, previous: context.previous };
    let mut warnings = Vec::new();
    let mut fields = evidence.fields(&mut warnings);
    let unpivot = unpivot::propose(kind, sample, &mut fields);
    movements::propose(kind, sample, &mut fields);
    warn_about_quantities(&assignments, &mut fields, &mut warnings);
    warn_about_sheet(sample, &mut warnings);
    let is_other_kind = kind == RecordKind::Item && is_order_list(sample);
    if is_other_kind {
        warnings.push("the rows seem to be the lines of orders, and not items: see --record order".to_owned());
    }
    let is_kind_guess = context.is_kind_guess || is_other_kind;
    let missing = missing_fields(kind, &fields, sample);
    let group = group(&assignments, &fields);
    let is_grouped_by = |index: usize| group.as_ref().is_some_and(|group| group.column.is_from_column(index));
    let without_field = sample.columns.iter().filter(|column| {
        let is_used =
            assignments.has_column(column.index) || fields.iter().any(|field| field.is_from_column(column.index));
        !is_used && !is_grouped_by(column.index)
    });
    let without_field: Vec<&Column> = without_field.collect();
    warn_about_tax_words(slots, &without_field, &mut warnings);
    let unplaced: Vec<String> = without_field.iter().map(|column| column.label.clone()).collect();
    let skips = skipped_rows(sample, slots, &fields);
    let filled = fill_down(&assignments, sample);
    let used: Vec<&PreviousTemplate> = assignments
        .templates()
        .filter_map(|name| context.previous.iter().find(|template| template.name == name))
        .collect();
    let previous_top: Vec<Step> = used.iter().find_map(|template| template.duplicates()).cloned().into_iter().collect();
    let previous_sheet = previous_sheet(&used, sample);
    let previous_rules = previous_rules(&used, &fields);
    let has_rules = previous_rules.iter().any(|(_, rule)| rule.contains("transactionType"));
    let rule_of_signs = movements::rule_of_signs(kind, &fields).filter(|_| !has_rules);
    let text = TemplateText {
        kind,
        is_kind_guess,
        context,
        sample,
        fields: &fields,
        missing: &missing,
        group: group.as_ref(),
        skips: &skips,
        fill_down: filled.as_ref(),
        unpivot: unpivot.as_ref(),
        unplaced: &unplaced,
        previous_top: &previous_top,
        previous_sheet: &previous_sheet,
        previous_rules: &previous_rules,
        rule_of_signs: rule_of_signs.as_deref(),
        used: &used,
    };
    let toml = with_header_row(&text, sample);
    let toml = match Trial::new(&toml, sample) {
        Some(trial) => {
            if let Some(example) = trial.ambiguous_number() {
                warnings.push(format!("numbers such as {example} can be read in two ways: add locale to [sheet]"));
            }
            trial.with_examples()
        }
        None => toml,
    };
    let is_field = |group: &GroupProposal| match group.column.source {
        ProposedSource::Column { index, .. } => fields.iter().any(|field| field.is_from_column(index)),
        ProposedSource::Constant(_) | ProposedSource::Computed { .. } => false,
    };
    let grouped_by = group.filter(|group| !is_field(group)).map(|group| group.column);
    let columns = sample.columns.iter().map(sheet_column).collect();
    Proposal { kind, is_kind_guess, is_other_kind, fields, missing, unplaced, columns, grouped_by, warnings, toml }
}

/// Returns the keys of `[sheet]` of earlier templates, each with the name of the first template that uses the key.
fn previous_sheet<'a>(used: &[&'a PreviousTemplate], sample: &Sample) -> Vec<(&'a str, &'a Step)> {
    let mut steps: Vec<(&str, &Step)> = Vec::new();
    for template in used {
        for step in template.sheet_steps(&sample.columns) {
            if !steps.iter().any(|(_, known)| known.key == step.key) {
                steps.push((&template.name, step));
            }
        }
    }
    steps
}

/// Returns the rules of earlier templates about fields of the proposal.
fn previous_rules<'a>(used: &[&'a PreviousTemplate], fields: &[FieldProposal]) -> Vec<(&'a str, &'a str)> {
    let has_fields =
        |rule: &&WrittenRule| rule.fields.iter().all(|(place, name)| fields.iter().any(|field| field.is(*place, name)));
    let mut rules: Vec<(&str, &str)> = Vec::new();
    for template in used {
        for rule in template.record_rules().iter().filter(has_fields) {
            if !rules.iter().any(|(_, known)| *known == rule.toml) {
                rules.push((&template.name, &rule.toml));
            }
        }
    }
    rules
}

/// Warns of movements without a quantity, and of a column with the stock of each item as the quantity of movements, which would
/// be added to the stock.
fn warn_about_quantities(assignments: &Assignments<'_>, fields: &mut [FieldProposal], warnings: &mut Vec<String>) {
    let quantities = assignments.slots.kind.input().quantities;
    if !quantities.is_empty() && !fields.iter().any(|field| quantities.contains(&field.name)) {
        warnings
            .push("no quantity was found: without amount or transactionAmount, a transaction moves nothing".to_owned());
    }
    for field in fields {
        let ProposedSource::Column { label, .. } = &field.source else { continue };
        let is_quantity = quantities.contains(&field.name);
        let is_stock = vocabulary().is_stock_header(label) || is_state_header(label);
        if is_quantity && is_stock && !matches!(field.confidence, Confidence::AsIn(_)) {
            warnings.push(format!(
                "'{label}' may be the stock, and not a movement: goods in would be added to the stock; for a count, use \
                 the template stock-count, which sends the differences"
            ));
            field.confidence = Confidence::Guess;
        }
    }
}

/// Warns of words below the name of a tax rate, such as yes and no. They are no rates, so that the column is not used.
fn warn_about_tax_words(slots: &Slots, unused: &[&Column], warnings: &mut Vec<String>) {
    for Column { header, label, profile, .. } in unused.iter().filter(|column| column.profile.numbers == 0) {
        let is_rate = |slot: &&Slot| slot.values == ValueKind::TaxRate && slot.names.has_name(header);
        if let (Some(slot), Some((word, _))) = (slots.iter().find(is_rate), profile.values.first()) {
            let table = format!(
                "[{}.{}]",
                if slot.place == Place::Line { "lines" } else { "fields" },
                slot.field.map_or("tax", |field| field.name)
            );
            let keys = format!(
                "column = {}, map = {}",
                quoted(label),
                inline_table([(word.as_str(), "19".to_owned())].into_iter())
            );
            warnings.push(format!(
                "'{label}' has words such as {word}, which are no rates of tax, and is not used; to send a rate for each, add \
                 {table} with {keys}"
            ));
        }
    }
}

fn warn_about_sheet(sample: &Sample, warnings: &mut Vec<String>) {
    if !sample.has_header && sample.header_row.is_some() {
        warnings.push("no row names the columns: add one, or the first row counts as the header".to_owned());
    }
    if sample.ignored_columns > 0 {
        let columns = sample.columns.len();
        warnings.push(format!("{} columns after the first {columns} were ignored", sample.ignored_columns));
    }
}

/// Returns the template with `header = "auto"`, because the header of the next file may be in another row, or with the row
/// number if `"auto"` finds another row.
fn with_header_row(text: &TemplateText<'_>, sample: &Sample) -> String {
    let automatic = text.to_toml(None);
    let finds_header = match load("proposal", &automatic, &no_tables) {
        Ok(template) => bind(&template, &sample.top).is_ok_and(|layout| Some(layout.header.row) == sample.header_row),
        // An incomplete template cannot be tried; a header in the first row is found anyway.
        Err(_) => !text.missing.is_empty() && sample.header_row == sample.top.first().map(|row| row.number),
    };
    if sample.has_header && finds_header { automatic } else { text.to_toml(sample.header_row) }
}

/// Returns the required fields without a source, each with the unused columns whose values fit. Only identifiers can be
/// recognized without a matching header.
fn missing_fields(kind: RecordKind, fields: &[FieldProposal], sample: &Sample) -> Vec<MissingField> {
    let input = kind.input();
    let is_used = |column: &Column| fields.iter().any(|field| field.is_from_column(column.index));
    let identifiers = sample.columns.iter().filter(|column| !is_used(column) && are_identifiers(&column.profile));
    let identifiers: Vec<SheetColumn> = identifiers.map(sheet_column).take(MAX_CANDIDATES).collect();
    // A list without codes: its unique names can identify the records.
    let names = sample.columns.iter().filter(|column| {
        let profile = &column.profile;
        let is_name = fields.iter().any(|field| field.name == "name" && field.is_from_column(column.index));
        is_name && profile.filled == profile.rows && profile.distinct == profile.filled
    });
    let names = names.map(sheet_column);
    let are_names = identifiers.is_empty();
    let identifiers = if are_names { names.collect() } else { identifiers };
    let missing_field = |field: &'static Field, place: Place| {
        let is_own_key = place == Place::Record && input.key.contains(&field.name);
        let candidates = if is_own_key { identifiers.clone() } else { Vec::new() };
        MissingField { field, place, candidates, are_names }
    };
    let has = |place: Place, name: &str| fields.iter().any(|field| field.is(place, name));
    let mut missing: Vec<MissingField> = Vec::new();
    let record = input.fields().filter(|field| field.required && !has(Place::Record, field.name));
    missing.extend(record.map(|field| missing_field(field, Place::Record)));
    if input.create.is_none() && !input.key.iter().any(|key| has(Place::Record, key)) {
        let key = input.key.iter().rev().find_map(|key| input.field(key));
        missing.extend(key.map(|field| missing_field(field, Place::Record)));
    }
    let needed = input.fields().filter(|field| input.needs_one_of.contains(&field.name));
    if !needed.clone().any(|field| has(Place::Record, field.name)) {
        missing.extend(needed.last().map(|field| missing_field(field, Place::Record)));
    }
    if let Some((list, lines)) = input.lines()
        && (list.required || fields.iter().any(|field| field.place == Place::Line))
    {
        let lines_fields = lines;
        let lines = lines.iter().filter(|field| field.required && !has(Place::Line, field.name));
        missing.extend(lines.map(|field| missing_field(field, Place::Line)));
        let mut needed = lines_fields.iter().filter(|field| input.needs_one_of.contains(&field.name));
        if !needed.clone().any(|field| has(Place::Line, field.name)) {
            missing.extend(needed.next_back().map(|field| missing_field(field, Place::Line)));
        }
    }
    missing
}

fn sheet_column(column: &Column) -> SheetColumn {
    SheetColumn {
        index: column.index,
        label: column.label.clone(),
        name: column.name.clone(),
        samples: column.profile.values.iter().take(MAX_SAMPLES).map(|(value, _)| value.clone()).collect(),
    }
}

/// Returns the grouping column: the key of the record, or the number of the group.
fn group(assignments: &Assignments<'_>, fields: &[FieldProposal]) -> Option<GroupProposal> {
    static FIELD: Field = Field::optional("group.by", JsonType::String, "which rows belong together");
    let slots = assignments.slots;
    let input = slots.kind.input();
    if input.lines().is_none() || !fields.iter().any(|field| field.place == Place::Line) {
        return None;
    }
    let is_key = |slot: &&Slot, key: &str| slot.place != Place::Line && slot.is_field(key);
    let keys = input.key.iter().flat_map(|key| slots.iter().filter(move |slot| is_key(slot, key)));
    let assignment = keys.chain(slots.group()).find_map(|slot| assignments.of(slot))?;
    let column = assignment.column;
    let source = ProposedSource::Column { index: column.index, label: column.label.clone(), name: column.name.clone() };
    let (reason, confidence) = (assignment.reason.clone(), assignment.confidence.clone());
    Some(GroupProposal {
        column: FieldProposal::new(&FIELD, Place::Id, source, reason, confidence),
        blank_is_above: column.profile.blank_below > 0,
    })
}

/// Returns filters for rows of totals, repeated headers, and rows without an identifier. A template has at most one filter, so
/// only the first can be certain.
fn skipped_rows(sample: &Sample, slots: &Slots, fields: &[FieldProposal]) -> Vec<SkipProposal> {
    let mut skips: Vec<SkipProposal> = extra_rows(sample, fields).into_iter().collect();
    for field in fields.iter().filter(|field| field.place == Place::Record) {
        let values = slots.find(Place::Record, field.name).map(|slot| slot.values);
        if !matches!(values, Some(ValueKind::Identifier | ValueKind::Title)) {
            continue;
        }
        let ProposedSource::Column { index, name, .. } = &field.source else { continue };
        let Some(column) = sample.columns.get(*index) else { continue };
        let profile = &column.profile;
        if !profile.totals.is_empty() {
            let words: Vec<String> = profile.totals.iter().map(|word| regex::escape(word)).collect();
            let comment = "Some rows are probably totals. To leave them out, remove the #:".to_owned();
            let (column, pattern) = (name.clone(), format!("^({})", words.join("|")));
            skips.push(SkipProposal { comment, column, pattern, is_certain: false });
        }
        let (rows, blank) = (profile.rows, profile.rows - profile.filled);
        if field.name == "externalId" && blank > 0 && profile.filled > 0 {
            let comment = format!(
                "{blank} of {rows} rows have no identifier and are reported as problems. If they are not items, remove the # to \
                 leave them out:"
            );
            let (column, pattern) = (name.clone(), "^\\s*$".to_owned());
            skips.push(SkipProposal { comment, column, pattern, is_certain: false });
        }
    }
    skips
}

/// Returns the filter for rows of totals and repeated headers.
fn extra_rows(sample: &Sample, fields: &[FieldProposal]) -> Option<SkipProposal> {
    let ExtraRows { totals, headers, total_rows } = &sample.extra;
    if totals.is_empty() && *headers == 0 {
        return None;
    }
    let count = |index: usize| totals.iter().filter(|(column, _)| *column == index).count();
    let most = totals.iter().map(|(column, _)| *column).max_by_key(|column| count(*column));
    let mapped = fields.iter().find_map(|field| match field.source {
        ProposedSource::Column { index, .. } if !sample.columns[index].bound_header.is_empty() => Some(index),
        _ => None,
    });
    let column = sample.columns.get(most.or(mapped)?)?;
    let labels = totals.iter().filter(|(index, _)| *index == column.index).map(|(_, label)| label.as_str());
    let repeated = (*headers > 0 && !column.bound_header.is_empty()).then_some(column.bound_header.as_str());
    let texts: Vec<String> = labels.chain(repeated).map(|text| regex::escape(text.trim())).collect();
    let what: Vec<String> = [(*total_rows, "totals"), (*headers, "repeated headers")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} with {what}"))
        .collect();
    Some(SkipProposal {
        comment: format!("Rows that are no records: {}.", what.join(", ")),
        column: column.name.clone(),
        pattern: format!("(?i)^({})$", texts.join("|")),
        is_certain: true,
    })
}

/// Returns the columns to fill from above, for kinds of records without lines.
fn fill_down<'a>(assignments: &Assignments<'_>, sample: &'a Sample) -> Option<FillDownProposal<'a>> {
    let slots = assignments.slots;
    let of = |name: &str| Some(&sample.columns[assignments.of(slots.find(Place::Record, name)?)?.column.index]);
    if slots.kind.input().lines().is_some() {
        return None;
    }
    let is_of_product = |values: ValueKind| {
        matches!(values, ValueKind::LongText | ValueKind::Status | ValueKind::Currency | ValueKind::TaxRate)
    };
    let others = assignments.iter().filter(|assignment| is_of_product(assignment.slot.values));
    let others: Vec<&Column> = others.map(|assignment| &sample.columns[assignment.column.index]).collect();
    fill_down::propose(sample, of("externalId")?, of("name")?, &others)
}
