//! Assigns columns to fields, at most one column to each field.
//!
//! Assignments of earlier templates come first, then a column that says what is done with each record. Then each pair of a column and a field gets a score for the header,
//! multiplied by a factor for the values, and the best pairs win. For the remaining fields, the values alone decide.

use std::cmp::Reverse;

use sheetport_mapping::commands::{COMMAND, is_command_column};
use sheetport_mapping::model::Place;
use sheetport_mapping::words::amounts::{PriceUnit, is_price_unit_column, price_unit};
use sheetport_mapping::words::movements::is_state_header;
use sheetport_records::RecordKind;
use sheetport_words::{Language, ValueKind, vocabulary};

use super::super::headers::{MatchKind, NameMatch, Slot, Slots};
use super::super::previous_templates::{PreviousTemplate, Step};
use super::super::proposal::Confidence;
use super::super::sample::Column;
use super::relations::{is_of_record, line_totals};
use super::values::{Guess, are_states, fit, guess, guess_group, has_large_numbers, is_tax_rate, unreadable};

/// Minimum score of an assignment.
const MIN_SCORE: f64 = 0.45;
const LIKELY: f64 = 0.65;
const SURE: f64 = 0.88;
/// Minimum score of an alternative.
const MIN_ALTERNATIVE: f64 = 0.5;
/// Score of a column with a certain name and values that can't be read, above [`MIN_SCORE`] and below [`LIKELY`]: the rows are
/// rejected, whereas a column that is left out would lose its values silently.
const UNREADABLE: f64 = MIN_ALTERNATIVE;
/// Minimum score of the item of lines that have a quantity: any column that may name the item is better than none.
const MIN_ITEM: f64 = 0.15;
/// A second column with a score at most this much lower contradicts a sure assignment.
const RIVAL: f64 = 0.15;
/// Factor for prices with tax: the lines of orders have prices without tax.
const WITH_TAX: f64 = 0.95;
/// Maximum certainty of vague names such as "product". A number below such a name is probably a count.
const VAGUE: f64 = 0.8;

/// A field and the assigned column.
#[derive(Clone)]
pub(crate) struct Assignment<'a> {
    pub slot: &'a Slot,
    pub column: &'a Column,
    pub reason: String,
    pub confidence: Confidence,
    /// Further matching columns without a field.
    pub alternatives: Vec<&'a Column>,
}

/// A field with a value from several columns, as in an earlier template.
pub(crate) struct Computed<'a> {
    pub slot: &'a Slot,
    pub columns: Vec<&'a Column>,
    /// `columns` or `text`, with its value.
    pub key: Step,
    /// Name of the template.
    pub template: String,
}

/// All assignments of a sheet.
pub(crate) struct Assignments<'a> {
    pub slots: &'a Slots,
    columns: &'a [Column],
    list: Vec<Assignment<'a>>,
    /// Fields with a value from several columns, as in an earlier template.
    pub computed: Vec<Computed<'a>>,
    /// Columns, by index, whose header clearly names their content.
    named: Vec<usize>,
    /// Language of most matching headers.
    pub language: Option<Language>,
}

/// A match of a header with a field.
struct Candidate<'a> {
    slot: &'a Slot,
    column: &'a Column,
    score: f64,
    name_match: NameMatch,
    /// The name often means something else.
    is_doubtful: bool,
    /// Why the values seem unfit for the field, although the name is certain.
    unreadable: Option<&'static str>,
}

