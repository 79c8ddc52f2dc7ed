//! The simulated service: a list that changes, and the faults planned for the exports.

use std::cell::Cell;
use std::time::{Duration, SystemTime};

use jiff::tz::TimeZone;
use sheetport_client::{Request, Response, TransportOutcome};
use sheetport_records::token::REFRESH_PATH;

thread_local! {
    /// The clock of the exporting machine, in nanoseconds since 1970. Exports read the clock on the thread of their task only.
    pub(super) static NOW: Cell<i64> = const { Cell::new(0) };
}

pub(super) fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_nanos(NOW.get().unsigned_abs())
}

pub(super) fn sleep(duration: Duration) {
    NOW.set(NOW.get() + i64::try_from(duration.as_nanos()).expect("hours"));
}

/// The order of the list.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    NewestToOldest,
    OldestToNewest,
    LastChanged,
}

/// Response of the service to requests for too many entries per page.
#[derive(Clone, Copy, Debug)]
pub(super) enum Paging {
    /// This number of entries.
    Caps(usize),
    /// Status 400 above a hundred entries.
    Refuses,
    /// The default of five entries above a hundred.
    ReturnsUsual,
}

impl Paging {
    /// Returns the number of entries per page, or `None` for a refusal.
    fn granted(self, asked: usize) -> Option<usize> {
        match self {
            Paging::Caps(most) => Some(asked.min(most)),
            Paging::Refuses => (asked <= 100).then_some(asked),
            Paging::ReturnsUsual => Some(if asked > 100 { 5 } else { asked }),
        }
    }
}

/// Clock of the service for the times of changes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stamps {
    /// UTC, ahead by this many seconds.
    Skewed(i64),
    /// Local time labelled as UTC: one hour occurs twice in the night when daylight saving time ends.
    LocalAsUtc,
}

/// A version of a record, and the time during which it was current.
#[derive(Clone, Debug)]
pub(super) struct Version {
    pub(super) id: u64,
    pub(super) number: u64,
    /// The entry of the list.
    pub(super) json: String,
    pub(super) from: i64,
    /// `i64::MAX` for the current version.
    pub(super) until: i64,
}

/// The service, and the faults planned for the exports.
#[derive(Debug)]
pub(super) struct World {
    pub(super) rng: fastrand::Rng,
    pub(super) versions: Vec<Version>,
    /// The indexes of the current versions, ordered by their last change.
    pub(super) current: Vec<usize>,
    pub(super) next_id: u64,
    pub(super) next_number: u64,
    pub(super) order: Order,
    pub(super) has_total: bool,
    pub(super) stamps: Stamps,
    /// Where the service and the machine are.
    pub(super) zone: TimeZone,
    pub(super) paging: Paging,
    /// Whether the list changes during readings.
    pub(super) is_busy: bool,
    /// How many of a thousand requests fail.
    pub(super) faults: u64,
    /// Number of requests until the end of an outage.
    pub(super) outage: u32,
    pub(super) has_lost_token: bool,
    /// Number of requests until the process is killed.
    pub(super) kill_in: Option<u32>,
    pub(super) requests: u64,
}

impl World {
    pub(super) fn new(seed: u64) -> World {
        let mut rng = fastrand::Rng::with_seed(seed);
        let order = [Order::NewestToOldest, Order::OldestToNewest, Order::LastChanged][rng.usize(..3)];
        let stamps = match rng.u8(..3) {
            0 => Stamps::LocalAsUtc,
            _ => Stamps::Skewed([0, -7_200, 10_800, -18_000][rng.usize(..4)]),
        };
        let paging = match rng.u8(..8) {
            0 => Paging::Refuses,
            1 => Paging::ReturnsUsual,
            _ => Paging::Caps([4, 8, 16][rng.usize(..3)]),
        };
        let mut world = World {
            has_total: rng.u8(..4) > 0,
            order,
            stamps,
            zone: TimeZone::get("Europe/Berlin").expect("a zone of the database"),
            paging,
            rng,
            versions: Vec::new(),
            current: Vec::new(),
            next_id: 1,
            next_number: 1,
            is_busy: false,
            faults: 0,
            outage: 0,
            has_lost_token: false,
            kill_in: None,
            requests: 0,
        };
        for _ in 0..world.rng.u32(0..20) {
            world.insert();
        }
        world
    }

