//! Records that may have been sent by requests of which the ledger knows nothing any more, because its database went back to an earlier
//! state. A sender settles them before its first request: those that must not be repeated become *unknown*, with a claim, so that later
//! files recognise them.

use std::collections::BTreeSet;

use sheetport_findings::Code;
use sheetport_sql::{self as sql, Dialect};

use super::super::checksums::totals;
use super::super::database::{Ledger, Reach, to_json};
use super::super::error::Error;
use super::super::history::{Claim, Decision, Fact, Policy, decide, insert_claims, wait_for_claims};
use super::super::ids::{Part, RunId, Seq};
use super::super::outcomes::insert_outcomes;
use super::super::records::{Outcome, Problem};
use super::super::runs::Run;

/// Records that may have been sent, and why this is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    pub records: Part,
    pub why: String,
}

impl Ledger {
    /// Returns the doubts about the records of a part.
    pub async fn doubts(&self, part: Part) -> Result<Vec<Doubt>, Error> {
        if self.dialect() == Dialect::Sqlite {
            return Ok(Vec::new());
        }
        let query = "SELECT first, last, why FROM doubt WHERE run = $1 AND first <= $3 AND last >= $2 ORDER BY first";
        let query = sql::query_as(query).bind(part.run).bind(part.first).bind(part.last);
        let found: Vec<(Seq, Seq, String)> = query.fetch_all(&self.reader).await?;
        let within = |(first, last, why): (Seq, Seq, String)| {
            let records = Part { run: part.run, first: first.max(part.first), last: last.min(part.last) };
            Doubt { records, why }
        };
        Ok(found.into_iter().map(within).collect())
    }

    /// Sets the records of these requests to *unknown*, except for those with an outcome, or in flight. Returns their number. Durable on
    /// return.
    pub async fn settle_doubtful(&self, run: &Run, claims: &[Claim], why: &str, now: i64) -> Result<usize, Error> {
        let mut transaction = self.begin().await?;
        totals::wait(&mut transaction, run.id).await?;
        wait_for_claims(&mut transaction, run).await?;
        let seqs: Vec<Seq> = claims.iter().map(|claim| claim.seq).collect();
        let is_in = self.dialect().is_in("$2");
        let known = format!(
            "SELECT seq FROM outcome WHERE run = $1 AND seq {is_in} UNION SELECT seq FROM in_flight WHERE run = $1 AND seq {is_in}"
        );
        let known = sql::query_scalar(known).bind(run.id).bind(to_json(&seqs)?).fetch_all(&mut transaction).await?;
        let known: BTreeSet<Seq> = known.into_iter().collect();
        let claims: Vec<Claim> = claims.iter().filter(|claim| !known.contains(&claim.seq)).cloned().collect();
        let last_claim = insert_claims(&mut transaction, run.id, &claims, now).await?;
        let decision = decide(0, &Fact::Interrupted.into(), Policy::default());
        debug_assert_ne!(decision, Decision::Send);
        let message =
            format!("the ledger went back to an earlier state ({why}), so it does not know whether this was sent");
        let outcome = |claim: &Claim| Outcome {
            problems: vec![Problem::of_record(Code::Service, message.clone())],
            ..Outcome::new(claim.seq, decision.state(), now)
        };
        let outcomes: Vec<Outcome> = claims.iter().map(outcome).collect();
        insert_outcomes(&mut transaction, run.id, &outcomes).await?;
        transaction.commit().await?;
        if let Some(claim) = last_claim {
            self.note_reach(Reach { run: run.id, claim }).await;
        }
        Ok(outcomes.len())
    }

    /// Removes the doubts about the records of a part, which are settled.
    pub async fn end_doubts(&self, part: Part) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        // Another worker may be settling another part of the same doubt.
        totals::wait(&mut transaction, part.run).await?;
        let remove = "DELETE FROM doubt WHERE run = $1 AND first <= $3 AND last >= $2 RETURNING first, last, why";
        let remove = sql::query_as(remove).bind(part.run).bind(part.first).bind(part.last);
        let removed: Vec<(Seq, Seq, String)> = remove.fetch_all(&mut transaction).await?;
        for (first, last, why) in removed {
            if first < part.first {
                insert(&mut transaction, part.run, (first, part.first - 1), &why).await?;
            }
            if last > part.last {
                insert(&mut transaction, part.run, (part.last + 1, last), &why).await?;
            }
        }
        transaction.commit().await?;
        Ok(())
    }
}

async fn insert(
    transaction: &mut sql::Transaction,
    run: RunId,
    (first, last): (Seq, Seq),
    why: &str,
) -> Result<(), Error> {
    let insert = "INSERT INTO doubt (run, first, last, why) VALUES ($1, $2, $3, $4)";
    sql::query(insert).bind(run).bind(first).bind(last).bind(why.to_owned()).execute(transaction).await?;
    Ok(())
}
