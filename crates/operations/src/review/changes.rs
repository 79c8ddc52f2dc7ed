//! The changes of a plan under review: each record with what it would change, and what a person approves of it.

use std::collections::{BTreeMap, BTreeSet};

use sheetport_ledger::{Disposition, RunId, Seq};
use sheetport_plan::approve::Mark;
use sheetport_plan::compare::{Change, ChangedField, Difference, can_leave_out, planned_values};
use sheetport_records::RecordKind;

use super::super::context::Context;
use super::super::error::Error;
use super::super::event::Observer;
use super::super::uploads::{Fate, PlannedChanges, Upload, first_problem, is_sent_before, plan_changes};
use crate::operation::LocalOperation;

/// Maximum memory for the values of new records, in bytes. Those of further ones are not shown.
const MAX_VALUES: usize = 64 << 20;

/// A plan under review.
#[derive(Debug)]
pub struct PlanReview {
    pub run: RunId,
    /// The comparison with the service, by field. Its records are in `changes`.
    pub difference: Difference,
    pub changes: ChangeList,
    /// Requests of the comparison.
    pub requests: u64,
}

/// The records of a plan, odd changes first, with what a person approves of them.
#[derive(Debug)]
pub struct ChangeList {
    kind: RecordKind,
    records: Vec<PlannedChange>,
}

/// A record of a plan.
#[derive(Debug)]
pub struct PlannedChange {
    pub seq: Seq,
    /// Its first row.
    pub row: Option<u64>,
    pub sheet: Box<str>,
    /// The name of the record for people.
    pub name: Box<str>,
    pub fate: Fate,
    /// Why it is not sent, if that is known.
    pub remark: Box<str>,
    /// The fields with other values than in the service.
    pub fields: Vec<ChangedField>,
    /// The values of a new record, by field.
    pub values: Vec<(&'static str, Box<str>)>,
    /// What is approved of the fields; of a record without changed fields, whether it is approved as a whole.
    approved: Vec<bool>,
}

/// Selects records of a plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChangeFilter<'a> {
    /// Only those with a fate of this name.
    pub fate: Option<&'a str>,
    /// Only those with an odd change.
    pub is_odd: bool,
    /// Only those with another value in this field.
    pub field: Option<&'a str>,
}

/// What a person decides about.
#[derive(Clone, Copy, Debug)]
pub enum Decision<'a> {
    /// All selected records; with a field, that field of them.
    Selected(ChangeFilter<'a>),
    /// A record, or one of its fields.
    Record(Seq, Option<&'a str>),
}

/// How much of a plan is approved, in records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApprovedCounts {
    pub sendable: u64,
    pub approved: u64,
    /// Approved records without some of their fields.
    pub partly: u64,
}

/// Plans an upload, and compares its records with the service. Sends nothing.
///
/// # Errors
/// Those of [`plan_changes`].
pub fn plan_to_review<'a>(
    context: &'a Context,
    upload: Upload<'a>,
    observer: Observer<'a>,
) -> LocalOperation<'a, PlanReview> {
    Box::pin(async move {
        let PlannedChanges { run, mut difference, requests, .. } =
            plan_changes(context, upload, None, 0, observer).await?;
        let found = std::mem::take(&mut difference.records);
        let changes = ChangeList::load(context, run.id, run.about.record, found).await?;
        Ok(PlanReview { run: run.id, difference, changes, requests })
    })
}