impl<'a> Assignments<'a> {
    pub(crate) fn new(slots: &'a Slots, columns: &'a [Column], previous: &[PreviousTemplate]) -> Assignments<'a> {
        let (language, is_only) = main_language(&candidates(slots, columns, None)).unzip();
        let mut candidates = candidates(slots, columns, language.filter(|_| is_only == Some(true)));
        drop_amounts_of_others(&mut candidates, slots, columns);
        drop_selling_prices(&mut candidates, slots);
        let named = candidates.iter().filter(|candidate| candidate.score >= LIKELY);
        let named = named.map(|candidate| candidate.column.index).collect();
        drop_doubtful(&mut candidates, columns);
        let mut assigned = Assignments { slots, columns, list: Vec::new(), computed: Vec::new(), named, language };
        assigned.assign_as_before(previous);
        assigned.assign_commands();
        for candidate in candidates.iter().filter(|candidate| candidate.score >= MIN_SCORE) {
            let (reason, confidence) = candidate.explain();
            assigned.assign(candidate.slot, candidate.column, reason, confidence);
        }
        assigned.use_description_as_name();
        assigned.assign_two_prices();
        assigned.assign_by_values();
        assigned.find_item_of_lines(&candidates);
        assigned.drop_lines_without_item();
        assigned.doubt_contradictions(&candidates);
        assigned.find_alternatives(&candidates);
        assigned.list.sort_by_key(|assignment| assignment.slot.index);
        assigned
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Assignment<'a>> {
        self.list.iter()
    }

    /// Returns the assignment of a slot, if any.
    pub(crate) fn of(&self, slot: &Slot) -> Option<&Assignment<'a>> {
        self.list.iter().find(|assignment| assignment.slot.index == slot.index)
    }

    pub(crate) fn has_column(&self, column: usize) -> bool {
        self.list.iter().any(|assignment| assignment.column.index == column)
            || self.computed.iter().any(|computed| computed.columns.iter().any(|it| it.index == column))
    }

    /// Returns the names of the earlier templates in use.
    pub(crate) fn templates(&self) -> impl Iterator<Item = &str> {
        let assigned = self.list.iter().filter_map(|assignment| match &assignment.confidence {
            Confidence::AsIn(name) => Some(name.as_str()),
            _ => None,
        });
        assigned.chain(self.computed.iter().map(|computed| computed.template.as_str()))
    }

    /// Adds an assignment unless the field or the column is taken.
    fn assign(&mut self, slot: &'a Slot, column: &'a Column, reason: String, confidence: Confidence) {
        if self.of(slot).is_none() && !self.is_computed(slot) && !self.has_column(column.index) {
            self.list.push(Assignment { slot, column, reason, confidence, alternatives: Vec::new() });
        }
    }

    fn assign_guess(&mut self, slot: &'a Slot, column: &'a Column, reason: &str) {
        self.assign(slot, column, reason.to_owned(), Confidence::Guess);
    }

    /// Repeats the assignments of earlier templates, in order of the number of known columns.
    fn assign_as_before(&mut self, previous: &[PreviousTemplate]) {
        let assignments = |template: &PreviousTemplate| template.assignments(self.slots, self.columns);
        let mut known: Vec<_> = previous.iter().map(|template| (assignments(template), template)).collect();
        known.sort_by_key(|(assignments, _)| Reverse(assignments.len()));
        for (assignments, template) in known {
            for (slot, key, columns) in template.computed(self.slots, self.columns) {
                if self.of(slot).is_none() && !self.is_computed(slot) && !assignments.is_empty() {
                    let (key, template) = (key.clone(), template.name.clone());
                    self.computed.push(Computed { slot, columns, key, template });
                }
            }
            for (slot, column) in assignments {
                let is_known = self.list.iter().any(|assignment| assignment.column.index == column.index);
                // A column may also be a part of a computed value.
                if self.of(slot).is_none() && !is_known && !self.is_computed(slot) {
                    let (reason, confidence) =
                        ("mapped this way before".to_owned(), Confidence::AsIn(template.name.clone()));
                    self.list.push(Assignment { slot, column, reason, confidence, alternatives: Vec::new() });
                }
            }
        }
    }

    /// Assigns the column of words such as NEW and SKIP, if there is one. Its name may also be one for a status.
    fn assign_commands(&mut self) {
        let Some(slot) = self.slots.find(Place::Command, COMMAND.name) else { return };
        let mut open = self.columns.iter().filter(|column| !self.has_column(column.index));
        if let Some(column) = open.find(|column| says_what_is_done(column)) {
            let reason = "its cells say what is done with each record".to_owned();
            self.assign(slot, column, reason, Confidence::Sure);
        }
    }

    fn is_computed(&self, slot: &Slot) -> bool {
        self.computed.iter().any(|computed| computed.slot.index == slot.index)
    }

    /// Takes short descriptions for the names of items if there is no other column for these.
    fn use_description_as_name(&mut self) {
        let find = |name| self.slots.find(Place::Record, name);
        let (Some(name), Some(description)) = (find("name"), find("description")) else { return };
        if self.slots.kind != RecordKind::Item || self.of(name).is_some() || self.is_computed(name) {
            return;
        }
        let is_short = |column: &Column| {
            column.profile.filled > 0 && column.profile.average_chars() < 60.0 && column.profile.html == 0
        };
        let described = self.list.iter_mut().find(|assignment| {
            assignment.slot.index == description.index
                && assignment.confidence == Confidence::Sure
                && is_short(assignment.column)
        });
        if let Some(described) = described {
            described.slot = name;
            described.reason = "no name column, and these descriptions are short".to_owned();
            described.confidence = Confidence::Guess;
        }
    }

    /// Takes the larger of two columns of amounts for the selling price and the other for the purchase price.
    fn assign_two_prices(&mut self) {
        let find = |name| self.slots.find(Place::Record, name);
        let (Some(price), Some(purchase_price)) = (find("price"), find("purchasePrice")) else { return };
        if self.of(price).is_some() || self.of(purchase_price).is_some() {
            return;
        }
        let is_amount = |column: &&Column| self.can_guess_from(column) && self.guess(price, column).is_some();
        let amounts: Vec<&Column> = self.columns.iter().filter(is_amount).take(3).collect();
        let [first, second] = amounts.as_slice() else { return };
        if let (Some(with_tax), Some(_)) = (first.header.with_tax(), second.header.with_tax()) {
            let without_tax = if with_tax { second } else { first };
            self.assign_guess(price, without_tax, "the amounts without tax, beside those with tax");
            return;
        }
        let Some(first_is_larger) = first.profile.is_larger_than(&second.profile) else { return };
        let (larger, smaller) = if first_is_larger { (first, second) } else { (second, first) };
        self.assign_guess(price, larger, "amounts, the larger of two on most rows");
        self.assign_guess(purchase_price, smaller, "amounts, the smaller of two on most rows");
    }

    /// Assigns the remaining fields by values: the best column, or the leftmost among equals.
    fn assign_by_values(&mut self) {
        for slot in self.slots.iter().filter(|slot| can_guess(slot)) {
            if self.of(slot).is_some() || self.is_computed(slot) {
                continue;
            }
            let open = self.columns.iter().filter(|column| self.can_guess_from(column));
            let guesses = open.filter_map(|column| Some((self.guess(slot, column)?, column)));
            let best = guesses.reduce(|best, next| if next.0.score > best.0.score { next } else { best });
            if let Some((guess, column)) = best {
                self.assign_guess(slot, column, guess.reason);
            }
        }
    }

    fn guess(&self, slot: &Slot, column: &Column) -> Option<Guess> {
        let is_order_number = self.slots.kind == RecordKind::Order && slot.is_field("externalId");
        if slot.field.is_none() || is_order_number {
            return guess_group(&column.profile, self.columns.iter().map(|column| &column.profile));
        }
        guess(slot.values, &column.profile).filter(|_| !slot.ruled_out_by.has_name(&column.header))
    }

    /// Whether the column is free, and its header has no known meaning.
    fn can_guess_from(&self, column: &Column) -> bool {
        let header = &column.header;
        let has_meaning = header.is_other_topic()
            || header.is_total()
            || header.is_certain_title()
            || self.named.contains(&column.index)
            || says_what_is_done(column);
        !self.has_column(column.index) && (column.is_unnamed || !has_meaning)
    }

    /// Takes the column with the best of any names of items as a guess, if the lines of an order have a quantity and no item.
    fn find_item_of_lines(&mut self, candidates: &[Candidate<'a>]) {
        let is_line = |slot: &Slot, values: ValueKind| slot.place == Place::Line && slot.values == values;
        let has = |values| self.list.iter().any(|assignment| is_line(assignment.slot, values));
        if self.slots.kind != RecordKind::Order || has(ValueKind::Reference) || !has(ValueKind::Quantity) {
            return;
        }
        let is_open = |it: &&Candidate<'a>| {
            is_line(it.slot, ValueKind::Reference) && it.score >= MIN_ITEM && !self.has_column(it.column.index)
        };
        if let Some(Candidate { slot, column, name_match, .. }) = candidates.iter().find(is_open) {
            let reason = format!("the lines need an item, and its name contains '{}'", name_match.name);
            self.assign(slot, column, reason, Confidence::Guess);
        }
    }

    /// Removes order lines without an item. In a sheet with one row per order, also removes lines with nothing but an item.
    /// The service would otherwise replace the order's existing lines.
    fn drop_lines_without_item(&mut self) {
        let is_line = |assignment: &&Assignment<'_>| assignment.slot.place == Place::Line;
        let lines: Vec<&Assignment<'_>> = self.list.iter().filter(is_line).collect();
        let has_item = lines.iter().any(|line| line.slot.values == ValueKind::Reference);
        let has_quantity = lines.iter().any(|line| line.slot.values == ValueKind::Quantity);
        let has_more = lines.iter().any(|line| matches!(line.slot.values, ValueKind::Quantity | ValueKind::Price));
        let is_order = |assignment: &&Assignment<'_>| assignment.slot.is_field("externalId");
        let repeats = self.list.iter().find(is_order).is_some_and(|order| {
            let profile = &order.column.profile;
            profile.distinct < profile.filled || profile.blank_below > 0
        });
        let is_known = lines.iter().any(|line| matches!(line.confidence, Confidence::AsIn(_)));
        // Lines that lack only their item make an incomplete template: without them, orders would lose theirs.
        let lacks_item = !has_item && has_quantity;
        if self.slots.kind == RecordKind::Order && !is_known && !lacks_item && !(has_item && (has_more || repeats)) {
            self.list.retain(|assignment| assignment.slot.place != Place::Line);
        }
    }

    /// Downgrades sure assignments to likely if another column contradicts them, and prices to guesses if another column may be the
    /// price.
    fn doubt_contradictions(&mut self, candidates: &[Candidate<'a>]) {
        let assigned: Vec<usize> = self.list.iter().map(|assignment| assignment.column.index).collect();
        let swapped = self.is_price_below_purchase_price();
        let is_named = |it: &&mut Assignment<'_>| matches!(it.confidence, Confidence::Sure | Confidence::Likely);
        for assignment in self.list.iter_mut().filter(is_named) {
            let is_price = assignment.slot.values == ValueKind::Price;
            let own = candidates.iter().find(|candidate| candidate.is_for(assignment)).map_or(1.0, |own| own.score);
            let least = if is_price { MIN_ALTERNATIVE } else { LIKELY.max(own - RIVAL) };
            let rival = candidates.iter().find(|other| {
                other.slot.index == assignment.slot.index
                    && !assigned.contains(&other.column.index)
                    && other.score >= least
                    && other.column.profile.values != assignment.column.profile.values
                    && (!is_price || other.unreadable.is_some() || is_price_of_one(other.column))
            });
            let is_sure = assignment.confidence == Confidence::Sure;
            let doubt = match rival {
                Some(rival) if is_price || is_sure => format!("but '{}' is possible, too", rival.column.label),
                _ if !is_sure => continue,
                _ if swapped && is_price && assignment.slot.place == Place::Record => {
                    "but the purchase prices are higher".to_owned()
                }
                _ if assignment.column.profile.has_stray_text() => "but some values are no numbers".to_owned(),
                _ => continue,
            };
            let is_guess = is_price && rival.is_some();
            assignment.reason = format!("{}; {doubt}", assignment.reason);
            assignment.confidence = if is_guess { Confidence::Guess } else { Confidence::Likely };
        }
    }

    /// Whether most selling prices are below the purchase price.
    fn is_price_below_purchase_price(&self) -> bool {
        let find = |name| self.of(self.slots.find(Place::Record, name)?);
        let (Some(price), Some(purchase_price)) = (find("price"), find("purchasePrice")) else { return false };
        price.column.profile.is_larger_than(&purchase_price.column.profile) == Some(false)
    }

    fn find_alternatives(&mut self, candidates: &[Candidate<'a>]) {
        let open: Vec<&Candidate<'a>> = candidates
            .iter()
            .filter(|other| other.score >= MIN_ALTERNATIVE && !self.has_column(other.column.index))
            .collect();
        for assignment in &mut self.list {
            let same = open.iter().filter(|other| other.slot.index == assignment.slot.index);
            assignment.alternatives = same.map(|other| other.column).collect();
        }
    }
}

/// Returns all matches of headers with fields, best first. Equal matches are ordered by the number of filled and of distinct
/// cells.
fn candidates<'a>(slots: &'a Slots, columns: &'a [Column], language: Option<Language>) -> Vec<Candidate<'a>> {
    let all =
        columns.iter().flat_map(|column| slots.iter().filter_map(move |slot| Candidate::new(slot, column, language)));
    let mut candidates: Vec<Candidate<'a>> = all.collect();
    candidates.sort_by(|a, b| {
        let order = |candidate: &Candidate<'_>| {
            let Candidate { slot, column, name_match, .. } = candidate;
            let is_inexact = name_match.kind != MatchKind::Exact;
            let (filled, distinct) = (column.profile.filled, column.profile.distinct);
            (is_inexact, Reverse(filled), Reverse(distinct), column.index, slot.index)
        };
        b.score.total_cmp(&a.score).then_with(|| order(a).cmp(&order(b)))
    });
    candidates
}

