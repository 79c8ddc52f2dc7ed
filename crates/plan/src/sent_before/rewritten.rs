//! Lists recorded in another way: the records of an earlier upload again, each with the same day, kind, subject and quantity, but with other
//! fields or another notation. A column was added, dropped or rewritten, dates got a time or another time zone, or the subject is named by
//! its other identifier.
//!
//! No record equals its earlier one, so only that they recur together shows that they are the same.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use serde_json::{Map, Value};
use sheetport_ledger::{self as ledger, Claim, ClaimDigest, Ledger, RunId, Seq};
use sheetport_records::{Input, JsonType};

use super::edited::{Edited, NewRecords};
use super::identity::{Scope, canonical_name, creations, without_midnight};

/// Maximum number of records of earlier runs to compare, in all. Lists of the last days have few more records than the file; without a
/// limit, every upload would read the last fifty runs to their ends.
const MAX_READ: usize = 500_000;
/// Fewest records that recur where others do not: one or two of a day may be alike by chance.
const MIN_OF_PART: usize = 3;
/// Fewest records that recur if they are all of the days in the file, or the whole file.
const MIN_OF_DAYS: usize = 2;
/// Largest difference between two readings of a time, in minutes: between the time zones farthest apart.
const MAX_SHIFT: i64 = 26 * 60;

/// How the dates of two lists are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dates {
    Equal,
    /// A date and a date-time of that day as written: a time was added or dropped.
    Day,
    /// A date and the midnight of that day in a time zone.
    Midnight,
    /// Date-times that all differ by the same number of quarters of an hour: another time zone.
    Shifted,
    /// A list with dates, and one without.
    One,
}

/// How two lists are compared. The first way in which the records recur counts.
#[derive(Clone, Copy, Debug)]
struct View {
    dates: Dates,
    /// Whether all records have the other identifier of their subject.
    has_other_subject: bool,
}

impl View {
    fn all() -> impl Iterator<Item = View> {
        let dates = [Dates::Equal, Dates::Day, Dates::Midnight, Dates::Shifted, Dates::One];
        [false, true]
            .into_iter()
            .flat_map(move |has_other_subject| dates.map(|dates| View { dates, has_other_subject }))
    }

    /// Returns the fewest different records that have to recur. What the view leaves out could tell records apart.
    fn fewest(self) -> usize {
        match (self.dates, self.has_other_subject) {
            (Dates::Equal, false) => 1,
            (Dates::Shifted | Dates::One, true) => 3,
            _ => 2,
        }
    }
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

/// What of a record is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Whole,
    /// All but the quantity, which may have been corrected.
    WithoutQuantity,
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

    fn are_days(&self) -> bool {
        self.dates.iter().all(|date| is_date(date))
    }

    /// Returns the dates as they are compared, or `None` if records can't be compared by them.
    fn compared_dates(&self, by: Dates) -> Option<Vec<String>> {
        if self.dates.is_empty() && by != Dates::One {
            return None;
        }
        Some(match by {
            Dates::Equal => self.dates.clone(),
            Dates::Day => self.dates.iter().map(|date| date.chars().take(10).collect()).collect(),
            Dates::Midnight => self.dates.iter().map(|date| day_of_midnight(date)).collect::<Option<Vec<String>>>()?,
            Dates::Shifted if self.are_days() => return None,
            Dates::Shifted | Dates::One => Vec::new(),
        })
    }

    /// Returns a digest of the record in a view, with its compared dates. `is_new` is false for an earlier record: of two that are alike, one
    /// is the new one and the other the earlier one.
    fn digest(&self, scope: &Scope, view: View, is_new: bool, dates: &[String], part: Part) -> ClaimDigest {
        let side = match view.dates {
            Dates::Equal | Dates::Shifted => false,
            Dates::Day | Dates::Midnight => self.are_days() == is_new,
            Dates::One => self.dates.is_empty() == is_new,
        };
        let subject = self.subject.as_ref().filter(|_| !view.has_other_subject).map(|(_, name)| name);
        let quantity = self.quantity.as_ref().filter(|_| part == Part::Whole);
        scope.rest("core", &serde_json::json!([self.kind, subject, quantity, dates, side]))
    }

    /// Returns the first date as minutes, if it is a time.
    fn minutes(&self) -> Option<i64> {
        let time: jiff::Timestamp = self.dates.first()?.parse().ok()?;
        Some(time.as_second() / 60)
    }
}

