//! Differences of counted stocks: each pending count of a run is compared with the stock in the service, and its request becomes the
//! difference.
//!
//! This happens once for a record. A run that is resumed sends the differences that were computed before, whatever was booked since: the
//! stock was counted then.

use std::collections::{BTreeMap, HashMap};

use sheetport_findings::Code;
use sheetport_ledger::{Causes, Ledger, Outcome, Part, Problem, RecordBlock, RecordState, Run, Seq};
use sheetport_plan::compare::{Candidate, Difference, Stock, WhyNot};
use sheetport_plan::count::{Count, InventoryName, is_count, needs_look, with_difference};
use sheetport_records::RecordKind;
use sheetport_records::transaction::{COUNTED, EXPECTED};

use super::context::Context;
use super::error::Error;
use super::event::Event;
use super::fill_blanks::body_of;
use super::look_again::{LookAgain, Pending, unread};
use super::planned_records::{Batch, ToCompare};

/// What is done with a count.
enum Fate {
    /// The difference, and a warning about the expected stock.
    Send(i64, Option<Problem>),
    Settle(RecordState, Vec<Problem>),
}

/// Whether the records of a run are counted stocks.
pub(super) async fn counts(ledger: &Ledger, run: &Run) -> Result<bool, Error> {
    if run.about.record != RecordKind::InventoryTransaction {
        return Ok(false);
    }
    let mut from: Seq = Part::whole(run.id).first;
    while let Some(block) = ledger.record_block(run.id, from).await? {
        from = block.end();
        if let Some(body) = (block.first..from).find_map(|seq| body_of(Some(&block), seq)) {
            return Ok(is_count(body));
        }
    }
    Ok(false)
}

/// Refuses a run with counts whose differences are not known, if workers are to send it without a request of this process.
pub(super) async fn refuse_uncounted(context: &Context, ledger: &Ledger, run: &Run) -> Result<(), Error> {
    if !counts(ledger, run).await? {
        return Ok(());
    }
    let mut has_open = false;
    let find = &mut |candidate: &mut Candidate| {
        has_open |= needs_look(&candidate.body);
        false
    };
    ToCompare::load(context, ledger, run, Batch::first(u64::MAX), find).await?;
    if has_open { Err(not_counted_by_workers()) } else { Ok(()) }
}

impl LookAgain<'_> {
    /// Looks up the stocks of the counts whose differences are not known, and stores the differences. Leaves out what needs no request, and
    /// rejects what can't be compared.
    ///
    /// # Errors
    /// If the stocks can't be read: no difference is guessed.
    pub(super) async fn count_stocks(&self) -> Result<(), Error> {
        if !counts(self.ledger, self.run).await? {
            return Ok(());
        }
        let is_meant = |candidate: &Candidate| needs_look(&candidate.body);
        let (pending, found, _) = self.compare(Batch::first(u64::MAX), &is_meant, false).await?;
        self.settle_counts(&pending, found).await.map(drop)
    }

    /// Stores the differences of those of these pending records that are counts without one. Returns the comparison without what was left
    /// out or rejected.
    ///
    /// # Errors
    /// If a stock is not known.
    pub(super) async fn settle_counts(&self, pending: &[Pending], mut found: Difference) -> Result<Difference, Error> {
        let run = self.run.id;
        let (mut outcomes, mut bodies, mut warnings) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        let mut causes = Causes::default();
        let mut block: Option<RecordBlock> = None;
        let mut counts: Vec<(&Pending, Box<str>, Count)> = Vec::new();
        for record in pending {
            let is_there = |block: &RecordBlock| (block.first..block.end()).contains(&record.seq);
            if !block.as_ref().is_some_and(is_there) {
                block = self.ledger.record_block_of(run, record.seq).await?;
            }
            let body = body_of(block.as_ref(), record.seq).filter(|body| needs_look(body));
            counts.extend(body.and_then(|body| Some((record, body.into(), Count::of(body)?))));
        }
        let mut counted: HashMap<(&str, Option<&str>), u64> = HashMap::new();
        for (record, _, count) in &counts {
            match found.stocks.get(&record.seq) {
                Some(Stock::Shown { inventory, .. }) => *counted.entry((inventory, count.figure)).or_default() += 1,
                Some(Stock::NotShown | Stock::Missing) => {}
                None => return Err(not_counted(found.why_not.take())),
            }
        }
        for (record, body, count) in &counts {
            let Some(stock) = found.stocks.get(&record.seq) else { continue };
            let is_twice = match stock {
                Stock::Shown { inventory, .. } => counted.get(&(&**inventory, count.figure)).is_some_and(|it| *it > 1),
                Stock::NotShown | Stock::Missing => false,
            };
            let located = |problem: Problem| Problem { row: record.row, ..problem };
            match fate(count, stock, is_twice) {
                Fate::Send(difference, warning) => {
                    bodies.insert(record.seq, with_difference(body, difference));
                    if let Some(warning) = warning.map(located) {
                        causes.add(record.row.unwrap_or_default(), &warning);
                        warnings.insert(record.seq, warning);
                    }
                }
                Fate::Settle(state, problems) => {
                    let problems: Vec<Problem> = problems.into_iter().map(located).collect();
                    for problem in problems.iter().filter(|problem| problem.code != Code::AsCounted) {
                        causes.add(record.row.unwrap_or_default(), problem);
                    }
                    outcomes.push(Outcome { problems, ..Outcome::new(record.seq, state, self.ledger.now()) });
                }
            }
        }
        self.ledger.take_away(run, &outcomes, &bodies, &warnings).await?;
        if !causes.is_empty() {
            (self.observer)(Event::Counted(&causes));
        }
        let rejected = outcomes.iter().filter(|outcome| outcome.state == RecordState::Rejected);
        rejected.for_each(|outcome| drop(found.records.remove(&outcome.seq)));
        Ok(found)
    }
}

