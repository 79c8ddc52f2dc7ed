//! Assigns columns to fields, at most one column to each field.
//!
//! Assignments of earlier templates come first. Then each pair of a column and a field gets a score for the header,
//! multiplied by a factor for the values, and the best pairs win. For the remaining fields, the values alone decide.

use std::cmp::Reverse;

use super::super::model::Place;
use super::column_values::{Guess, fit, guess, guess_group};
use super::header_match::{MatchKind, NameMatch};
use super::previous_templates::PreviousTemplate;
use super::proposal::Confidence;
use super::sample::Column;
use super::slots::{Slot, Slots};
use super::words::{Language, ValueKind};
use crate::records::RecordKind;

/// Minimum score of an assignment.
const MIN_SCORE: f64 = 0.45;
const LIKELY: f64 = 0.65;
const SURE: f64 = 0.88;
/// Minimum score of an alternative.
const MIN_ALTERNATIVE: f64 = 0.5;

/// A field and the assigned column.
#[derive(Clone)]
pub(super) struct Assignment<'a> {
    pub slot: &'a Slot,
    pub column: &'a Column,
    pub reason: String,
    pub confidence: Confidence,
    /// Further matching columns without a field.
    pub alternatives: Vec<&'a Column>,
}

/// All assignments of a sheet.
pub(super) struct Assignments<'a> {
    pub slots: &'a Slots,
    columns: &'a [Column],
    list: Vec<Assignment<'a>>,
    /// Language of most matching headers.
    pub language: Option<Language>,
}

/// A match of a header with a field.
struct Candidate<'a> {
    slot: &'a Slot,
    column: &'a Column,
    score: f64,
    name_match: NameMatch,
}