/// Returns the day of the first compared date.
fn day_of(dates: &[String]) -> Option<&str> {
    dates.first().map(|date| date.get(..10).unwrap_or(date))
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
    by_whole: HashMap<ClaimDigest, Vec<Seq>>,
    records: usize,
    /// The first and the last day of the new records.
    days: Option<(String, String)>,
}

/// The records of an earlier run that recur in a view.
struct Recurring<'i> {
    index: &'i Index,
    /// The number of records with each digest so far.
    seen: HashMap<ClaimDigest, usize>,
    pairs: Vec<Pair>,
    /// The digests of those that recur.
    different: HashSet<ClaimDigest>,
    /// Those that do not recur, though they are of the days of the file.
    others: Vec<(Seq, Arc<str>)>,
    is_part: bool,
    /// Each subject with the one that it has now, and the other way round.
    renamed: (HashMap<String, String>, HashMap<String, String>),
    shift: Option<i64>,
}

/// An earlier record, and the new one as which it recurs.
struct Pair {
    earlier: Seq,
    body: Arc<str>,
    new: Seq,
}

impl<'i> Recurring<'i> {
    fn new(index: &'i Index) -> Recurring<'i> {
        Recurring {
            index,
            seen: HashMap::new(),
            pairs: Vec::new(),
            different: HashSet::new(),
            others: Vec::new(),
            is_part: false,
            renamed: Default::default(),
            shift: None,
        }
    }

    /// Adds an earlier record. Returns false if the list does not recur.
    fn add(&mut self, new: &NewRecords<'_>, claim: &Claim, body: &Arc<str>, core: &Core) -> bool {
        let Index { view, by_whole, days, .. } = self.index;
        let dates = core.compared_dates(view.dates);
        let is_outside = |day: &str| days.as_ref().is_some_and(|(first, last)| day < &**first || day > &**last);
        let Some(dates) = dates.filter(|dates| !day_of(dates).is_some_and(is_outside)) else {
            self.is_part = true;
            return true;
        };
        let digest = core.digest(new.scope(), *view, false, &dates, Part::Whole);
        let nth = self.seen.entry(digest).or_default();
        let found = by_whole.get(&digest).and_then(|alike| alike.get(*nth)).copied();
        *nth += usize::from(found.is_some());
        // The file has the earlier record itself, too, so this one is a further copy of it, and new.
        if found.is_some_and(|found| new.claim(found).is_some_and(|new| new.body == claim.body)) {
            return true;
        }
        let seq = claim.seq;
        match found.filter(|found| self.is_alike(core, new, *found)) {
            Some(new) => {
                self.different.insert(digest);
                self.pairs.push(Pair { earlier: seq, body: Arc::clone(body), new });
            }
            None => self.others.push((seq, Arc::clone(body))),
        }
        // Hopeless: neither most of the earlier records nor of the new ones can recur any more.
        self.others.len() <= self.index.records.max(MIN_OF_PART) * 2 + self.pairs.len()
    }

    /// Whether what the view leaves out changed in the same way as in the other pairs.
    fn is_alike(&mut self, earlier: &Core, new: &NewRecords<'_>, seq: Seq) -> bool {
        let View { dates, has_other_subject } = self.index.view;
        if dates != Dates::Shifted && !has_other_subject {
            // Another list may have it already.
            return new.bodies().contains_key(&seq);
        }
        let Some(new) = new.core(seq) else { return false };
        if has_other_subject && !self.is_renamed(earlier, &new) {
            return false;
        }
        if dates != Dates::Shifted {
            return true;
        }
        let shift = new.minutes().zip(earlier.minutes()).map(|(new, earlier)| new - earlier);
        let is_of_zone = |shift: &i64| *shift != 0 && shift % 15 == 0 && shift.abs() <= MAX_SHIFT;
        let Some(shift) = shift.filter(is_of_zone) else { return false };
        *self.shift.get_or_insert(shift) == shift
    }

    /// Whether the subjects of two records are named by different fields, and always as these ones.
    fn is_renamed(&mut self, earlier: &Core, new: &Core) -> bool {
        let (Some((now_by, now)), Some((then_by, then))) = (&new.subject, &earlier.subject) else { return false };
        if then_by == now_by
            || self.renamed.0.get(then).is_some_and(|known| known != now)
            || self.renamed.1.get(now).is_some_and(|known| known != then)
        {
            return false;
        }
        self.renamed.0.insert(then.clone(), now.clone());
        self.renamed.1.insert(now.clone(), then.clone());
        true
    }

    /// Returns the records that recur, if they are enough: all of the list, or most of the days or of the file. Those with another quantity
    /// were corrected as well.
    fn found(mut self, new: &NewRecords<'_>) -> Option<Vec<Pair>> {
        let (recurring, others) = (self.pairs.len(), self.others.len());
        let is_most = recurring > others || recurring * 2 > self.index.records;
        let fewest = match (others > 0, recurring == self.index.records) {
            (true, false) => MIN_OF_PART,
            (true, true) => MIN_OF_DAYS,
            _ if self.is_part => MIN_OF_DAYS,
            _ => 1,
        };
        if self.different.len() < self.index.view.fewest() || recurring < fewest || !is_most {
            return None;
        }
        if !self.others.is_empty() {
            self.add_corrected(new);
        }
        Some(self.pairs)
    }

    /// Adds those with another quantity.
    fn add_corrected(&mut self, new: &NewRecords<'_>) {
        let view = self.index.view;
        let digest = |body: &str, is_new: bool| {
            let core = Core::of(new.input(), body)?;
            let dates = core.compared_dates(view.dates)?;
            Some(core.digest(new.scope(), view, is_new, &dates, Part::WithoutQuantity))
        };
        let taken: HashSet<Seq> = self.pairs.iter().map(|pair| pair.new).collect();
        let mut left: HashMap<ClaimDigest, VecDeque<Seq>> = HashMap::new();
        for (seq, body) in new.bodies().iter().filter(|(seq, _)| !taken.contains(seq)) {
            digest(body, true).into_iter().for_each(|digest| left.entry(digest).or_default().push_back(*seq));
        }
        for (earlier, body) in std::mem::take(&mut self.others) {
            let alike = digest(&body, false).and_then(|digest| left.get_mut(&digest)?.pop_front());
            self.pairs.extend(alike.map(|new| Pair { earlier, body, new }));
        }
    }
}

impl NewRecords<'_> {
    fn claim(&self, seq: Seq) -> Option<Claim> {
        Some(self.scope().claim(seq, None, self.bodies().get(&seq)?))
    }

