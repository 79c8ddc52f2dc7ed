//! Duplicates within a file: records with the same key, the same unique value or the same body.

use std::collections::{HashMap, HashSet};

use sheetport_ledger::{Disposition, Problem, RecordState, Seq};
use sheetport_mapping::model::Duplicates as Policy;
use sheetport_mapping::{Cause, Template};

use super::super::request::{Request, UniqueValue};
use super::keys::{KeyHolder, Keys};
use super::tables_read::TablesRead;

/// A planned record, withdrawn because another record has the same key.
#[derive(Debug)]
pub struct Withdrawal {
    pub seq: Seq,
    /// The number of the record's first row.
    pub row: u64,
    /// [`RecordState::Rejected`] or [`RecordState::Skipped`].
    pub state: RecordState,
    pub problem: Problem,
}

/// The keys, unique values and bodies of the records so far.
pub(crate) struct Duplicates {
    policy: Policy,
    keys: Keys,
    /// The values of fields that must be unique, by rule.
    unique: HashMap<usize, Keys>,
    /// Records rejected because of a unique field.
    settled: HashSet<Seq>,
    /// Bodies of records without a name, for non-idempotent calls.
    bodies: Keys,
}

impl Duplicates {
    pub(crate) fn new(template: &Template) -> Duplicates {
        Duplicates {
            policy: template.duplicates,
            keys: Keys::default(),
            unique: HashMap::new(),
            settled: HashSet::new(),
            bodies: Keys::default(),
        }
    }

    /// Adds the body of a record without a name. Returns the earlier record with the same body, if any.
    pub(crate) fn earlier_body(&mut self, seq: Seq, row: u64, body: u64) -> Option<KeyHolder> {
        if self.policy == Policy::Send {
            return None;
        }
        self.bodies.insert(body, KeyHolder { seq, row, is_to_be_sent: true }, false)
    }

    /// Returns the decision about a record, considering earlier records with the same key or values. Adds records that are no
    /// longer to be sent to `withdrawn`, possibly including the record itself.
    pub(crate) fn decide(
        &mut self,
        tables: &TablesRead<'_>,
        (seq, row): (Seq, u64),
        request: &Request,
        mut decision: Disposition<()>,
        withdrawn: &mut Vec<Withdrawal>,
    ) -> Disposition<()> {
        if matches!(decision, Disposition::Skipped(_)) {
            return decision;
        }
        let mut superseded = None;
        if !request.key.is_empty() {
            let is_to_be_sent = matches!(decision, Disposition::Send(()));
            let holder = KeyHolder { seq, row, is_to_be_sent };
            if let Some(earlier) = self.keys.insert(request.identity_hash, holder, self.policy == Policy::Last) {
                let of_earlier = |cause| tables.same_key(earlier.seq, earlier.row, &request.key, cause, seq);
                let of_this = |cause| tables.same_key(seq, row, &request.key, cause, earlier.seq);
                match self.policy {
                    Policy::Error | Policy::Send => {
                        decision = decision.with_problem(of_this(Cause::Duplicate { other_row: earlier.row }));
                        if earlier.is_to_be_sent {
                            let problem = of_earlier(Cause::Duplicate { other_row: row });
                            self.keys.withdraw(request.identity_hash);
                            self.withdraw(earlier, RecordState::Rejected, problem, withdrawn);
                        }
                    }
                    Policy::Last if earlier.is_to_be_sent => {
                        let problem = of_earlier(Cause::Superseded { by_row: row });
                        self.withdraw(earlier, RecordState::Skipped, problem, withdrawn);
                    }
                    Policy::First if is_to_be_sent => {
                        superseded = Some((holder, of_this(Cause::Superseded { by_row: earlier.row })));
                    }
                    Policy::Last | Policy::First => {}
                }
            }
        }
        if !request.unique.is_empty() {
            decision = self.decide_by_values(tables, (seq, row), &request.unique, decision, withdrawn);
        }
        if let Some((holder, problem)) = superseded {
            self.withdraw(holder, RecordState::Skipped, problem, withdrawn);
        }
        decision
    }

    /// Rejects records with equal values in a unique field.
    fn decide_by_values(
        &mut self,
        tables: &TablesRead<'_>,
        (seq, row): (Seq, u64),
        values: &[UniqueValue],
        mut decision: Disposition<()>,
        withdrawn: &mut Vec<Withdrawal>,
    ) -> Disposition<()> {
        for UniqueValue { rule, text, hash } in values {
            let holder = KeyHolder { seq, row, is_to_be_sent: matches!(decision, Disposition::Send(())) };
            let keys = self.unique.entry(*rule).or_default();
            let Some(earlier) = keys.insert(*hash, holder, false) else { continue };
            keys.withdraw(*hash);
            decision = decision.with_problem(tables.same_value(seq, row, (*rule, text), (earlier.seq, earlier.row)));
            if earlier.is_to_be_sent {
                let problem = tables.same_value(earlier.seq, earlier.row, (*rule, text), (seq, row));
                self.withdraw(earlier, RecordState::Rejected, problem, withdrawn);
            }
        }
        if !matches!(decision, Disposition::Send(())) {
            self.settled.insert(seq);
        }
        decision
    }

    fn withdraw(&mut self, record: KeyHolder, state: RecordState, problem: Problem, withdrawn: &mut Vec<Withdrawal>) {
        // A record can share several values with others, but is withdrawn once.
        if self.unique.is_empty() || self.settled.insert(record.seq) {
            withdrawn.push(Withdrawal { seq: record.seq, row: record.row, state, problem });
        }
    }
}
