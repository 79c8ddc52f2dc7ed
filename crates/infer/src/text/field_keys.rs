//! Proposes the keys of each field from the values of the column, and constants.

use sheetport_documents::write::{inline_table, quoted};
use sheetport_mapping::language::row_value;
use sheetport_mapping::model::{ColumnName, Constant, Place};
use sheetport_mapping::words::amounts::{PriceUnit, is_price_unit_column, is_several, price_unit};
use sheetport_mapping::words::movements::Movement;
use sheetport_records::{Field, Input, RecordKind};
use sheetport_sheet::Cell;
use sheetport_values::boolean;
use sheetport_values::date::{AmbiguousDates, Detected, Detector, MixedDates};
use sheetport_values::locale::order_of;
use sheetport_words::{Language, ValueKind, vocabulary};

use super::super::headers::currency_hint::{CurrencyHint, in_text};
use super::super::matching::{Assignment, Assignments, Computed, is_tax_rate};
use super::super::previous_templates::{PreviousRule, PreviousTemplate, Step};
use super::super::proposal::{Confidence, FieldProposal, ProposedSource};
use super::super::sample::{Column, ColumnProfile, RATE_IN_TEXT, Sample};
use super::super::toml_text::constant;

/// Maximum number of status values to list.
const MAX_LISTED: usize = 12;

/// The input for proposing keys.
pub(crate) struct Evidence<'a> {
    pub kind: RecordKind,
    pub sample: &'a Sample,
    pub assignments: &'a Assignments<'a>,
    pub previous: &'a [PreviousTemplate],
}

/// An unfinished proposal for one field.
struct Draft {
    proposal: FieldProposal,
    warnings: Vec<String>,
}

