//! A mapping template proposed from a sheet itself: its headers, the beginning of its values, and the templates that the
//! user made before. Pure: it is told all of these, and answers which column it takes for which field, why, and how
//! sure it is.
//!
//! [`Sample`] finds the header; `names` compares headers with the `synonyms` of each field, `profile` and `shape` look
//! at the values; `choose` gives each field its column; `propose` adds what the template must say of it; `write` makes
//! the TOML.

mod choose;
mod earlier;
mod fold;
mod money;
mod names;
mod numbers;
mod profile;
mod propose;
mod sample;
mod shape;
mod synonyms;
#[cfg(test)]
mod tests;
mod write;

use super::bind::{Layout, bind};
use super::load::{load, no_tables};
use super::model::{ColumnName, Constant, Place};
use crate::records::{JsonType, RecordKind};

pub use choose::Sureness;
use choose::{Chosen, Known, Slots};
pub use earlier::Earlier;
use numbers::Locales;
use profile::Profile;
use propose::Teller;
pub use sample::{Column, ROWS, Sample};
use shape::Sort;

/// What is known besides the sheet's rows.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// As the template calls the file.
    pub file: String,
    /// The sheet's name, where the file has several.
    pub sheet: Option<String>,
    /// How the file was said to be read, as keys of `[sheet]`.
    pub reading: Vec<(&'static str, String)>,
    pub earlier: Vec<Earlier>,
}

/// A proposed template.
#[derive(Clone, Debug)]
pub struct Proposal {
    pub kind: RecordKind,
    pub fields: Vec<Proposed>,
    pub missing: Vec<Missing>,
    /// The headers of the columns that no field takes.
    pub unplaced: Vec<String>,
    /// The column by which rows are grouped, where it is no field.
    pub grouped_by: Option<Proposed>,
    /// What a person should look at before anything is sent.
    pub remarks: Vec<String>,
    /// The template itself.
    pub toml: String,
    file: String,
    sheet: Option<String>,
    reading: Vec<(&'static str, String)>,
    /// The header's row, where looking for it would find another one.
    header: Option<u64>,
    has_header: bool,
    group: Option<Group>,
    locales: Locales,
    skips: Vec<Skip>,
    wants_currency: bool,
}

/// What is proposed for one field.
#[derive(Clone, Debug)]
pub struct Proposed {
    pub field: &'static str,
    pub place: Place,
    pub from: From,
    pub why: String,
    pub sure: Sureness,
    doc: &'static str,
    comments: Vec<String>,
    keys: Vec<String>,
    /// Lines that a person may take the mark off.
    drafts: Vec<String>,
    also: Vec<String>,
}

/// Where a field's value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// A column: its place from 0, its header, and how the template names it.
    Column {
        index: usize,
        label: String,
        called: ColumnName,
    },
    Constant(Constant),
}

impl From {
    /// What a person calls it: a column's header, or the constant.
    pub fn shown(&self) -> String {
        match self {
            From::Column { label, .. } => label.clone(),
            From::Constant(Constant::Text(text)) => text.clone(),
            From::Constant(Constant::Number(number)) => number.to_string(),
            From::Constant(Constant::Boolean(boolean)) => boolean.to_string(),
            From::Constant(Constant::Null) => "null".to_owned(),
        }
    }
}

/// A field that is needed and has no column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub field: &'static str,
    pub place: Place,
    pub doc: &'static str,
}

/// What tells which rows belong together.
#[derive(Clone, Debug)]
struct Group {
    index: usize,
    label: String,
    called: ColumnName,
    why: String,
    sure: Sureness,
    blank_is_above: bool,
}

/// Rows that are probably no records.
#[derive(Clone, Debug)]
struct Skip {
    why: String,
    column: ColumnName,
    matches: String,
}

impl Group {
    /// For the list of what each column was taken for.
    fn told(&self) -> Proposed {
        Proposed {
            field: "group.by",
            place: Place::Id,
            doc: "which rows belong together",
            from: From::Column { index: self.index, label: self.label.clone(), called: self.called.clone() },
            why: self.why.clone(),
            sure: self.sure.clone(),
            comments: Vec::new(),
            keys: Vec::new(),
            drafts: Vec::new(),
            also: Vec::new(),
        }
    }
}

impl Proposed {
    /// The field as a template names it: `price`, or `lines.price`.
    pub fn path(&self) -> String {
        path(self.place, self.field)
    }
}

