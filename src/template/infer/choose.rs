//! Which column goes to which field: every name and every shape gives points, the best pair is taken first, and neither
//! a column nor a field is taken twice.

use super::super::model::Place;
use super::earlier::Earlier;
use super::names::{Likeness, Match, Name, Terms};
use super::profile::Profile;
use super::sample::{MOST_COLUMNS, Sample};
use super::shape::{self, Sort};
use super::synonyms::{Language, Synonyms, of};
use crate::records::{Field, RecordKind};

/// What has fewer points is not proposed.
const ENOUGH: f64 = 0.45;
const SURE: f64 = 0.88;
const LIKELY: f64 = 0.65;
/// What is at least so alike is worth mentioning.
const WORTH_SAYING: f64 = 0.5;

/// How sure a proposal is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sureness {
    /// An earlier template of the user's maps a column of that name so.
    AsIn(String),
    Sure,
    Likely,
    Guess,
}

impl std::fmt::Display for Sureness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Sureness::AsIn(name) => write!(f, "as in {name}"),
            Sureness::Sure => f.write_str("sure"),
            Sureness::Likely => f.write_str("likely"),
            Sureness::Guess => f.write_str("a guess"),
        }
    }
}

/// A field that got a column.
#[derive(Clone, Debug)]
pub struct Placed {
    pub slot: usize,
    pub column: usize,
    pub why: String,
    pub sure: Sureness,
    /// Other columns that could be meant.
    pub also: Vec<usize>,
}

/// What a column can be for.
pub struct Slot {
    /// Nothing for what names the record that a row belongs to and is no field.
    pub field: Option<&'static Field>,
    pub place: Place,
    pub sort: Sort,
    terms: Terms,
}

/// Everything that a column of a kind of record can be for.
pub struct Slots {
    pub slots: Vec<Slot>,
    kind: RecordKind,
}

/// Which columns were taken, and in whose words most of the headers are.
pub struct Chosen {
    pub placed: Vec<Placed>,
    pub language: Option<Language>,
}

impl Slots {
    pub fn of(kind: RecordKind) -> Slots {
        let vocabulary = of(kind);
        let input = kind.input();
        let slot = |synonyms: &Synonyms, field: Option<&'static Field>, place| Slot {
            field,
            place,
            sort: sort(kind, place, synonyms.field),
            // The service's own id of a record is in no sheet that people keep: only an earlier template tells it.
            terms: Terms::of(synonyms, vocabulary, field.map(|field| field.name).filter(|_| place != Place::Id)),
        };
        let id =
            input.id.as_ref().map(|id| slot(&Synonyms { field: id.name, sets: &[], kin: "" }, Some(id), Place::Id));
        let fields = vocabulary.fields.iter().map(|names| slot(names, input.field(names.field), Place::Record));
        let line = |name: &str| input.lines().and_then(|(_, fields)| fields.iter().find(|field| field.name == name));
        let lines = vocabulary.lines.iter().map(|names| slot(names, line(names.field), Place::Line));
        let group = vocabulary.group.map(|names| slot(names, None, Place::Id));
        Slots {
            slots: id.into_iter().chain(fields).chain(lines).filter(|slot| slot.field.is_some()).chain(group).collect(),
            kind,
        }
    }

    /// How many different fields a row of names speaks of.
    pub fn says(&self, names: &[String]) -> usize {
        // A sentence about a column is not its name, and neither is a number.
        let is_name = |name: &&String| name.len() <= 60 && name.contains(char::is_alphabetic);
        let names: Vec<Name> = names.iter().take(MOST_COLUMNS).filter(is_name).map(|name| Name::of(name)).collect();
        let said = |slot: &&Slot| names.iter().any(|name| slot.terms.is_plainly(name));
        self.slots.iter().filter(said).count()
    }

    /// Whether the header is plainly the name of a field, whichever.
    fn names(&self, name: &Name) -> bool {
        self.slots.iter().any(|slot| slot.terms.is_plainly(name))
    }

    pub fn kind(&self) -> RecordKind {
        self.kind
    }

    pub fn index(&self, place: Place, name: &str) -> Option<usize> {
        self.slots.iter().position(|slot| slot.place == place && slot.field.is_some_and(|field| field.name == name))
    }

    /// The slot of what is no field and names the record.
    pub fn group(&self) -> Option<usize> {
        self.slots.iter().position(|slot| slot.field.is_none())
    }
}

/// What is known about the columns.
pub struct Known<'a> {
    pub slots: &'a Slots,
    pub sample: &'a Sample,
    pub profiles: &'a [Profile],
}

struct Candidate {
    slot: usize,
    column: usize,
    score: f64,
    likeness: Likeness,
}