impl Evidence<'_> {
    /// Proposes all fields with a column or a constant, in the order of the API, and adds warnings.
    pub(crate) fn fields(&self, warnings: &mut Vec<String>) -> Vec<FieldProposal> {
        let mut fields = Vec::new();
        for assignment in self.assignments.iter() {
            let Some(field) = assignment.slot.field else { continue };
            let draft = self.field(field, assignment);
            fields.push(draft.proposal);
            warnings.extend(draft.warnings);
        }
        fields.extend(self.assignments.computed.iter().filter_map(|computed| self.computed(computed)));
        self.add_previous_constants(&mut fields);
        let has_currency = fields.iter().any(|field| field.is(Place::Record, "currency"));
        fields.extend(self.currency().filter(|_| !has_currency));
        let input = self.kind.input();
        fields.sort_by_key(|proposal| {
            let position = input.mappable().position(|field| field.name == proposal.name);
            (proposal.place == Place::Line, proposal.place == Place::Command, position)
        });
        fields
    }

    fn field(&self, field: &'static Field, assignment: &Assignment<'_>) -> Draft {
        let Assignment { slot, column, reason, confidence, alternatives } = assignment;
        let source =
            ProposedSource::Column { index: column.index, label: column.label.clone(), name: column.name.clone() };
        let mut proposal = FieldProposal::new(field, slot.place, source, reason.clone(), confidence.clone());
        proposal.alternatives = alternatives.iter().map(|column| column.index).collect();
        proposal.trim = matches!(
            slot.values,
            ValueKind::Identifier
                | ValueKind::Reference
                | ValueKind::Title
                | ValueKind::LongText
                | ValueKind::Currency
                | ValueKind::Status
        );
        let mut draft = Draft { proposal, warnings: Vec::new() };
        draft.bad_values(slot.values, column);
        let previous = self.previous_rule(assignment, field);
        let steps = previous.map_or(Vec::new(), |rule| rule.steps_for(self.sample, column));
        let is_open = |keys: &[&str]| !steps.iter().any(|step| keys.contains(&step.key.as_str()));
        match slot.values {
            ValueKind::Identifier => {
                draft.identifier(column);
                draft.duplicates(column);
            }
            ValueKind::Reference => draft.identifier(column),
            ValueKind::LongText => draft.long_text(&column.profile),
            ValueKind::Price => {
                self.price(&mut draft, assignment);
                if is_open(&["scale"]) && previous.is_none() {
                    self.price_unit(&mut draft, column);
                }
            }
            ValueKind::TaxRate | ValueKind::TaxAmount if is_open(&["percent", "scale"]) => draft.tax(&column.profile),
            ValueKind::Status if is_open(&["map", "lookup", "replace"]) => self.status(&mut draft, column),
            ValueKind::Date if is_open(&["format"]) => self.date(&mut draft, column),
            _ => {}
        }
        if previous.is_none() {
            draft.resolve(self.kind.input(), field);
        }
        if let Some(previous) = previous {
            draft.proposal.keep_guess(previous);
            draft.proposal.trim = false;
            draft.proposal.keys.extend(steps.into_iter().map(Step::line));
        }
        draft
    }

    /// Returns the rule of the earlier template with the same assignment, if any.
    fn previous_rule(&self, assignment: &Assignment<'_>, field: &Field) -> Option<&PreviousRule> {
        let Confidence::AsIn(name) = &assignment.confidence else { return None };
        self.rule_of(name, assignment.slot.place, field)
    }

    fn rule_of(&self, template: &str, place: Place, field: &Field) -> Option<&PreviousRule> {
        let same_name = self.previous.iter().filter(|known| known.name == template);
        same_name.filter_map(|it| it.rule(self.kind, place, field.name)).next()
    }

    /// Returns a field with a value from several columns, with all its steps.
    fn computed(&self, computed: &Computed<'_>) -> Option<FieldProposal> {
        let Computed { slot, columns, key, template } = computed;
        let field = slot.field?;
        let columns = columns.iter().map(|column| column.index).collect();
        let source = ProposedSource::Computed { columns, label: key.value.clone(), line: key.line() };
        let (reason, confidence) = ("mapped this way before".to_owned(), Confidence::AsIn(template.clone()));
        let mut proposal = FieldProposal::new(field, slot.place, source, reason, confidence);
        let rule = self.rule_of(template, slot.place, field);
        if let Some(rule) = rule {
            proposal.keys = rule.steps.iter().map(Step::line).collect();
            proposal.keep_guess(rule);
        }
        Some(proposal)
    }

    /// Adds the constants of the used earlier templates, for fields without a source.
    fn add_previous_constants(&self, fields: &mut Vec<FieldProposal>) {
        let is_used = |template: &&PreviousTemplate| self.assignments.templates().any(|name| name == template.name);
        for template in self.previous.iter().filter(is_used) {
            for (rule, value) in template.constants(self.kind) {
                let has_source = fields.iter().any(|it| it.name == rule.field.name && it.place == rule.place);
                if !has_source && constant(value).is_some() {
                    let source = match rule.parameter_line() {
                        Some(line) => ProposedSource::Computed {
                            columns: Vec::new(),
                            label: ProposedSource::Constant(value.clone()).label(),
                            line,
                        },
                        None => ProposedSource::Constant(value.clone()),
                    };
                    let (reason, confidence) =
                        ("a constant in that template".to_owned(), Confidence::AsIn(template.name.clone()));
                    let mut proposal = FieldProposal::new(rule.field, rule.place, source, reason, confidence);
                    proposal.keep_guess(rule);
                    fields.push(proposal);
                }
            }
        }
    }

    fn price(&self, draft: &mut Draft, assignment: &Assignment<'_>) {
        let (column, slots) = (assignment.column, self.assignments.slots);
        let currencies: Vec<&str> = column.profile.currencies.keys().map(|currency| currency.code.as_str()).collect();
        if currencies.len() > 1 {
            let codes = currencies.join(", ");
            draft.comment(format!("Amounts in several currencies: {codes}. An item can only have one."));
            draft.warn(format!("'{}' has several currencies: {codes}", column.label));
        }
        if assignment.slot.place == Place::Line && column.header.with_tax() == Some(true) {
            draft.comment("The header says with tax, but the service expects the price of one without tax.");
            draft.warn(format!("'{}' is with tax, but the service expects prices without tax", column.label));
            if !matches!(assignment.confidence, Confidence::AsIn(_)) {
                draft.guess();
            }
        }
        let is_price = assignment.slot.place == Place::Record && assignment.slot.is_field("price");
        let purchase_price = slots.find(Place::Record, "purchasePrice").filter(|_| is_price);
        if let Some(other) = purchase_price.and_then(|slot| self.assignments.of(slot))
            && column.profile.is_larger_than(&other.column.profile) == Some(false)
        {
            draft.comment("Less than the purchase price on most rows. Have the two been swapped?");
            draft.warn(format!("'{}' is less than the purchase price on most rows", column.label));
        }
    }

    /// Converts prices in parts or multiples of the currency, and prices of several pieces.
    fn price_unit(&self, draft: &mut Draft, column: &Column) {
        let label = &column.label;
        let is_unit = |other: &&Column| {
            is_price_unit_column(&other.label) && !self.assignments.has_column(other.index) && other.profile.filled > 0
        };
        let has_several = |unit: &&Column| unit.profile.values.iter().any(|(value, _)| is_several(value));
        let unit = self.sample.columns.iter().find(is_unit).filter(has_several);
        match price_unit(label) {
            // "Price/100" says the same as the column of price units.
            Some(PriceUnit::Scale { words, .. })
                if unit.is_some() && words.starts_with(|c: char| c.is_ascii_digit()) => {}
            Some(PriceUnit::Scale { factor, words }) => {
                draft.comment(format!("The header says '{words}': every number is multiplied by {factor}."));
                draft.key(format!("scale = {factor}"));
                draft.warn(format!("'{label}' says '{words}', so its prices are multiplied by {factor}"));
            }
            Some(unit @ (PriceUnit::Several(_) | PriceUnit::Unclear(_))) => {
                let is_several = unit.is_several();
                let (PriceUnit::Several(words) | PriceUnit::Unclear(words) | PriceUnit::Scale { words, .. }) = unit;
                if is_several {
                    draft.guess();
                }
                draft.comment(format!(
                    "The header says '{words}', but the service expects the price of one. The prices are not changed."
                ));
                draft.warn(format!("'{label}' says '{words}': check whether these are the prices of one"));
            }
            None => {}
        }
        let Some(unit) = unit else { return };
        draft.comment(format!("'{}' says how many pieces the price is for.", unit.label));
        draft.guess();
        match (&column.name, &unit.name) {
            (ColumnName::Named(price), ColumnName::Named(pieces)) if unit.profile.is_numeric() => {
                let line = format!(
                    "text = {}",
                    quoted(&format!("{{{{ {} | divided_by({}, 4) }}}}", row_value(price), row_value(pieces)))
                );
                let columns = vec![column.index, unit.index];
                let shown = format!("{} / {}", column.label, unit.label);
                draft.proposal.source = ProposedSource::Computed { columns, label: shown, line };
                draft.warn(format!("'{label}' is divided by '{}', and rounded to 4 decimals", unit.label));
            }
            _ => draft.warn(format!("'{label}' may be the price of several pieces: see '{}'", unit.label)),
        }
    }

    fn status(&self, draft: &mut Draft, column: &Column) {
        let profile = &column.profile;
        if profile.is_yes_no() && self.kind == RecordKind::Item {
            draft.comment("Values sent for those in the sheet. Change the right side to the words of your workspace.");
            let map = inline_table(
                active_words(column, self.assignments.language).iter().map(|(from, to)| (from.as_str(), quoted(to))),
            );
            draft.key(format!("map = {map}"));
            return;
        }
        if self.kind == RecordKind::InventoryTransaction
            && draft.proposal.name == "transactionType"
            && draft.movements(column, self.assignments.language)
        {
            return;
        }
        let listed = &profile.values[..profile.values.len().min(MAX_LISTED)];
        if !listed.is_empty() {
            let shown = if profile.distinct > listed.len() {
                format!("; the first {} are listed", listed.len())
            } else {
                String::new()
            };
            draft.comment(format!(
                "Sent as in the sheet, which has {} different value{}{shown}. To send other words, fill them in and remove the #:",
                profile.distinct,
                if profile.distinct == 1 { "" } else { "s" },
            ));
            draft.choice(format!(
                "map = {}",
                inline_table(listed.iter().map(|(value, _)| (value.as_str(), quoted("…"))))
            ));
        }
    }

    fn date(&self, draft: &mut Draft, column: &Column) {
        let label = &column.label;
        let order = self.assignments.language.and_then(order_of);
        let mut detector = Detector::new(order);
        for row in &self.sample.rows {
            if let Cell::Text(text) = row.get(column.index) {
                detector.add(row.number, text);
            }
        }
        let mut has_zone = false;
        match detector.finish() {
            Detected::Known(format) => {
                has_zone = format.pattern().ends_with('Z');
                draft.key(format!("format = {}", quoted(format.pattern())));
            }
            Detected::WithoutMidnight(formats) => {
                has_zone = formats[0].pattern().ends_with('Z');
                let patterns = formats.map(|format| quoted(format.pattern()).to_string());
                draft.key(format!("format = [{}]", patterns.join(", ")));
            }
            Detected::Ambiguous(dates) => {
                let AmbiguousDates { example, readings: [(one, first), (other, second)] } = &*dates;
                draft.comment(format!("{example} can be {first} or {second}. Remove the # from the right format:"));
                draft.choice(format!("format = {}", quoted(one)));
                draft.choice(format!("format = {}", quoted(other)));
                draft.warn(format!("the dates of '{label}' are ambiguous: choose a format in the template"));
            }
            Detected::Mixed(dates) => {
                let MixedDates { example, row, .. } = &*dates;
                draft.comment(format!("The dates have different formats: row {row} has {example}."));
                draft.warn(format!("the dates of '{label}' have different formats"));
            }
            Detected::NoDates => {}
        }
        if column.profile.times > 0 && !has_zone {
            draft.comment("Some dates have a time of day. Set its time zone:");
            draft.choice("time_zone = \"Europe/Berlin\"");
            draft.warn(format!("the times of '{label}' need a time_zone in the template"));
        }
    }

    /// Proposes a currency for the prices, unless a column has the currency.
    fn currency(&self) -> Option<FieldProposal> {
        let slot = self.assignments.slots.find(Place::Record, "currency")?;
        let field = slot.field.filter(|_| self.assignments.of(slot).is_none())?;
        let prices = || self.assignments.iter().filter(|assignment| assignment.slot.values == ValueKind::Price);
        // The currency of a cost says nothing about the price beside it.
        let has_price = prices().any(|assignment| assignment.slot.is_field("price"));
        let prices = prices().filter(|assignment| !has_price || assignment.slot.is_field("price"));
        let prices: Vec<&Column> = prices.map(|assignment| assignment.column).collect();
        let in_header = |column: &&Column| {
            Some((
                in_text(&column.label, self.assignments.language)?,
                format!("named in the header '{}'", column.label),
            ))
        };
        let hint = prices.iter().find_map(in_header);
        let (hint, reason) = hint.or_else(|| currency_in_cells(&prices)).or_else(|| self.currency_in_titles())?;
        let confidence = if hint.is_certain { Confidence::Likely } else { Confidence::Guess };
        let source = ProposedSource::Constant(Constant::Text(hint.code));
        Some(FieldProposal::new(field, Place::Record, source, reason, confidence))
    }

    fn currency_in_titles(&self) -> Option<(CurrencyHint, String)> {
        let mut hints = self.sample.titles.iter().filter_map(|title| in_text(title, self.assignments.language));
        let first = hints.next()?;
        let is_only = hints.all(|other| other.code == first.code);
        is_only.then(|| (CurrencyHint { is_certain: false, ..first }, "named above the header".to_owned()))
    }
}