impl Missing {
    pub fn path(&self) -> String {
        path(self.place, self.field)
    }
}

impl Proposal {
    /// How well a sheet fits the kind of record: by this the sheet of a workbook is chosen.
    pub fn worth(&self) -> usize {
        let worth = |proposed: &Proposed| match proposed.sure {
            Sureness::AsIn(_) => 5,
            Sureness::Sure => 4,
            Sureness::Likely => 3,
            Sureness::Guess => 1,
        };
        let placed: usize = self.fields.iter().map(worth).sum();
        placed + if self.missing.is_empty() { 3 } else { 0 }
    }
}

/// Proposes a template for the sheet that begins with `sample`.
pub fn infer(kind: RecordKind, sample: &Sample, context: Context) -> Proposal {
    let slots = Slots::of(kind);
    let profiles: Vec<Profile> = (0..sample.columns.len()).map(|index| Profile::of(&sample.rows, index)).collect();
    let known = Known { slots: &slots, sample, profiles: &profiles };
    let chosen = known.choose(&context.earlier);
    let is_number = |slot: usize| {
        let field = slots.slots.get(slot).and_then(|slot| slot.field);
        field.is_some_and(|field| matches!(field.json, JsonType::Number | JsonType::Integer))
    };
    let numeric: Vec<usize> =
        chosen.placed.iter().filter(|placed| is_number(placed.slot)).map(|placed| placed.column).collect();
    let locales = numbers::locales(sample, &numeric, chosen.language);
    let (language, earlier) = (chosen.language, context.earlier.as_slice());
    let teller = Teller { known: &known, kind, locales: &locales, language, earlier };
    let mut remarks = Vec::new();
    let mut fields = Vec::new();
    for told in chosen.placed.iter().filter_map(|placed| teller.tell(placed, &chosen)) {
        fields.push(told.proposed);
        remarks.extend(told.remarks);
    }
    fields.extend(teller.currency(&chosen));
    let constants = teller.constants_before(&chosen, &fields);
    fields.extend(constants);
    let input = kind.input();
    fields.sort_by_key(|proposed| {
        let order = input.mappable().position(|field| field.name == proposed.field);
        (proposed.place == Place::Line, order)
    });
    if !sample.has_header && sample.header_row.is_some() {
        remarks.push("no row names the columns: put one above the values, or the first row is taken for it".to_owned());
    }
    if sample.beyond > 0 {
        remarks.push(format!("{} columns past the {}th were not looked at", sample.beyond, sample.columns.len()));
    }
    if let Some(example) = &locales.unclear {
        remarks.push(format!("numbers such as {example} can be read in two ways: see locale in the template"));
    }
    let group = group(&known, &chosen, &fields);
    let taken = |index: usize| {
        chosen.placed.iter().any(|placed| placed.column == index)
            || group.as_ref().is_some_and(|group| group.index == index)
    };
    let unplaced =
        sample.columns.iter().enumerate().filter(|(index, _)| !taken(*index)).map(|(_, column)| column.label.clone());
    let is_field = |index: usize| {
        fields.iter().any(|proposed| matches!(proposed.from, From::Column { index: other, .. } if other == index))
    };
    let wants_currency =
        input.field("currency").is_some() && !fields.iter().any(|proposed| proposed.field == "currency");
    let mut proposal = Proposal {
        kind,
        missing: missing(kind, &fields),
        unplaced: unplaced.collect(),
        remarks,
        grouped_by: group.as_ref().filter(|group| !is_field(group.index)).map(Group::told),
        toml: String::new(),
        file: context.file,
        sheet: context.sheet,
        reading: context.reading,
        header: None,
        has_header: sample.has_header,
        skips: skips(&known, &fields),
        group,
        locales,
        wants_currency,
        fields,
    };
    proposal.toml = write::toml(&proposal);
    settle_header(&mut proposal, sample);
    proposal
}

/// Looking for the header is best, because next month's sheet may have it elsewhere. Where that finds another row, or
/// the template's names in other columns, the row's number is written.
fn settle_header(proposal: &mut Proposal, sample: &Sample) {
    let complete = load("proposal", &proposal.toml, &no_tables);
    let found = complete.ok().and_then(|template| bind(&template, &sample.top).ok());
    let is_right = |layout: &Layout| Some(layout.header.row) == sample.header_row;
    if sample.has_header && found.as_ref().is_some_and(is_right) {
        return;
    }
    // What is not complete can't be tried: the row that was found is written.
    let tops = sample.top.first().map(|row| row.number);
    if !proposal.missing.is_empty() && sample.has_header && sample.header_row == tops {
        return;
    }
    proposal.header = sample.header_row;
    proposal.toml = write::toml(proposal);
}