impl Known<'_> {
    pub fn choose(&self, earlier: &[Earlier]) -> Chosen {
        let mut placed = self.as_before(earlier);
        let mut candidates = self.by_name();
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.column.cmp(&b.column)).then(a.slot.cmp(&b.slot)));
        for candidate in candidates.iter().filter(|candidate| candidate.score >= ENOUGH) {
            if is_free(&placed, candidate.slot, candidate.column) {
                placed.push(self.of_name(candidate));
            }
        }
        self.name_from_description(&mut placed);
        self.by_shape(&mut placed);
        self.drop_vain_lines(&mut placed);
        for index in 0..placed.len() {
            let also =
                candidates.iter().filter(|other| other.slot == placed[index].slot && other.score >= WORTH_SAYING);
            let also =
                also.map(|other| other.column).filter(|column| placed.iter().all(|other| other.column != *column));
            placed[index].also = also.collect();
        }
        placed.sort_by_key(|placed| placed.slot);
        Chosen { placed, language: language(&candidates) }
    }

    /// What earlier templates say: of several the one that knows the most of these headers.
    fn as_before(&self, earlier: &[Earlier]) -> Vec<Placed> {
        let labels: Vec<&str> = self.sample.columns.iter().map(|column| column.bound.as_str()).collect();
        let mut known: Vec<(Vec<(usize, usize)>, &Earlier)> =
            earlier.iter().map(|earlier| (earlier.columns(self.slots, &labels), earlier)).collect();
        known.sort_by_key(|(found, _)| std::cmp::Reverse(found.len()));
        let mut placed: Vec<Placed> = Vec::new();
        for (found, earlier) in known {
            for (slot, column) in found {
                if is_free(&placed, slot, column) {
                    let why = "mapped so before".to_owned();
                    placed.push(Placed {
                        slot,
                        column,
                        why,
                        sure: Sureness::AsIn(earlier.name.clone()),
                        also: Vec::new(),
                    });
                }
            }
        }
        placed
    }

    fn by_name(&self) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for (column, (about, profile)) in self.sample.columns.iter().zip(self.profiles).enumerate() {
            if about.name.is_empty() {
                continue;
            }
            for (slot, what) in self.slots.slots.iter().enumerate() {
                if let Some(mut likeness) = what.terms.likeness(&about.name) {
                    // Nobody writes a field's name as the contract does by chance.
                    let spelt = what
                        .field
                        .is_some_and(|field| field.name == about.label && field.name != field.name.to_lowercase());
                    if spelt && likeness.how == Match::Exact {
                        likeness.score = 1.0;
                    }
                    let score = likeness.score * shape::fit(what.sort, profile);
                    candidates.push(Candidate { slot, column, score, likeness });
                }
            }
        }
        candidates
    }

    fn of_name(&self, candidate: &Candidate) -> Placed {
        let like = candidate.likeness.like;
        let (mut why, near) = match candidate.likeness.how {
            Match::Exact if candidate.score < LIKELY => ("columns of this name may hold it".to_owned(), false),
            Match::Exact => ("by its name".to_owned(), false),
            Match::AllWords => (format!("its name says '{like}'"), false),
            Match::Nearest => (format!("its name is almost '{like}'"), true),
        };
        let empty = self.profiles.get(candidate.column).is_some_and(Profile::is_empty);
        if empty {
            why.push_str("; it is empty so far");
        }
        let sure = match candidate.score {
            _ if near || empty => Sureness::Guess,
            score if score >= SURE => Sureness::Sure,
            score if score >= LIKELY => Sureness::Likely,
            _ => Sureness::Guess,
        };
        Placed { slot: candidate.slot, column: candidate.column, why, sure, also: Vec::new() }
    }

    /// An item without a name is of little use: where only a description is there and is short, it is the name.
    fn name_from_description(&self, placed: &mut [Placed]) {
        let slot = |name| self.slots.index(Place::Record, name);
        let (RecordKind::Item, Some(name), Some(description)) = (self.slots.kind, slot("name"), slot("description"))
        else {
            return;
        };
        if placed.iter().any(|placed| placed.slot == name) {
            return;
        }
        let is_short = |placed: &Placed| {
            self.profiles.get(placed.column).is_some_and(|it| it.filled > 0 && it.length() < 60.0 && it.html == 0)
        };
        let described = placed.iter_mut().find(|placed| placed.slot == description && placed.sure == Sureness::Sure);
        if let Some(described) = described.filter(|placed| is_short(placed)) {
            described.slot = name;
            described.why = "no column is called a name, and these descriptions are short".to_owned();
            described.sure = Sureness::Guess;
        }
    }

    /// Fields that no name tells, by the values of the columns that are left.
    fn by_shape(&self, placed: &mut Vec<Placed>) {
        self.two_prices(placed);
        for slot in 0..self.slots.slots.len() {
            if placed.iter().any(|placed| placed.slot == slot) || !self.may_guess(slot) {
                continue;
            }
            let free = (0..self.profiles.len()).filter(|column| self.is_open(placed, *column));
            let guessed = free.filter_map(|column| self.guess(slot, column).map(|(score, why)| (score, column, why)));
            // Of equals the leftmost.
            let best = guessed.reduce(|best, next| if next.0 > best.0 { next } else { best });
            if let Some((_, column, why)) = best {
                let (why, sure) = (why.to_owned(), Sureness::Guess);
                placed.push(Placed { slot, column, why, sure, also: Vec::new() });
            }
        }
    }

    /// Lines, groups and second prices are not read out of numbers alone.
    fn may_guess(&self, slot: usize) -> bool {
        self.slots.slots.get(slot).is_some_and(|slot| match slot.field {
            None => true,
            Some(field) => {
                field.name != "purchasePrice"
                    && (slot.place == Place::Record || slot.place == Place::Line && field.required)
            }
        })
    }

    fn guess(&self, slot: usize, column: usize) -> Option<(f64, &'static str)> {
        let (slot, profile) = (self.slots.slots.get(slot)?, self.profiles.get(column)?);
        let names_groups = slot.field.is_none() || self.slots.kind == RecordKind::Order && slot.sort == Sort::Reference;
        if names_groups && slot.field.is_none_or(|field| field.name == "externalId") {
            let others_differ = self.profiles.iter().any(|other| other.stretches > profile.stretches);
            let codes =
                profile.share(profile.with_digits) > 0.8 && profile.share(profile.dates) < 0.5 && profile.decimals == 0;
            let grouped = profile.is_grouped() && others_differ && codes && profile.fill() > 0.9;
            return grouped.then_some((0.6, "repeats over rows that follow each other, while others differ"));
        }
        shape::guess(slot.sort, profile)
    }

    /// Two columns of amounts that no name tells apart: people sell for more than they buy for.
    fn two_prices(&self, placed: &mut Vec<Placed>) {
        let slot = |name| self.slots.index(Place::Record, name);
        let (Some(price), Some(purchase)) = (slot("price"), slot("purchasePrice")) else { return };
        if placed.iter().any(|placed| placed.slot == price || placed.slot == purchase) {
            return;
        }
        let amounts = (0..self.profiles.len())
            .filter(|column| self.is_open(placed, *column) && self.guess(price, *column).is_some());
        let amounts: Vec<usize> = amounts.take(3).collect();
        let [first, second] = amounts.as_slice() else { return };
        let Some(first_is_larger) = shape::is_larger(&self.profiles[*first], &self.profiles[*second]) else { return };
        let (larger, smaller) = if first_is_larger { (*first, *second) } else { (*second, *first) };
        for (slot, column, why) in [
            (price, larger, "amounts, and the larger of the two on most rows"),
            (purchase, smaller, "amounts, and the smaller of the two on most rows"),
        ] {
            placed.push(Placed { slot, column, why: why.to_owned(), sure: Sureness::Guess, also: Vec::new() });
        }
    }

    /// Lines that name no item would replace an order's lines by what nobody recognises.
    fn drop_vain_lines(&self, placed: &mut Vec<Placed>) {
        let is_line = |placed: &Placed| self.slots.slots.get(placed.slot).is_some_and(|slot| slot.place == Place::Line);
        let item = |placed: &Placed| self.slots.slots.get(placed.slot).is_some_and(|slot| slot.sort == Sort::Reference);
        if self.slots.kind == RecordKind::Order && !placed.iter().any(|placed| is_line(placed) && item(placed)) {
            placed.retain(|placed| !is_line(placed));
        }
    }

    /// Whether values alone may say what the column is for.
    fn is_open(&self, placed: &[Placed], column: usize) -> bool {
        let about = self.sample.columns.get(column);
        placed.iter().all(|placed| placed.column != column)
            && about.is_some_and(|about| about.is_silent || !about.name.is_alien() && !self.slots.names(&about.name))
    }
}