impl ChangeList {
    async fn load(
        context: &Context,
        run: RunId,
        kind: RecordKind,
        mut found: BTreeMap<Seq, Change>,
    ) -> Result<ChangeList, Error> {
        let ledger = context.ledger().await?;
        let (mut records, mut from, mut held): (Vec<PlannedChange>, Seq, usize) = (Vec::new(), 0, 0);
        while let Some(block) = ledger.record_block(run, from).await? {
            from = block.end();
            let outcomes = ledger.outcomes(run, block.first..=from - 1).await?;
            for (seq, record) in block.numbered() {
                let (outcome, change) = (outcomes.get(&seq), found.remove(&seq));
                let fate = match Fate::of(record, outcome, change.as_ref()) {
                    Fate::Settled(_) if is_sent_before(outcome) => Fate::SentBefore,
                    fate => fate,
                };
                let fields = match change {
                    Some(Change::Changed(fields)) if matches!(fate, Fate::Changed | Fate::Gone) => fields.into_vec(),
                    _ => Vec::new(),
                };
                let values: Vec<(&'static str, Box<str>)> = match &record.disposition {
                    Disposition::Send(body) if fate == Fate::New && held < MAX_VALUES => {
                        held += body.len();
                        let values = planned_values(kind, body).into_iter();
                        values.map(|(field, value)| (field, value.into())).collect()
                    }
                    _ => Vec::new(),
                };
                let row = record.rows.first().copied();
                let remark = first_problem(record, outcome).map(|problem| problem.message.as_str()).unwrap_or_default();
                let name = record.key.clone().or_else(|| row.map(|row| row.to_string())).unwrap_or_default();
                // Nothing has to be sent of the one, and the service would refuse the other.
                let is_approved = fate.is_sendable() && !matches!(fate, Fate::Unchanged | Fate::NotThere);
                let approved = vec![is_approved; fields.len().max(1)];
                let (sheet, name, remark) = (record.sheet.as_str().into(), name.into(), remark.into());
                records.push(PlannedChange { seq, row, sheet, name, fate, remark, fields, values, approved });
            }
        }
        ledger.close().await;
        let mut list = ChangeList { kind, records };
        list.records.sort_by_key(|record| (!record.is_odd(), rank(record.fate), record.seq));
        Ok(list)
    }

    /// Returns the fates of the records, each with the number of its records.
    pub fn fates(&self) -> Vec<(Fate, u64)> {
        let mut fates: Vec<(Fate, u64)> = Vec::new();
        for record in &self.records {
            match fates.iter_mut().find(|(fate, _)| *fate == record.fate) {
                Some((_, count)) => *count += 1,
                None => fates.push((record.fate, 1)),
            }
        }
        fates.sort_by_key(|(fate, _)| rank(*fate));
        fates
    }

    /// Returns the number of records with an odd change.
    pub fn odd(&self) -> u64 {
        self.records.iter().filter(|record| record.is_odd()).count() as u64
    }

    /// Returns the fields with changes or values of new records, in the order of the contract.
    pub fn columns(&self) -> Vec<&'static str> {
        let input = self.kind.input();
        let place = |name: &str| input.fields().position(|field| field.name == name).unwrap_or(usize::MAX);
        let mut columns: BTreeSet<(usize, &'static str)> = BTreeSet::new();
        for record in &self.records {
            let changed = record.fields.iter().map(|field| field.field);
            let new = record.values.iter().filter(|(_, value)| !value.is_empty()).map(|(field, _)| *field);
            // The key of a record is its name.
            let names = changed.chain(new).filter(|name| !input.key.contains(name));
            columns.extend(names.map(|name| (place(name), name)));
        }
        columns.into_iter().map(|(_, name)| name).collect()
    }

    /// Whether records of this kind have the field.
    pub fn has_field(&self, field: &str) -> bool {
        let is_changed = |record: &PlannedChange| record.approves(field).is_some();
        self.kind.input().fields().any(|known| known.name == field) || self.records.iter().any(is_changed)
    }

    /// Returns how much is approved.
    pub fn approved(&self) -> ApprovedCounts {
        let mut counts = ApprovedCounts::default();
        for record in self.records.iter().filter(|record| record.fate.is_sendable()) {
            counts.sendable += 1;
            if record.is_approved() {
                counts.approved += 1;
                counts.partly += u64::from(record.approved.contains(&false));
            }
        }
        counts
    }

