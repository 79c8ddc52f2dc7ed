//! The orders that the rows of a file mean, by their identifiers.

use std::collections::HashMap;

use sheetport_mapping::map::{Gathered, unquoted};
use sheetport_mapping::{Cause, Mapper, NotKept, Problem};
use sheetport_sheet::Row;

use super::sent_lines::SentLines;
use super::service_lines::{ServiceLine, lost_values, names, other_lines, sent};

/// The orders of a file, by the identifiers in its rows.
#[derive(Debug, Default)]
pub struct OrderAddresses {
    pub(super) external_id: Option<Identifier>,
    pub(super) id: Option<Identifier>,
    /// Whether the service shows no order at all, so that nothing can be compared.
    pub(super) shows_none: bool,
    /// Whether the service's other lines of an order are sent with those of the file.
    pub(super) keeps_lines: bool,
}

/// A field that identifies orders.
#[derive(Debug)]
pub(super) struct Identifier {
    /// The index of its rule, as in `Template::rules`.
    pub(super) rule: usize,
    /// The field of the service's orders.
    pub(super) member: &'static str,
    pub(super) found: HashMap<String, FoundOrder>,
    /// Values that name no order.
    pub(super) missing: HashMap<String, Missing>,
    /// What an earlier upload sent, for orders whose lines the service does not show.
    pub(super) sent: HashMap<String, SentLines>,
}

/// Why a value names no order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    Unknown,
    /// The running number of this order.
    NumberOf(String),
    /// Two orders have it.
    Several(String, String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundOrder {
    pub(crate) id: String,
    /// The number of its lines, if shown.
    pub(super) lines: Option<u64>,
    /// The lines, if asked for and shown.
    pub(super) shown: Option<Vec<ServiceLine>>,
}

/// What becomes of the lines that an order has only in the service.
#[derive(Debug)]
pub(crate) enum OtherLines {
    /// There are none, as far as known.
    None,
    /// They go, with these warnings.
    Lost(Vec<Cause>),
    /// They are sent: as JSON, with commas between them.
    Kept(String),
    /// They can't be sent, so nothing may be.
    NotKept(Cause),
}

impl OrderAddresses {
    /// Whether the service shows no order at all, so that the identifiers of the file are sent as they are.
    pub fn shows_none(&self) -> bool {
        self.shows_none
    }

    /// Returns the order that a record means. `is_id`: the record has an id, otherwise `value` is its external id.
    pub(crate) fn find(&self, value: &str, is_id: bool) -> Option<&FoundOrder> {
        self.identifier(is_id)?.found.get(value)
    }

    fn identifier(&self, is_id: bool) -> Option<&Identifier> {
        if is_id { self.id.as_ref() } else { self.external_id.as_ref() }
    }

    /// Returns what becomes of the other lines of the order that a record means, if its lines are sent. A record without lines changes
    /// none. `value` and `is_id` as in [`OrderAddresses::find`].
    pub(crate) fn other_lines(&self, value: &str, is_id: bool, gathered: &Gathered) -> OtherLines {
        if gathered.lines_json().is_empty() {
            return OtherLines::None;
        }
        let order = self.find(value, is_id);
        let lines = order.and_then(|order| order.lines);
        let shown = order.and_then(|order| order.shown.as_deref());
        let others = shown.map(|lines| other_lines(lines, gathered.lines_json()));
        if self.keeps_lines {
            return match others {
                None if lines == Some(0) || order.is_none() => OtherLines::None,
                None => OtherLines::NotKept(Cause::LinesNotKept(NotKept::NotShown)),
                Some(Ok(others)) if others.is_empty() => OtherLines::None,
                Some(others) => match others.and_then(|others| sent(&others)) {
                    Ok(lines) => OtherLines::Kept(lines),
                    Err(why) => OtherLines::NotKept(Cause::LinesNotKept(why)),
                },
            };
        }
        let in_file = gathered.line_count();
        let in_service = shown.map(|lines| lines.len() as u64).or(lines).unwrap_or_default();
        let fewer = |lost| Cause::FewerLines { in_file, in_service, lost };
        let lost = match others {
            Some(Ok(others)) if others.is_empty() => None,
            Some(Ok(others)) => Some(fewer(names(&others))),
            _ if in_service > in_file => Some(fewer(String::new())),
            _ => None,
        };
        let lost: Vec<Cause> = lost.into_iter().chain(self.sent_lines(value, is_id, gathered)).collect();
        if lost.is_empty() { OtherLines::None } else { OtherLines::Lost(lost) }
    }

    /// Returns the warning about values of lines that the service has, or that were sent to it, and the record lacks, if any.
    pub(crate) fn lost_values(&self, value: &str, is_id: bool, gathered: &Gathered) -> Option<Cause> {
        let shown = self.find(value, is_id).and_then(|order| order.shown.as_deref());
        let sent = || self.identifier(is_id)?.sent.get(value)?.lines();
        let lost = match shown {
            Some(lines) => lost_values(lines, gathered.lines_json()),
            None => lost_values(&sent()?, gathered.lines_json()),
        };
        (!lost.is_empty()).then_some(Cause::LineValues { lost })
    }

    /// Returns the warning about lines that an earlier upload sent and the record lacks, if any.
    fn sent_lines(&self, value: &str, is_id: bool, gathered: &Gathered) -> Option<Cause> {
        let sent = self.identifier(is_id)?.sent.get(value)?;
        let lines = sent.lines()?;
        let lost = match other_lines(&lines, gathered.lines_json()) {
            Ok(others) if others.is_empty() => return None,
            Ok(others) => names(&others),
            Err(_) if lines.len() as u64 > gathered.line_count() => String::new(),
            Err(_) => return None,
        };
        Some(Cause::LinesSentBefore {
            run: sent.run,
            date: sent.date.clone(),
            is_accepted: sent.is_accepted,
            in_file: gathered.line_count(),
            then: lines.len() as u64,
            lost,
        })
    }

    /// Returns the problems of a mapped row, each at the cell with the value.
    pub(crate) fn problems(&self, mapper: &Mapper<'_>, row: &Row, gathered: &Gathered) -> Vec<Problem> {
        if self.shows_none {
            return Vec::new();
        }
        let mut found: Vec<(bool, Problem)> = Vec::new();
        gathered.visit_values(mapper.template(), &mut |rule, json| {
            let value = unquoted(json);
            let identifiers = [&self.id, &self.external_id].into_iter().flatten();
            for identifier in identifiers.filter(|identifier| identifier.rule == rule) {
                if let Some(why) = identifier.missing.get(value.as_ref()) {
                    let is_id = identifier.member == "id";
                    let cause = match why.clone() {
                        Missing::Unknown => Cause::UnknownOrder { is_id, number_of: None },
                        Missing::NumberOf(order) => Cause::UnknownOrder { is_id, number_of: Some(order) },
                        Missing::Several(first, second) => Cause::SeveralOrders { first, second },
                    };
                    found.push((is_id, mapper.value_problem(row, rule, &value, cause)));
                }
            }
        });
        // A record with an id is found by it; its external id may be a new one.
        let has_id = self.id.as_ref().is_some_and(|id| gathered.rules().any(|rule| rule == id.rule));
        found.into_iter().filter(|(is_id, _)| *is_id || !has_id).map(|(_, problem)| problem).collect()
    }
}
