//! The changes of a plan that a person should look at first, for a summary.

use std::collections::BTreeMap;

use sheetport_ledger::{Ledger, RunId, Seq};
use sheetport_plan::compare::{Change, ChangedField, Difference, OddChange};

use super::super::error::Error;

/// A changed field of a record.
#[derive(Debug)]
pub struct FirstChange {
    pub row: Option<u64>,
    /// The name of the record in the sheet.
    pub record: String,
    pub field: &'static str,
    pub now: String,
    pub planned: String,
    pub odd: Option<OddChange>,
}

/// Returns the first `most` changed fields of a plan, odd ones before others.
pub(super) async fn first_changes(
    ledger: &Ledger,
    run: RunId,
    difference: &Difference,
    most: usize,
) -> Result<Vec<FirstChange>, Error> {
    let all = || {
        difference.records.iter().flat_map(|(seq, change)| {
            let fields: &[ChangedField] = if let Change::Changed(fields) = change { fields } else { &[] };
            fields.iter().map(|field| (*seq, field))
        })
    };
    let odd = all().filter(|(_, field)| field.odd.is_some());
    let others = all().filter(|(_, field)| field.odd.is_none());
    let chosen: Vec<(Seq, &ChangedField)> = odd.chain(others).take(most).collect();
    let mut names: BTreeMap<Seq, (Option<u64>, String)> = BTreeMap::new();
    for (seq, _) in &chosen {
        if names.contains_key(seq) {
            continue;
        }
        let Some(block) = ledger.records_without_bodies(run, *seq, 1).await? else { continue };
        for (seq, record) in block.numbered().filter(|(seq, _)| chosen.iter().any(|(chosen, _)| chosen == seq)) {
            names.insert(seq, (record.rows.first().copied(), record.key.clone().unwrap_or_default()));
        }
    }
    let listed = chosen.into_iter().map(|(seq, change)| {
        let (row, record) = names.get(&seq).cloned().unwrap_or_default();
        let (now, planned) = (change.old(), change.planned().to_owned());
        FirstChange { row, record, field: change.field, now, planned, odd: change.odd }
    });
    Ok(listed.collect())
}
