//! Lists recorded in another way: the records of an earlier upload again, each with the same day, kind, subject and quantity, but with other
//! fields or another notation. A column was added, dropped or rewritten, dates got a time or another time zone, or the subject is named by
//! its other identifier.
//!
//! No record equals its earlier one, so only that all of them recur shows that they are the same.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use sheetport_ledger::{self as ledger, ClaimDigest, Ledger, RunId, Seq};
use sheetport_records::{Input, JsonType};

use super::edited::{Edited, NewRecords};
use super::identity::{Scope, canonical_name, creations, without_midnight};

/// Maximum number of records of earlier runs to compare, in all. Lists of the last days have few more records than the file; without a
/// limit, every upload would read the last fifty runs to their ends.
const MAX_READ: usize = 500_000;
/// Records that recur at least, where an earlier run has further ones of other days: a single one may be alike by chance.
const MIN_OF_PART: usize = 2;

/// How the dates and subjects of two lists are compared. The first one in which all records recur counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    /// Equal dates, equal subjects.
    Same,
    /// A date and a date-time of that day as written: a time was added or dropped.
    Day,
    /// A date and the midnight of that day in a time zone.
    Midnight,
    /// The same record of the service by its other identifier.
    OtherSubject,
    /// A list with dates, and one without.
    NoDate,
}

impl View {
    const ALL: [View; 5] = [View::Same, View::Day, View::Midnight, View::OtherSubject, View::NoDate];
}

/// What identifies a record without a name, as far as another way of recording leaves it.
struct Core {
    /// The required fields, without dates and quantities.
    kind: Map<String, Value>,
    /// The field and the value that name another record.
    subject: Option<(&'static str, String)>,
    quantity: Option<Value>,
    /// The dates in the order of the fields.
    dates: Vec<String>,
}

impl Core {
    fn of(input: &'static Input, body: &str) -> Option<Core> {
        let Ok(Value::Object(body)) = serde_json::from_str::<Value>(body) else { return None };
        let given = |name: &str| body.get(name).filter(|value| !value.is_null());
        let mut core = Core { kind: Map::new(), subject: None, quantity: None, dates: Vec::new() };
        core.quantity = input.quantities.iter().find_map(|name| given(name)).cloned();
        let named = |field: &'static str| Some((field, canonical_name(given(field)?.as_str()?)));
        core.subject = input.references.iter().find_map(|reference| named(reference.field));
        for field in input.body {
            let Some(value) = given(field.name) else { continue };
            if matches!(field.json, JsonType::DateTime) {
                core.dates.extend(value.as_str().map(|date| without_midnight(date).to_owned()));
            } else if field.required && !input.quantities.contains(&field.name) {
                core.kind.insert(field.name.to_owned(), value.clone());
            }
        }
        Some(core)
    }

    /// Whether the record has dates without times.
    fn is_of_days(&self) -> bool {
        self.dates.iter().all(|date| is_date(date))
    }

    /// Returns a digest of the record in a view, and the day in it. Equal for a new record and an earlier one (`is_new` is false) if they
    /// are alike in this view. `None` if the view can't compare the record.
    fn digest(&self, scope: &Scope, view: View, is_new: bool) -> Option<(ClaimDigest, Option<String>)> {
        let dates = match view {
            View::Same | View::OtherSubject => self.dates.clone(),
            View::Day => self.dates.iter().map(|date| date.chars().take(10).collect()).collect(),
            View::Midnight => self.dates.iter().map(|date| day_of_midnight(date)).collect::<Option<Vec<String>>>()?,
            View::NoDate => Vec::new(),
        };
        // The two records differ in this: one is the new one, and the other the earlier one.
        let side = match view {
            View::Same | View::OtherSubject => false,
            View::Day | View::Midnight => self.is_of_days() == is_new,
            View::NoDate => self.dates.is_empty() == is_new,
        };
        if self.dates.is_empty() && view != View::NoDate {
            return None;
        }
        let subject = self.subject.as_ref().filter(|_| view != View::OtherSubject).map(|(_, name)| name);
        let day = dates.first().map(|date| date.chars().take(10).collect());
        let value = serde_json::json!([self.kind, subject, self.quantity, dates, side]);
        Some((scope.rest("core", &value), day))
    }
}

fn is_date(text: &str) -> bool {
    text.len() == 10
}

/// Returns the day of which a date-time may be the midnight in a time zone, or a date as it is. Time zones are at most 12 hours behind UTC
/// and 14 ahead; those more than 13 hours ahead, on a few islands, are taken for a day earlier.
fn day_of_midnight(date: &str) -> Option<String> {
    if is_date(date) {
        return Some(date.to_owned());
    }
    let instant: jiff::Timestamp = date.parse().ok()?;
    let noon = instant.checked_add(jiff::SignedDuration::from_hours(13)).ok()?;
    Some(noon.to_zoned(jiff::tz::TimeZone::UTC).date().to_string())
}

/// The new records of a plan in one view.
struct Index {
    view: View,
    by_digest: HashMap<ClaimDigest, Vec<Seq>>,
    /// The first and the last day of the new records.
    days: Option<(String, String)>,
}

/// Earlier records with the new ones that they recur as, in one view, while all have recurred.
struct Recurring<'i> {
    index: &'i Index,
    /// The number of records with each digest so far.
    seen: HashMap<ClaimDigest, usize>,
    pairs: Vec<(Seq, Arc<str>, Seq)>,
    is_part: bool,
    /// Each subject with the one that it has now, and the other way round.
    renamed: (HashMap<String, String>, HashMap<String, String>),
}