    fn core(&self, seq: Seq) -> Option<Core> {
        Core::of(self.input(), self.bodies().get(&seq)?)
    }

    fn indexes(&self) -> Vec<Index> {
        let empty = |view| Index { view, by_whole: HashMap::new(), records: self.bodies().len(), days: None };
        let mut indexes: Vec<Index> = View::all().map(empty).collect();
        for (seq, body) in self.bodies() {
            let Some(core) = Core::of(self.input(), body) else { continue };
            for index in &mut indexes {
                let Some(dates) = core.compared_dates(index.view.dates) else { continue };
                let digest = core.digest(self.scope(), index.view, true, &dates, Part::Whole);
                index.by_whole.entry(digest).or_default().push(*seq);
                if let Some(day) = day_of(&dates) {
                    let (first, last) = index.days.get_or_insert_with(|| (day.to_owned(), day.to_owned()));
                    if day < &**first {
                        day.clone_into(first);
                    } else if day > &**last {
                        day.clone_into(last);
                    }
                }
            }
        }
        indexes.retain(|index| !index.by_whole.is_empty());
        indexes
    }

    /// Finds the records of `lists`, earlier runs, that sent new records recorded in another way.
    pub(super) async fn rewritten(&mut self, ledger: &Ledger, lists: &[RunId]) -> Result<Vec<Edited>, ledger::Error> {
        let mut found = Vec::new();
        if lists.is_empty() {
            return Ok(found);
        }
        let indexes = self.indexes();
        let mut unread = MAX_READ;
        for run in lists {
            for Pair { earlier, body, new } in self.recurring(ledger, *run, &indexes, &mut unread).await? {
                found.extend(self.replaced(ledger, *run, earlier, &body, new).await?);
            }
        }
        Ok(found)
    }

    /// Returns the records of a run that recur.
    async fn recurring(
        &self,
        ledger: &Ledger,
        run: RunId,
        indexes: &[Index],
        unread: &mut usize,
    ) -> Result<Vec<Pair>, ledger::Error> {
        let mut views: Vec<Recurring<'_>> = indexes.iter().map(Recurring::new).collect();
        let mut from: Seq = 0;
        while !views.is_empty()
            && let Some(block) = ledger.record_block(run, from).await?
        {
            from = block.end();
            for (claim, _, body) in creations(self.scope(), &block) {
                if *unread == 0 {
                    return Ok(Vec::new());
                }
                *unread -= 1;
                let Some(core) = Core::of(self.input(), body) else { return Ok(Vec::new()) };
                let body = Arc::from(body);
                views.retain_mut(|view| view.add(self, &claim, &body, &core));
            }
        }
        Ok(views.into_iter().find_map(|view| view.found(self)).unwrap_or_default())
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