/// Removes line totals from the candidates for prices, and amounts of whole records from the candidates for the tax of lines.
fn drop_amounts_of_others(candidates: &mut Vec<Candidate<'_>>, slots: &Slots, columns: &[Column]) {
    let best = |is_wanted: &dyn Fn(&Slot) -> bool| {
        candidates.iter().find(|it| it.score >= MIN_SCORE && is_wanted(it.slot)).map(|it| it.column)
    };
    let quantity = best(&|slot| slot.values == ValueKind::Quantity);
    let record = match slots.group() {
        Some(group) => best(&|slot| slot.index == group.index),
        None => best(&|slot| slot.place == Place::Record && slot.is_field("externalId")),
    };
    let totals = quantity.map_or(Vec::new(), |quantity| line_totals(columns, quantity));
    candidates.retain_mut(|Candidate { slot, column, score, name_match, .. }| match slot.values {
        ValueKind::Price => !totals.contains(&column.index),
        ValueKind::TaxAmount if slot.place == Place::Line => {
            let Some(record) = record else { return true };
            match is_of_record(&column.profile, &record.profile) {
                // A rate is also the same in all lines of a record.
                Some(true) if !is_tax_rate(&column.profile) => return false,
                None if name_match.certainty < 1.0 || column.header.shares_topic(&record.header) => {
                    *score = score.min(SURE - 0.01);
                }
                _ => {}
            }
            !column.header.shares_topic(&record.header)
        }
        _ => true,
    });
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
}