    /// Returns the number of records of which the change of a field is approved.
    pub fn approved_of(&self, field: &str) -> u64 {
        self.records.iter().filter(|record| record.approves(field) == Some(true)).count() as u64
    }

    /// Whether a field can be left out of a record that is sent.
    pub fn can_leave_out(&self, field: &str) -> bool {
        can_leave_out(self.kind, field)
    }

    /// Returns the number of the selected records, and `count` of them from the place `from` on.
    pub fn window(&self, filter: ChangeFilter<'_>, from: usize, count: usize) -> (usize, Vec<&PlannedChange>) {
        let selected = || self.records.iter().filter(|record| record.is_selected(filter));
        (selected().count(), selected().skip(from).take(count).collect())
    }

    /// Notes what a person decides. A field that a request needs goes with its record.
    pub fn decide(&mut self, about: Decision<'_>, approves: bool) {
        let kind = self.kind;
        match about {
            Decision::Selected(filter) => {
                for record in self.records.iter_mut().filter(|record| record.is_selected(filter)) {
                    record.decide(kind, filter.field, approves);
                }
            }
            Decision::Record(seq, field) => {
                if let Some(record) = self.records.iter_mut().find(|record| record.seq == seq) {
                    record.decide(kind, field, approves);
                }
            }
        }
    }

    /// Returns a yes or a no to each change, in the order of the plan.
    pub fn marks(&self) -> Vec<Mark> {
        let mut marks: Vec<Mark> = Vec::new();
        for record in self.records.iter().filter(|record| record.fate.is_sendable()) {
            let names = record.fields.iter().map(|field| field.field);
            let whole = record.fields.is_empty().then_some("");
            marks.extend(names.chain(whole).zip(&record.approved).map(|(field, approves)| Mark {
                seq: record.seq,
                field: field.into(),
                row: record.row.unwrap_or_default(),
                approves: Some(*approves),
                planned: None,
            }));
        }
        marks.sort_by_key(|mark| mark.seq);
        marks
    }
}

impl PlannedChange {
    /// Whether a change of the record is odd.
    pub fn is_odd(&self) -> bool {
        self.fields.iter().any(|field| field.odd.is_some())
    }

    /// Whether something of the record is to be sent.
    pub fn is_approved(&self) -> bool {
        self.approved.contains(&true)
    }

    /// Returns whether the change of a field is approved, or `None` if the field does not change.
    pub fn approves(&self, field: &str) -> Option<bool> {
        let place = self.fields.iter().position(|known| known.field == field)?;
        self.approved.get(place).copied()
    }

    fn is_selected(&self, filter: ChangeFilter<'_>) -> bool {
        let has_field = |field: &str| self.fields.iter().any(|known| known.field == field);
        filter.fate.is_none_or(|name| self.fate.name() == name)
            && (!filter.is_odd || self.is_odd())
            && filter.field.is_none_or(has_field)
    }

    fn decide(&mut self, kind: RecordKind, field: Option<&str>, approves: bool) {
        let is_about = |field: &str| self.fields.iter().any(|known| known.field == field);
        // Without the field, nothing of the record is decided, and no field that goes with it.
        if !self.fate.is_sendable() || !field.is_none_or(is_about) {
            return;
        }
        match field {
            None => self.approved.fill(approves),
            Some(field) => {
                let places = self.fields.iter().zip(&mut self.approved);
                places.filter(|(known, _)| known.field == field).for_each(|(_, approved)| *approved = approves);
            }
        }
        let needed = |field: &ChangedField| !can_leave_out(kind, field.field);
        let is_needed: Vec<bool> = self.fields.iter().map(needed).collect();
        if approves {
            is_needed.iter().zip(&mut self.approved).for_each(|(is_needed, approved)| *approved |= is_needed);
        } else if is_needed.iter().zip(&self.approved).any(|(is_needed, approved)| *is_needed && !approved) {
            self.approved.fill(false);
        }
    }
}