/// Returns the currency beside the prices, if most prices have the same.
fn currency_in_cells(prices: &[&Column]) -> Option<(CurrencyHint, String)> {
    let profile = prices.iter().map(|column| &column.profile).find(|profile| !profile.currencies.is_empty())?;
    let mut currencies = profile.currencies.iter();
    let (currency, count) = currencies.next()?;
    let is_only = currencies.next().is_none() && profile.share(*count) >= 0.5;
    is_only.then(|| (currency.clone(), "written beside the prices".to_owned()))
}

/// Returns each yes and no of a column, and the opposite of a single one, with the corresponding status.
fn active_words(column: &Column, language: Option<Language>) -> Vec<(String, &'static str)> {
    let yes_is_active = !column.header.contains_any(vocabulary().withdrawn());
    let mut meanings = column.profile.values.iter().filter_map(|(value, _)| boolean::parse(value));
    let has_both = meanings.next().is_some_and(|first| meanings.any(|other| other != first));
    let mut words: Vec<(String, &str)> = Vec::new();
    for (value, _) in &column.profile.values {
        let Some(is_yes) = boolean::parse(value) else { continue };
        let is_upper_case = value.chars().any(char::is_alphabetic) && !value.chars().any(char::is_lowercase);
        let opposite = vocabulary().opposite(value, language).filter(|_| !has_both);
        let opposite = opposite.map(|word| if is_upper_case { word.to_uppercase() } else { word.to_owned() });
        for (word, is_yes) in [(Some(value.clone()), is_yes), (opposite, !is_yes)] {
            let Some(word) = word else { continue };
            if !words.iter().any(|(known, _)| known.eq_ignore_ascii_case(&word)) {
                words.push((word, if is_yes == yes_is_active { "active" } else { "archived" }));
            }
        }
    }
    words
}