/// Removes columns named only `Net` or `Gross` from the candidates for the purchase price, unless another column has the selling
/// price: beside each other, or alone, they are selling prices without and with tax.
fn drop_selling_prices(candidates: &mut Vec<Candidate<'_>>, slots: &Slots) {
    let find = |name| slots.find(Place::Record, name).map(|slot| slot.index);
    let (Some(price), Some(purchase_price)) = (find("price"), find("purchasePrice")) else { return };
    let has_price =
        candidates.iter().any(|it| it.slot.index == price && it.score >= LIKELY && !it.column.header.is_tax_basis());
    let with_tax = |with_tax: bool| {
        candidates.iter().any(|it| it.column.header.is_tax_basis() && it.column.header.with_tax() == Some(with_tax))
    };
    if !has_price || with_tax(true) && with_tax(false) {
        candidates.retain(|it| it.slot.index != purchase_price || !it.column.header.is_tax_basis());
    }
}

/// Removes candidates with a doubtful name, such as the balance of a stock for the quantity of a movement, if the sheet has a
/// column with a better name for the field, or numbers that the doubtful ones result from.
fn drop_doubtful(candidates: &mut Vec<Candidate<'_>>, columns: &[Column]) {
    let better = candidates.iter().filter(|candidate| !candidate.is_doubtful && candidate.score >= MIN_SCORE);
    let better: Vec<usize> = better.map(|candidate| candidate.slot.index).collect();
    candidates.retain(|Candidate { slot, column, is_doubtful, .. }| {
        let is_other = |other: &&Column| other.index != column.index && other.profile.is_numeric();
        let is_ruled_out = || columns.iter().filter(is_other).any(|other| slot.ruled_out_by.has_name(&other.header));
        !*is_doubtful || !(better.contains(&slot.index) || is_ruled_out())
    });
}