fn is_free(placed: &[Placed], slot: usize, column: usize) -> bool {
    placed.iter().all(|placed| placed.slot != slot && placed.column != column)
}

/// The language of most of the headers that were understood.
fn language(candidates: &[Candidate]) -> Option<Language> {
    let mut said: Vec<(Language, usize)> = Vec::new();
    for candidate in
        candidates.iter().filter(|candidate| candidate.score >= LIKELY && candidate.likeness.how != Match::Nearest)
    {
        match said.iter_mut().find(|(language, _)| *language == candidate.likeness.language) {
            Some((_, count)) => *count += 1,
            None => said.push((candidate.likeness.language, 1)),
        }
    }
    said.into_iter().rev().max_by_key(|(_, count)| *count).map(|(language, _)| language)
}

fn sort(kind: RecordKind, place: Place, field: &str) -> Sort {
    match (kind, place, field) {
        (RecordKind::Item, _, "externalId") => Sort::Key,
        (_, _, "name") => Sort::Title,
        (_, _, "description") => Sort::LongText,
        (_, _, "currency") => Sort::Currency,
        (_, _, "price" | "purchasePrice") => Sort::Price,
        (RecordKind::Order, _, "tax") => Sort::Duty,
        (_, _, "tax" | "tax_rate") => Sort::Rate,
        (_, _, "status" | "deliveryStatus" | "subscription_status" | "transactionType" | "inventoryType") => {
            Sort::Status
        }
        (_, _, "orderAt" | "transactionDate") => Sort::Date,
        (_, _, "quantity" | "amount" | "transactionAmount") => Sort::Quantity,
        (_, _, "useUnitValue") => Sort::Boolean,
        _ => Sort::Reference,
    }
}