    fn add_version(&mut self, id: u64) {
        let (number, from) = (self.next_number, NOW.get());
        let at = jiff::Timestamp::from_nanosecond(i128::from(from)).expect("a time");
        let ahead = match self.stamps {
            Stamps::Skewed(seconds) => seconds,
            Stamps::LocalAsUtc => i64::from(self.zone.to_offset(at).seconds()),
        };
        let at = at + jiff::SignedDuration::from_secs(ahead);
        let (whole, hundredths) = (number / 4, number % 4 * 25);
        let json = format!(r#"{{"id":"{id}","name":"{number}","updated_at":"{at}","price":{whole}.{hundredths}}}"#);
        self.versions.push(Version { id, number, json, from, until: i64::MAX });
        self.next_number += 1;
        self.current.push(self.versions.len() - 1);
    }

    fn insert(&mut self) {
        let id = self.next_id;
        self.next_id += 1;
        self.add_version(id);
    }

    /// Ends a random current version. Returns the ID of its record.
    fn end_version(&mut self) -> Option<u64> {
        let place = (!self.current.is_empty()).then(|| self.rng.usize(..self.current.len()))?;
        let version = self.current.remove(place);
        self.versions[version].until = NOW.get();
        Some(self.versions[version].id)
    }

    /// Inserts, changes or removes a record.
    pub(super) fn change(&mut self) {
        match self.rng.u8(..10) {
            0..4 => self.insert(),
            4..8 => {
                if let Some(id) = self.end_version() {
                    self.add_version(id);
                }
            }
            _ => drop(self.end_version()),
        }
    }

    pub(super) fn listed(&self) -> Vec<&Version> {
        let mut listed: Vec<&Version> = self.current.iter().map(|version| &self.versions[*version]).collect();
        match self.order {
            Order::OldestToNewest => listed.sort_by_key(|version| version.id),
            Order::NewestToOldest => listed.sort_by_key(|version| std::cmp::Reverse(version.id)),
            Order::LastChanged => listed.reverse(),
        }
        listed
    }

    /// Answers a request, after some time.
    pub(super) fn answer(&mut self, request: &Request) -> TransportOutcome {
        sleep(Duration::from_millis(self.rng.u64(20..400)));
        self.requests += 1;
        if request.path.starts_with(REFRESH_PATH) {
            self.has_lost_token = false;
            return response(200, r#"{"access": "renewed"}"#.to_owned());
        }
        if self.outage > 0 {
            self.outage -= 1;
            return TransportOutcome::NotSent { reason: "connection refused".to_owned() };
        }
        if self.has_lost_token {
            return response(401, r#"{"message": "expired"}"#.to_owned());
        }
        if self.rng.u64(..1_000) < self.faults {
            match self.rng.u8(..7) {
                0 => return response(502, "<html>".to_owned()),
                1 => return response(500, String::new()),
                // The service has answered, but the answer is lost.
                2 => return TransportOutcome::NoResponse { reason: "reset".to_owned() },
                3 => return TransportOutcome::Truncated { status: 200, reason: "cut".to_owned(), limit: None },
                4 => return response(429, String::new()),
                5 => self.has_lost_token = true,
                _ => self.outage = self.rng.u32(1..12),
            }
        }
        let Some((_, query)) = request.path.split_once("?page=") else { return self.detail(&request.path) };
        let (page, limit) = query.split_once("&limit=").expect("a size");
        let page: usize = page.parse().expect("a number");
        let Some(size) = self.paging.granted(limit.parse().expect("a number")) else {
            return response(400, r#"{"message": "limit: at most 100"}"#.to_owned());
        };
        let listed = self.listed();
        let total = listed.len();
        let entries = listed.iter().skip((page - 1) * size).take(size);
        let entries: Vec<&str> = entries.map(|version| version.json.as_str()).collect();
        let total = if self.has_total { format!(r#","total":{total}"#) } else { String::new() };
        let body = format!(r#"{{"data":[{}]{total}}}"#, entries.join(","));
        // A change between two pages. Only the total of the next page shows the change.
        if self.is_busy && self.rng.u8(..20) == 0 {
            self.change();
        }
        response(200, body)
    }
}

pub(super) fn response(status: u16, body: String) -> TransportOutcome {
    TransportOutcome::Response(Response {
        status,
        body: body.into_bytes(),
        retry_after: None,
        redirect: None,
        quota: None,
    })
}