/// Returns the place of a fate in the order in which people look: what is to be sent before what is not.
fn rank(fate: Fate) -> u8 {
    match fate {
        Fate::Changed => 0,
        Fate::New => 1,
        Fate::Gone => 2,
        Fate::NotThere => 3,
        Fate::NotCompared => 4,
        Fate::NotShown => 5,
        Fate::Unchanged => 6,
        Fate::SentBefore => 7,
        Fate::Settled(_) => 8,
        Fate::LeftOut => 9,
        Fate::Refused => 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(seq: Seq, fate: Fate, fields: &[&'static str]) -> PlannedChange {
        let field = |field: &&'static str| ChangedField::new(field, "\"a\"", "b");
        let fields: Vec<ChangedField> = fields.iter().map(field).collect();
        let approved = vec![fate.is_sendable(); fields.len().max(1)];
        let row = Some(seq.cast_unsigned());
        PlannedChange {
            seq,
            row,
            sheet: "".into(),
            name: "".into(),
            fate,
            remark: "".into(),
            fields,
            values: Vec::new(),
            approved,
        }
    }

    #[test]
    fn each_change_gets_a_yes_or_a_no() {
        let records = vec![
            record(4, Fate::Changed, &["name", "price"]),
            record(2, Fate::Changed, &["price"]),
            record(1, Fate::New, &[]),
            record(3, Fate::Refused, &[]),
        ];
        let mut list = ChangeList { kind: RecordKind::Item, records };
        let price = ChangeFilter { field: Some("price"), ..ChangeFilter::default() };
        list.decide(Decision::Selected(price), false);
        let counts = |list: &ChangeList| (list.approved().sendable, list.approved().approved, list.approved().partly);
        assert_eq!(counts(&list), (3, 2, 1));
        let marks: Vec<(Seq, String, Option<bool>)> =
            list.marks().into_iter().map(|mark| (mark.seq, mark.field.into(), mark.approves)).collect();
        let mark = |seq, field: &str, approves| (seq, field.to_owned(), Some(approves));
        let expected = [mark(1, "", true), mark(2, "price", false), mark(4, "name", true), mark(4, "price", false)];
        assert_eq!(marks, expected);
        list.decide(Decision::Selected(ChangeFilter::default()), false);
        assert_eq!(counts(&list), (3, 0, 0));
        list.decide(Decision::Record(4, Some("price")), true);
        list.decide(Decision::Record(3, None), true);
        assert_eq!((counts(&list), list.approved_of("price")), ((3, 1, 1), 1));
        assert_eq!(list.window(price, 1, 10).1.len(), 1);
        // A fate without records selects none of them.
        let unchanged = ChangeFilter { fate: Some("unchanged"), ..ChangeFilter::default() };
        list.decide(Decision::Selected(unchanged), true);
        assert_eq!((list.window(unchanged, 0, 10).0, counts(&list)), (0, (3, 1, 1)));
        assert!(Fate::is_named("unchanged") && Fate::is_named("left out") && !Fate::is_named("chnaged"));
        assert!(list.has_field("price") && list.has_field("tax") && !list.has_field("prise"));
    }

    #[test]
    fn a_field_that_a_request_needs_goes_with_its_record() {
        let records = vec![record(1, Fate::Changed, &["cid", "currency"])];
        let mut list = ChangeList { kind: RecordKind::Invoice, records };
        list.decide(Decision::Record(1, Some("cid")), false);
        assert_eq!(list.approved().approved, 0, "nothing is left of it");
        list.decide(Decision::Record(1, Some("status")), true);
        assert_eq!(list.approved().approved, 0, "another field brings none back");
        list.decide(Decision::Record(1, Some("currency")), true);
        assert_eq!((list.approved().approved, list.approved().partly), (1, 0));
    }
}