impl<'a> Assignments<'a> {
    pub(super) fn new(slots: &'a Slots, columns: &'a [Column], previous: &[PreviousTemplate]) -> Assignments<'a> {
        let mut candidates: Vec<Candidate<'a>> =
            columns.iter().flat_map(|column| slots.iter().filter_map(|slot| Candidate::new(slot, column))).collect();
        candidates.sort_by(|a, b| {
            let position = |candidate: &Candidate<'_>| (candidate.column.index, candidate.slot.index);
            b.score.total_cmp(&a.score).then(position(a).cmp(&position(b)))
        });
        let mut assigned = Assignments { slots, columns, list: Vec::new(), language: main_language(&candidates) };
        assigned.assign_as_before(previous);
        for candidate in candidates.iter().filter(|candidate| candidate.score >= MIN_SCORE) {
            let (reason, confidence) = candidate.explain();
            assigned.assign(candidate.slot, candidate.column, reason, confidence);
        }
        assigned.use_description_as_name();
        assigned.assign_two_prices();
        assigned.assign_by_values();
        assigned.drop_lines_without_item();
        assigned.find_alternatives(&candidates);
        assigned.list.sort_by_key(|assignment| assignment.slot.index);
        assigned
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Assignment<'a>> {
        self.list.iter()
    }

    /// Returns the assignment of a slot, if any.
    pub(super) fn of(&self, slot: &Slot) -> Option<&Assignment<'a>> {
        self.list.iter().find(|assignment| assignment.slot.index == slot.index)
    }

    pub(super) fn has_column(&self, column: usize) -> bool {
        self.list.iter().any(|assignment| assignment.column.index == column)
    }

    /// Adds an assignment unless the field or the column is taken.
    fn assign(&mut self, slot: &'a Slot, column: &'a Column, reason: String, confidence: Confidence) {
        if self.of(slot).is_none() && !self.has_column(column.index) {
            self.list.push(Assignment { slot, column, reason, confidence, alternatives: Vec::new() });
        }
    }

    fn assign_guess(&mut self, slot: &'a Slot, column: &'a Column, reason: &str) {
        self.assign(slot, column, reason.to_owned(), Confidence::Guess);
    }

    /// Repeats the assignments of earlier templates, in order of the number of known columns.
    fn assign_as_before(&mut self, previous: &[PreviousTemplate]) {
        let mut known: Vec<_> =
            previous.iter().map(|template| (template.assignments(self.slots, self.columns), &template.name)).collect();
        known.sort_by_key(|(assignments, _)| Reverse(assignments.len()));
        for (assignments, template) in known {
            for (slot, column) in assignments {
                self.assign(slot, column, "mapped this way before".to_owned(), Confidence::AsIn(template.clone()));
            }
        }
    }

    /// Takes short descriptions for the names of items if there is no other column for these.
    fn use_description_as_name(&mut self) {
        let find = |name| self.slots.find(Place::Record, name);
        let (Some(name), Some(description)) = (find("name"), find("description")) else { return };
        if self.slots.kind != RecordKind::Item || self.of(name).is_some() {
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
        let Some(first_is_larger) = first.profile.is_larger_than(&second.profile) else { return };
        let (larger, smaller) = if first_is_larger { (first, second) } else { (second, first) };
        self.assign_guess(price, larger, "amounts, the larger of two on most rows");
        self.assign_guess(purchase_price, smaller, "amounts, the smaller of two on most rows");
    }

    /// Assigns the remaining fields by values: the best column, or the leftmost of equal ones.
    fn assign_by_values(&mut self) {
        for slot in self.slots.iter().filter(|slot| can_guess(slot)) {
            if self.of(slot).is_some() {
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
        guess(slot.values, &column.profile)
    }

    /// Whether the column is free, and its header has no known meaning.
    fn can_guess_from(&self, column: &Column) -> bool {
        let has_meaning = column.header.is_other_topic() || self.slots.has_name(&column.header);
        !self.has_column(column.index) && (column.is_unnamed || !has_meaning)
    }

    /// Removes order lines without an item, because the service would replace the lines of the order.
    fn drop_lines_without_item(&mut self) {
        let is_line = |assignment: &Assignment<'_>| assignment.slot.place == Place::Line;
        let has_item = self.list.iter().any(|line| is_line(line) && line.slot.values == ValueKind::Reference);
        if self.slots.kind == RecordKind::Order && !has_item {
            self.list.retain(|assignment| !is_line(assignment));
        }
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

impl<'a> Candidate<'a> {
    fn new(slot: &'a Slot, column: &'a Column) -> Option<Candidate<'a>> {
        if column.header.is_empty() {
            return None;
        }
        let mut name_match = slot.names.best_match(&column.header)?;
        // A name in camelCase, exactly as in the API, is no coincidence.
        let has_capital = |name: &str| name.chars().any(char::is_uppercase);
        if name_match.kind == MatchKind::Exact && slot.is_field(&column.label) && has_capital(&column.label) {
            name_match.score = 1.0;
        }
        Some(Candidate { slot, column, score: name_match.score * fit(slot.values, &column.profile), name_match })
    }

    fn explain(&self) -> (String, Confidence) {
        let NameMatch { kind, name, .. } = self.name_match;
        let mut reason = match kind {
            MatchKind::Exact if self.score < LIKELY => "columns with this name often hold it".to_owned(),
            MatchKind::Exact => "by its name".to_owned(),
            MatchKind::Contains => format!("its name contains '{name}'"),
            MatchKind::Similar => format!("its name is similar to '{name}'"),
        };
        let is_empty = self.column.profile.is_empty();
        if is_empty {
            reason.push_str("; no values yet");
        }
        let confidence = match self.score {
            _ if kind == MatchKind::Similar || is_empty => Confidence::Guess,
            score if score >= SURE => Confidence::Sure,
            score if score >= LIKELY => Confidence::Likely,
            _ => Confidence::Guess,
        };
        (reason, confidence)
    }
}

/// Whether a field can be guessed from values alone: not a second price, and of lines only required fields.
fn can_guess(slot: &Slot) -> bool {
    slot.field.is_none_or(|field| match slot.place {
        Place::Record => field.name != "purchasePrice",
        Place::Line => field.required,
        Place::Id | Place::Option => false,
    })
}

/// Returns the language of most matching names.
fn main_language(candidates: &[Candidate<'_>]) -> Option<Language> {
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
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(language, _)| language)
}