fn fate(count: &Count, stock: &Stock, is_twice: bool) -> Fate {
    let reject = |problem: Problem| Fate::Settle(RecordState::Rejected, vec![problem]);
    let refused = |message: String, remedy: &str| {
        let problem = Problem::of_record(Code::StockNotShown, message);
        reject(Problem {
            field: COUNTED.to_owned(),
            value: count.counted.to_string(),
            remedy: remedy.to_owned(),
            ..problem
        })
    };
    let units = match stock {
        Stock::Shown { units, .. } => *units,
        Stock::Missing => return reject(unknown_inventory(&count.inventory)),
        Stock::NotShown => {
            return refused(
                match count.figure {
                    Some(figure) => format!("can't be compared: the service does not show {figure} of this inventory"),
                    None => "can't be compared: the service shows no stock of this inventoryType".to_owned(),
                },
                "write inventoryType as available, committed or unavailable, or book the stock by a movement first",
            );
        }
    };
    if is_twice {
        return refused(
            "is not the only count of this inventory in the file".to_owned(),
            "leave one row for each inventory, with all of its units",
        );
    }
    if count.is_one_way {
        return refused(
            "can't be sent: its transactionType moves stock in one direction only".to_owned(),
            "write the transactionType of a correction, such as adjust",
        );
    }
    let expected = count.expected.filter(|expected| *expected != units).map(|expected| {
        let message = format!("is expected, and the service has {units}");
        let problem = Problem::of_record(Code::OtherStock, message);
        let remedy = "if units were moved after they were counted, count again".to_owned();
        Problem { field: EXPECTED.to_owned(), value: expected.to_string(), remedy, ..problem }
    });
    match count.counted.checked_sub(units) {
        None => refused("differs too much from the service".to_owned(), "check the number"),
        Some(0) => {
            let same = Problem::of_record(Code::AsCounted, format!("is as counted: the service has {units}"));
            Fate::Settle(RecordState::Unchanged, std::iter::once(same).chain(expected).collect())
        }
        Some(difference) => Fate::Send(difference, expected),
    }
}

fn unknown_inventory(name: &InventoryName) -> Problem {
    let (field, value) = match name {
        InventoryName::Id(id) => ("inventoryId", id),
        InventoryName::ExternalId(id) => ("inventoryExternalId", id),
    };
    Problem {
        field: field.to_owned(),
        value: value.clone(),
        remedy: "correct it, or create the inventory in the service first".to_owned(),
        ..Problem::of_record(Code::UnknownReference, "is no inventory that the service knows")
    }
}

/// Returns the error for counts that can't be compared with the service.
fn not_counted(why: Option<WhyNot>) -> Error {
    unread("nothing was sent, because the stocks in the service can't be read", why, "try again later")
}

/// Returns the error for counts that workers would have to compare with the service.
fn not_counted_by_workers() -> Error {
    let message =
        "the run has counts that were not compared with the stock in the service, and workers don't compare them";
    Error::invalid(message, "leave out --queue")
}