impl<'a> Candidate<'a> {
    fn new(slot: &'a Slot, column: &'a Column, language: Option<Language>) -> Option<Candidate<'a>> {
        let Column { header, profile, .. } = column;
        if header.is_empty() {
            return None;
        }
        let mut name_match = slot.names.best_match(header, language)?;
        // A name in camelCase, exactly as in the API, is no coincidence.
        let has_capital = |name: &str| name.chars().any(char::is_uppercase);
        if name_match.kind == MatchKind::Exact && slot.is_field(&column.label) && has_capital(&column.label) {
            name_match.score = 1.0;
        }
        // "Product code" contains a name for the name of an item, but means its identifier.
        if header.is_certain_title() && !slot.names.has_name(header) {
            return None;
        }
        let is_exact = name_match.kind == MatchKind::Exact;
        let is_sure_name = is_exact && name_match.certainty >= SURE;
        let is_line = slot.place == Place::Line;
        let factor = match slot.values {
            ValueKind::Price if is_line && header.is_total() => 0.0,
            ValueKind::Price if header.with_tax() == Some(true) => WITH_TAX,
            // "Price incl. VAT" is a price.
            ValueKind::TaxRate | ValueKind::TaxAmount if !is_exact && header.with_tax().is_some() => 0.0,
            // "Amount" is a count or money.
            ValueKind::Quantity if header.is_total() && profile.decimals * 2 > profile.filled => 0.0,
            // Whole amounts of money look like counts: the lines of invoices have "Amount" for both.
            ValueKind::Quantity if is_line && header.is_total() && has_large_numbers(profile) => 0.0,
            // "Display name" and "Visibility" say nothing about a status; words such as active and archived do.
            ValueKind::Status if slot.is_field("status") && !is_sure_name && !are_states(profile) => 0.0,
            // "Items" with small numbers is a count.
            ValueKind::Reference if is_line && name_match.certainty <= VAGUE && profile.is_numeric() => 0.5,
            _ => 1.0,
        };
        let by_name = name_match.score * factor;
        let mut score = by_name * fit(slot.values, profile);
        let unreadable = unreadable(slot.values, profile).filter(|_| by_name >= SURE && score < LIKELY);
        if unreadable.is_some() {
            // A tax that can't be read may be an amount or a rate. As a rate, it has names of its own.
            let is_amount = slot.values == ValueKind::TaxAmount;
            score = score.max(if is_amount { UNREADABLE - 0.01 } else { UNREADABLE });
        }
        let doubtful = slot.doubtful.best_match(header, language);
        let is_doubtful = doubtful.is_some_and(|doubtful| match doubtful.kind {
            MatchKind::Exact => true,
            _ => name_match.kind != MatchKind::Exact && doubtful.score >= name_match.score,
        });
        // "Quantity in" beside "Quantity out" is only half of the movements.
        let is_doubtful = is_doubtful || name_match.kind != MatchKind::Exact && slot.ruled_out_by.has_name(header);
        // "New qty" is the stock after the movement.
        let is_doubtful = is_doubtful || slot.has_doubtful_stock() && is_state_header(&column.label);
        if is_doubtful {
            score = score.min(SURE - 0.01);
        }
        // "Amount" of a line is its count or its money; only a person knows.
        if slot.values == ValueKind::Quantity && is_line && header.is_total() {
            score = score.min(LIKELY - 0.01);
        }
        // The status of an order can be about its payment.
        if slot.is_field("deliveryStatus") && profile.values.iter().any(|(value, _)| vocabulary().is_payment(value)) {
            score = score.min(LIKELY - 0.01);
        }
        Some(Candidate { slot, column, score, name_match, is_doubtful, unreadable })
    }

    fn is_for(&self, assignment: &Assignment<'_>) -> bool {
        self.slot.index == assignment.slot.index && self.column.index == assignment.column.index
    }

    fn explain(&self) -> (String, Confidence) {
        let NameMatch { kind, ref name, .. } = self.name_match;
        let mut reason = match kind {
            MatchKind::Exact if self.score < LIKELY && self.unreadable.is_none() => {
                "columns with this name often hold it".to_owned()
            }
            MatchKind::Exact => "by its name".to_owned(),
            MatchKind::Contains => format!("its name contains '{name}'"),
            MatchKind::Similar => format!("its name is similar to '{name}'"),
        };
        if self.slot.values == ValueKind::Price
            && let Some(with_tax) = self.column.header.with_tax()
        {
            reason.push_str(if with_tax { "; with tax" } else { "; without tax" });
        }
        if let Some(doubt) = self.unreadable {
            reason.push_str(doubt);
        }
        let is_empty = self.column.profile.is_empty();
        if is_empty {
            reason.push_str("; no values yet");
        }
        let is_price = self.slot.values == ValueKind::Price;
        let is_unexplained = is_price && {
            let label = &self.column.label;
            match price_unit(label) {
                Some(PriceUnit::Several(words) | PriceUnit::Unclear(words) | PriceUnit::Scale { words, .. }) => {
                    Some(words)
                }
                None => self.column.header.unexplained(&self.slot.names),
            }
            .inspect(|words| reason.push_str(&format!("; it says '{words}'")))
            .is_some()
        };
        let confidence = match self.score {
            _ if kind == MatchKind::Similar || is_empty => Confidence::Guess,
            score if is_unexplained && score >= LIKELY => Confidence::Likely,
            score if score >= SURE => Confidence::Sure,
            score if score >= LIKELY => Confidence::Likely,
            _ => Confidence::Guess,
        };
        (reason, confidence)
    }
}