fn missing(kind: RecordKind, fields: &[Proposed]) -> Vec<Missing> {
    let input = kind.input();
    let has = |place: Place, name: &str| {
        fields
            .iter()
            .any(|proposed| (proposed.place == Place::Line) == (place == Place::Line) && proposed.field == name)
    };
    let needed = input.fields().filter(|field| field.required && !has(Place::Record, field.name));
    let mut missing: Vec<Missing> =
        needed.map(|field| Missing { field: field.name, place: Place::Record, doc: field.doc }).collect();
    if input.create.is_none() && !input.key.iter().any(|key| has(Place::Record, key)) {
        let key = input.key.iter().rev().find_map(|key| input.field(key));
        missing.extend(key.map(|field| Missing { field: field.name, place: Place::Record, doc: field.doc }));
    }
    if let Some((list, lines)) = input.lines()
        && (list.required || fields.iter().any(|proposed| proposed.place == Place::Line))
    {
        let needed = lines.iter().filter(|field| field.required && !has(Place::Line, field.name));
        missing.extend(needed.map(|field| Missing { field: field.name, place: Place::Line, doc: field.doc }));
    }
    missing
}

/// What groups the rows: the column that names the record, where records have lines.
fn group(known: &Known<'_>, chosen: &Chosen, fields: &[Proposed]) -> Option<Group> {
    known.slots.kind().input().lines()?;
    let keys = known.slots.kind().input().key;
    let by_key = keys.iter().find_map(|key| {
        chosen.placed.iter().find(|placed| {
            let slot = known.slots.slots.get(placed.slot);
            slot.is_some_and(|slot| slot.place != Place::Line && slot.field.is_some_and(|field| field.name == *key))
        })
    });
    let of_group = || chosen.placed.iter().find(|placed| Some(placed.slot) == known.slots.group());
    let placed = by_key.or_else(of_group)?;
    if !fields.iter().any(|proposed| proposed.place == Place::Line) {
        return None;
    }
    let (column, profile) = (known.sample.columns.get(placed.column)?, known.profiles.get(placed.column)?);
    Some(Group {
        index: placed.column,
        label: column.label.clone(),
        called: column.called.clone(),
        why: placed.why.clone(),
        sure: placed.sure.clone(),
        blank_is_above: profile.blank_below > 0,
    })
}

/// Rows that sum up, and rows that name nothing.
fn skips(known: &Known<'_>, fields: &[Proposed]) -> Vec<Skip> {
    let names = |proposed: &&Proposed| {
        let slot = known.slots.index(proposed.place, proposed.field).and_then(|index| known.slots.slots.get(index));
        slot.is_some_and(|slot| matches!(slot.sort, Sort::Key | Sort::Title) && proposed.place == Place::Record)
    };
    let column = |proposed: &Proposed| match &proposed.from {
        From::Column { index, called, .. } => Some((*index, called.clone())),
        From::Constant(_) => None,
    };
    let mut skips = Vec::new();
    for proposed in fields.iter().filter(names) {
        let Some((index, called)) = column(proposed) else { continue };
        let Some(profile) = known.profiles.get(index) else { continue };
        if !profile.totals.is_empty() {
            let words: Vec<String> = profile.totals.iter().map(|word| regex::escape(word)).collect();
            let why = "Some rows seem to sum up others. To leave them out, take off the #:".to_owned();
            skips.push(Skip { why, column: called.clone(), matches: format!("^({})", words.join("|")) });
        }
        let blank = profile.rows - profile.filled;
        if proposed.field == "externalId" && blank > 0 && profile.filled > 0 {
            let why = format!(
                "Rows without an identifier are a problem: {blank} of {}. If they are no items, take off the # to leave them out:",
                profile.rows
            );
            skips.push(Skip { why, column: called, matches: "^\\s*$".to_owned() });
        }
    }
    skips
}

fn path(place: Place, field: &str) -> String {
    match place {
        Place::Line => format!("lines.{field}"),
        Place::Id | Place::Record | Place::Option => field.to_owned(),
    }
}