impl Draft {
    /// Looks records up whose id the field takes: people seldom know the service's ids.
    fn resolve(&mut self, input: &Input, field: &Field) {
        let lists = input.lists_of(field.name);
        let names: Vec<String> = lists.iter().map(|list| format!("\"{}\"", list.name)).collect();
        match names.as_slice() {
            [] => {}
            [name] => self.proposal.keys.push(format!("resolve = {name}")),
            names => self.proposal.keys.push(format!("resolve = [{}]", names.join(", "))),
        }
    }

    fn identifier(&mut self, column: &Column) {
        let ColumnProfile { damaged, damaged_example, filled, leading_zeros, .. } = &column.profile;
        if let Some(example) = damaged_example {
            self.comment(format!(
                "A spreadsheet program has probably changed {damaged} of {filled} values, such as {example}. They are reported as \
                 problems. Export the file again with this column as text."
            ));
            self.warn(format!(
                "'{}' has identifiers that a spreadsheet program has changed, such as {example}",
                column.label
            ));
        }
        if *leading_zeros > 0 {
            self.comment("Leading zeros are kept.");
        }
    }

    fn duplicates(&mut self, column: &Column) {
        let ColumnProfile { distinct, filled, .. } = column.profile;
        if distinct < filled {
            self.comment(format!(
                "Only {distinct} of {filled} values are different. Rows with the same identifier are reported as problems, unless \
                 you add duplicates = \"first\" or \"last\" at the top."
            ));
            self.warn(format!("'{}' has duplicate values", column.label));
        }
    }