impl Recurring<'_> {
    /// Adds an earlier record. Returns false if it has not recurred.
    fn add(&mut self, new: &NewRecords<'_>, seq: Seq, body: &Arc<str>, core: &Core) -> bool {
        let Some((digest, day)) = core.digest(new.scope(), self.index.view, false) else { return false };
        if let (Some(day), Some((first, last))) = (&day, &self.index.days)
            && (day < first || day > last)
        {
            self.is_part = true;
            return true;
        }
        let nth = self.seen.entry(digest).or_default();
        let Some(found) = self.index.by_digest.get(&digest).and_then(|alike| alike.get(*nth)) else { return false };
        *nth += 1;
        if self.index.view == View::OtherSubject && !self.is_renamed(core, new.body(*found)) {
            return false;
        }
        self.pairs.push((seq, Arc::clone(body), *found));
        true
    }

    /// Whether the subjects of two records are named by different fields, and always as these ones.
    fn is_renamed(&mut self, earlier: &Core, new: Option<Core>) -> bool {
        let Some((now_by, now)) = new.and_then(|new| new.subject) else { return false };
        let Some((then_by, then)) = &earlier.subject else { return false };
        let (new, old) = (&mut self.renamed.0, &mut self.renamed.1);
        *then_by != now_by
            && new.entry(then.clone()).or_insert_with(|| now.clone()) == &now
            && old.entry(now).or_insert_with(|| then.clone()) == then
    }

    fn is_found(&self) -> bool {
        self.pairs.len() >= if self.is_part { MIN_OF_PART } else { 1 }
    }
}

impl NewRecords<'_> {
    /// Returns the core of a new record.
    fn body(&self, seq: Seq) -> Option<Core> {
        Core::of(self.input(), self.bodies().get(&seq)?)
    }

    fn index(&self, view: View) -> Index {
        let mut index = Index { view, by_digest: HashMap::new(), days: None };
        for (seq, body) in self.bodies() {
            let core = Core::of(self.input(), body);
            let Some((digest, day)) = core.and_then(|core| core.digest(self.scope(), view, true)) else { continue };
            index.by_digest.entry(digest).or_default().push(*seq);
            if let Some(day) = day {
                let (first, last) = index.days.take().unwrap_or_else(|| (day.clone(), day.clone()));
                index.days = Some((first.min(day.clone()), last.max(day)));
            }
        }
        index
    }

    /// Finds the records of `lists`, earlier runs, that sent new records recorded in another way. Of a list that goes on to other days, the
    /// records of the days in the file have to recur.
    pub(super) async fn rewritten(&mut self, ledger: &Ledger, lists: &[RunId]) -> Result<Vec<Edited>, ledger::Error> {
        let mut found = Vec::new();
        if lists.is_empty() {
            return Ok(found);
        }
        let indexes = View::ALL.map(|view| self.index(view));
        let mut unread = MAX_READ;
        for run in lists {
            for (seq, body, new) in self.recurring(ledger, *run, &indexes, &mut unread).await? {
                found.extend(self.replaced(ledger, *run, seq, &body, new).await?);
            }
        }
        Ok(found)
    }

    /// Returns the records of a run with their bodies and the new records as which they recur, if all do.
    async fn recurring(
        &self,
        ledger: &Ledger,
        run: RunId,
        indexes: &[Index],
        unread: &mut usize,
    ) -> Result<Vec<(Seq, Arc<str>, Seq)>, ledger::Error> {
        let begin = |index| Recurring {
            index,
            seen: HashMap::new(),
            pairs: Vec::new(),
            is_part: false,
            renamed: Default::default(),
        };
        let filled = indexes.iter().filter(|index| !index.by_digest.is_empty());
        let mut views: Vec<Recurring<'_>> = filled.map(begin).collect();
        let mut from: Seq = 0;
        while !views.is_empty()
            && let Some(block) = ledger.record_block(run, from).await?
        {
            from = block.end();
            for (claim, _, body) in creations(self.scope(), &block) {
                if views.is_empty() || *unread == 0 {
                    return Ok(Vec::new());
                }
                *unread -= 1;
                let Some(core) = Core::of(self.input(), body) else { return Ok(Vec::new()) };
                let body = Arc::from(body);
                views.retain_mut(|view| view.add(self, claim.seq, &body, &core));
            }
        }
        Ok(views.into_iter().find(Recurring::is_found).map_or_else(Vec::new, |view| view.pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn midnights_of_time_zones_are_days() {
        for (date, day) in [
            ("2026-01-02", "2026-01-02"),
            ("2026-01-02T00:00:00+01:00", "2026-01-02"),
            ("2026-01-01T23:00:00Z", "2026-01-02"),
            ("2026-07-01T22:00:00.000Z", "2026-07-02"),
            ("2026-01-02T08:00:00Z", "2026-01-02"),
            ("2026-01-01T15:00:00Z", "2026-01-02"),
        ] {
            assert_eq!(day_of_midnight(date).as_deref(), Some(day), "{date}");
        }
        assert_eq!(day_of_midnight("2026-01-02T00:00:00"), None);
    }
}
