//! Finds the lines with which earlier uploads sent the orders of a file, in the ledger. They are for orders whose lines the service does
//! not show: what an upload has put there goes as silently as anything else if a later file lacks it.

use std::collections::HashMap;

use futures_util::future::BoxFuture;

use sheetport_ledger::{self as ledger, KeyScope, Ledger};

use super::order_addresses::{Identifier, OrderAddresses};
use super::sent_lines::{SentLines, lines_of};
use crate::sent_before::date;

/// Memory for the lines of all orders of a file, in bytes of JSON: half a million lines.
const MAX_HELD: usize = 64 << 20;

impl OrderAddresses {
    /// Whether the service does not show the lines of some orders.
    pub fn has_unknown_lines(&self) -> bool {
        let mut identifiers = [&self.external_id, &self.id].into_iter().flatten();
        identifiers.any(|identifier| identifier.with_unknown_lines(self.shows_none).next().is_some())
    }

    /// Looks up the last lines that were sent for the orders whose lines the service does not show. Returns the number of orders that
    /// are left out for want of memory.
    ///
    /// # Errors
    /// If the ledger can't be read.
    pub fn find_sent_lines<'a>(
        &'a mut self,
        ledger: &'a Ledger,
        scope: KeyScope<'a>,
    ) -> BoxFuture<'a, Result<u64, ledger::Error>> {
        Box::pin(async move {
            let (mut held, mut left_out) = (0, 0);
            for identifier in [&mut self.external_id, &mut self.id].into_iter().flatten() {
                let mut sent: HashMap<String, SentLines> = HashMap::new();
                let values: Vec<(String, String)> = identifier.with_unknown_lines(self.shows_none).collect();
                let identities: Vec<&str> = values.iter().map(|(_, identity)| identity.as_str()).collect();
                let take = |place: usize, request: ledger::OtherRequest, _: Option<&str>, body: &str| {
                    // A request without lines has left them as they were.
                    let Some(lines) = lines_of(body) else { return false };
                    let value = &values[place].0;
                    if held + lines.len() > MAX_HELD {
                        left_out += 1;
                        return true;
                    }
                    held += lines.len();
                    let found = SentLines {
                        run: request.run,
                        date: date(request.at),
                        is_accepted: request.is_accepted,
                        lines: lines.into(),
                    };
                    sent.insert(value.clone(), found);
                    true
                };
                ledger.last_bodies(scope, &identities, take).await?;
                identifier.sent = sent;
            }
            Ok(left_out)
        })
    }
}

impl Identifier {
    /// Returns the values of orders whose lines are not known, each with the identity that records of the ledger have.
    fn with_unknown_lines(&self, shows_none: bool) -> impl Iterator<Item = (String, String)> {
        let found = self.found.iter().filter(|(_, order)| order.shown.is_none() && order.lines != Some(0));
        let unfound = self.missing.keys().filter(move |_| shows_none);
        let found = found.map(|(value, order)| (value.clone(), order.id.clone()));
        found.chain(unfound.map(|value| (value.clone(), value.clone())))
    }
}