    /// Translates the types of movements to the words of the service. Returns whether any are known.
    fn movements(&mut self, column: &Column, language: Option<Language>) -> bool {
        let values = || column.profile.values.iter().map(|(value, _)| value.as_str());
        let all: Vec<&str> = values().collect();
        let movement = |value: &str| Movement::of(value).or_else(|| Movement::of_pair(value, &all, language));
        let known: Vec<(&str, Movement)> =
            values().filter_map(|value| Some((value, movement(value)?))).take(MAX_LISTED).collect();
        let unknown = values().find(|value| movement(value).is_none());
        let label = &column.label;
        match unknown {
            Some(unknown) if known.is_empty() => {
                self.warn(format!(
                    "'{label}' has types such as '{unknown}', which are sent as they are: the service moves nothing for words \
                     other than in, out and adjust"
                ));
                self.comment("The service moves nothing for words other than in, out and adjust: fill in the map.");
                self.guess();
                return false;
            }
            Some(unknown) => {
                self.comment(format!(
                    "The words of the service. Rows with other words, such as {unknown}, are reported as problems: add them."
                ));
                self.warn(format!(
                    "'{label}' has types such as '{unknown}', which are reported as problems: add them to map"
                ));
            }
            None => self.comment("The words of the service. Rows with other words are reported as problems."),
        }
        self.key(format!(
            "map = {}",
            inline_table(known.iter().map(|(value, movement)| (*value, quoted(movement.word()))))
        ));
        true
    }