/// Whether a column has a name of commands, and nothing but such words.
fn says_what_is_done(Column { label, profile, .. }: &Column) -> bool {
    let texts = profile.values.iter().map(|(text, _)| text.as_str());
    // All different texts are known.
    profile.filled > 0 && profile.distinct == profile.values.len() && is_command_column(label, texts)
}

/// Whether a column may have prices of one piece, unlike prices of a kilogram, and numbers of pieces of a price.
fn is_price_of_one(column: &Column) -> bool {
    column.profile.is_numeric() && price_unit(&column.label).is_none() && !is_price_unit_column(&column.label)
}

/// Whether a field can be guessed from values alone: not a second price or quantity, and of lines only required fields.
fn can_guess(slot: &Slot) -> bool {
    slot.field.is_none_or(|field| match slot.place {
        Place::Record => !matches!(field.name, "purchasePrice" | "amount"),
        Place::Line => field.required,
        Place::Id | Place::Option | Place::Command => false,
    })
}

/// Returns the language of most matching names, and whether no other has as many.
fn main_language(candidates: &[Candidate<'_>]) -> Option<(Language, bool)> {
    let mut counts: Vec<(Language, usize)> = Vec::new();
    let certain =
        |candidate: &&Candidate<'_>| candidate.score >= LIKELY && candidate.name_match.kind != MatchKind::Similar;
    for candidate in candidates.iter().filter(certain) {
        let language = candidate.name_match.language;
        match counts.iter_mut().find(|(known, _)| *known == language) {
            Some((_, count)) => *count += 1,
            None => counts.push((language, 1)),
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max()?;
    let mut languages = counts.iter().filter(|(_, count)| *count == most);
    let (language, _) = languages.next()?;
    Some((*language, languages.next().is_none()))
}