    fn long_text(&mut self, profile: &ColumnProfile) {
        if profile.html > 0 {
            self.comment(format!("{} of {} texts have HTML, which is sent unchanged.", profile.html, profile.filled));
        }
    }

    fn tax(&mut self, profile: &ColumnProfile) {
        if profile.named_rates > 0 {
            self.comment("The rate is taken from the text: 20% (VAT on Income) is sent as 20.");
            self.key(format!("replace = {{ pattern = '{RATE_IN_TEXT}', with = \"$1%\" }}"));
            self.key("percent = \"whole\"");
            return;
        }
        if profile.percents > 0 {
            self.comment("19% is sent as the number 19; \"fraction\" would send 0.19.");
            self.key("percent = \"whole\"");
            return;
        }
        let mut amounts = profile.amounts.iter().flatten();
        if amounts.clone().any(|amount| *amount > 0.0) && amounts.all(|amount| *amount < 1.0) && is_tax_rate(profile) {
            self.comment("These are fractions: 0.19 is sent as 19.");
            self.key("scale = 100");
            self.guess();
            self.warn("the rates of tax are fractions, so 0.19 is sent as 19");
        }
    }

    /// Warns about other values in a column of numbers or dates.
    fn bad_values(&mut self, values: ValueKind, column: &Column) {
        let ColumnProfile { filled, numbers, named_rates, dates, not_a_number, not_a_date, .. } = &column.profile;
        let label = &column.label;
        let rates = if values == ValueKind::TaxRate { *named_rates } else { 0 };
        let (count, warning, example) = match (values, not_a_date, not_a_number) {
            (ValueKind::Date, Some(example), _) => {
                (filled - dates, format!("'{label}' has values that are no dates, such as {example}"), example)
            }
            (values, _, Some(example)) if values.is_number() && filled - numbers > rates => (
                filled - numbers - rates,
                format!("'{label}' has values that are no numbers, such as {example}"),
                example,
            ),
            _ => return,
        };
        self.comment(format!(
            "{count} of {filled} values don't fit, such as {example}. They are reported as problems."
        ));
        self.warn(warning);
    }

    fn comment(&mut self, text: impl Into<String>) {
        self.proposal.comments.push(text.into());
    }

    fn key(&mut self, line: impl Into<String>) {
        self.proposal.keys.push(line.into());
    }

    /// Marks the proposal as a guess that must be confirmed.
    fn guess(&mut self) {
        self.proposal.confidence = Confidence::Guess;
    }

    fn choice(&mut self, line: impl Into<String>) {
        self.proposal.drafts.push(line.into());
    }

    fn warn(&mut self, text: impl Into<String>) {
        self.warnings.push(text.into());
    }
}
