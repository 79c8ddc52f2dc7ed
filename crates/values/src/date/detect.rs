//! Detection of the date format of a column.

use std::sync::{Arc, LazyLock};

use jiff::civil;
use serde::Deserialize;

use super::additions;
use super::error::DateError;
use super::format::{DateFormat, Fields, Item, parse_fields, parse_items};
use crate::locale::Order;
use crate::normalize::{to_ascii, trim};

/// The date format of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detected {
    /// The format of every date. If several formats fit with the same results, the first.
    Known(DateFormat),
    /// Dates and times in one form, and dates alone where programs leave out midnight: the format with the time, and without.
    WithoutMidnight([DateFormat; 2]),
    /// Several formats fit every date, with different results.
    Ambiguous(Arc<AmbiguousDates>),
    /// No format fits every date.
    Mixed(Arc<MixedDates>),
    NoDates,
}

/// Two formats of a column's dates, each as pattern and result for `example`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AmbiguousDates {
    pub example: String,
    pub readings: [(String, String); 2],
}

/// The most frequent format of a column's dates, and the first date in another format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MixedDates {
    pub example: String,
    pub row: u64,
    pub pattern: String,
}

/// Narrows down the formats of a column, text by text.
///
/// Impossible dates, such as `31.02.2025` or `00.00.0000`, rule out no format but are problems of their rows.
#[derive(Clone, Debug)]
pub struct Detector {
    order: Option<Order>,
    forms: Vec<Candidate>,
    /// For each pair of forms, the first text with different results.
    disagreements: Vec<Disagreement>,
    /// Texts that ruled out candidates.
    misses: Vec<(u64, String)>,
    last: String,
    texts: u32,
    year_first: YearFirst,
}

/// Whether the dates may begin with a two-digit year, as `26-03-15` in a column with one first number and many last numbers.
#[derive(Clone, Debug, Default)]
struct YearFirst {
    /// The forms that fit every text so far. Empty if the detector has these forms itself.
    forms: Vec<Candidate>,
    /// A bit for each number at the start and at the end of the dates.
    starts: u128,
    ends: u128,
}

/// A form of dates, with the possible forms of times after the date.
#[derive(Clone, Debug)]
struct Candidate {
    form: &'static Form,
    /// A bit for each form of times: whether every text so far has fitted.
    alive: u32,
    /// The same for texts that are dates alone or have this time. Includes every alive form.
    partly: u32,
    /// Number of fitting texts for each form of times, within the sample.
    hits: Vec<u32>,
    /// For each form of times, the first misfit: an index of [`Detector::misses`].
    missed: Vec<Option<usize>>,
}

#[derive(Clone, Debug)]
struct Disagreement {
    forms: (usize, usize),
    text: String,
    dates: (civil::Date, civil::Date),
}

/// `forms.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Forms {
    dates: Vec<Form>,
    times: Vec<Form>,
}

/// A form of dates, or of times after a date.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    pattern: String,
    order: Option<Order>,
    #[serde(skip)]
    items: Vec<Item>,
}

/// The result of parsing a text by a form.
enum Outcome {
    No,
    /// The form fits, but the day does not exist.
    Impossible(u32),
    Fits(civil::Date, u32),
}

/// Number of texts parsed even by forms already ruled out, to find the most frequent form.
const SAMPLE: u32 = 1000;

static FORMS: LazyLock<Forms> = LazyLock::new(|| {
    let mut forms: Forms =
        toml::from_str(include_str!("forms.toml")).expect("the file is compiled in, and tests parse it");
    for form in forms.dates.iter_mut().chain(&mut forms.times) {
        form.items = parse_items(&form.pattern).expect("a test parses every pattern");
    }
    forms
});

impl Detector {
    /// Creates a detector. `order` decides between formats that fit equally. Two-digit years at the start are only chosen if
    /// `order` is the year first: otherwise `13/05/25` is a day in May. Without an `order`, a column is ambiguous if its dates may
    /// begin with the year, and differ more at their end than at their start, as days do.
    pub fn new(order: Option<Order>) -> Detector {
        let usable = |form: &&'static Form| form.order != Some(Order::Year) || order == Some(Order::Year);
        let times = FORMS.times.len();
        let candidate = |form| Candidate {
            form,
            alive: all_times(),
            partly: all_times(),
            hits: vec![0; times],
            missed: vec![None; times],
        };
        let unusable = FORMS.dates.iter().filter(|form| order.is_none() && !usable(form));
        Detector {
            order,
            year_first: YearFirst { forms: unusable.map(candidate).collect(), ..YearFirst::default() },
            forms: FORMS.dates.iter().filter(usable).map(candidate).collect(),
            disagreements: Vec::new(),
            misses: Vec::new(),
            last: String::new(),
            texts: 0,
        }
    }

    /// Adds the text of the cell in `row`. Ignores blank texts.
    pub fn add(&mut self, row: u64, text: &str) {
        let text = trim(text);
        if text.is_empty() || text == self.last {
            return;
        }
        self.last.clear();
        self.last.push_str(text);
        let text = to_ascii(text);
        self.texts = self.texts.saturating_add(1);
        let sampling = self.texts <= SAMPLE;
        let tried = |candidate: &Candidate| if sampling { all_times() } else { candidate.possible() };
        let plain = additions::removed(&text);
        let outcome = |candidate: &Candidate, times: u32| match (times, &plain) {
            (0, _) => Outcome::No,
            (times, None) => candidate.form.parse(&text, times),
            (times, Some(plain)) => match candidate.form.parse(&text, times) {
                Outcome::No => candidate.form.parse(plain, times),
                outcome => outcome,
            },
        };
        let outcomes: Vec<Outcome> = self.forms.iter().map(|form| outcome(form, tried(form))).collect();
        let is_no = |outcome: &Outcome| matches!(outcome, Outcome::No);
        // A text that is not a date in any form is a problem of its row, and rules out no format.
        if outcomes.iter().all(is_no) && (sampling || self.forms.iter().all(|form| is_no(&outcome(form, all_times()))))
        {
            self.texts -= 1;
            return;
        }
        self.year_first.add(&text);
        let mut first: Option<(usize, civil::Date)> = None;
        let mut missed = false;
        for (index, (candidate, outcome)) in self.forms.iter_mut().zip(outcomes).enumerate() {
            if tried(candidate) == 0 {
                continue;
            }
            let fits = match outcome {
                Outcome::No => 0,
                Outcome::Impossible(times) | Outcome::Fits(_, times) => times,
            };
            missed |= candidate.record(fits, self.misses.len());
            let Outcome::Fits(date, _) = outcome else { continue };
            if candidate.partly == 0 {
                continue;
            }
            match first {
                None => first = Some((index, date)),
                Some((other, other_date)) if other_date != date => {
                    let forms = (other, index);
                    if !self.disagreements.iter().any(|known| known.forms == forms) {
                        let text = text.clone().into_owned();
                        self.disagreements.push(Disagreement { forms, text, dates: (other_date, date) });
                    }
                }
                Some(_) => {}
            }
        }
        if missed {
            self.misses.push((row, self.last.clone()));
        }
    }

    /// Returns the format of all texts added.
    pub fn finish(&self) -> Detected {
        if self.texts == 0 {
            return Detected::NoDates;
        }
        let with = |set: fn(&Candidate) -> u32| -> Vec<usize> {
            (0..self.forms.len()).filter(|index| set(&self.forms[*index]) != 0).collect()
        };
        let mut alive = with(|candidate| candidate.alive);
        if alive.is_empty() {
            alive = with(|candidate| candidate.partly);
        }
        let of_order = |index: &usize| self.order.is_some() && self.forms[*index].form.order == self.order;
        let preferred = alive.iter().copied().find(of_order);
        let Some(first) = alive.first().copied() else { return self.mixed() };
        let still = |known: &&Disagreement| alive.contains(&known.forms.0) && alive.contains(&known.forms.1);
        match (self.disagreements.iter().find(still), preferred) {
            (Some(Disagreement { forms, text, dates }), None) => {
                let reading = |form: usize, date: civil::Date| (self.forms[form].pattern(), date.to_string());
                let readings = [reading(forms.0, dates.0), reading(forms.1, dates.1)];
                Detected::Ambiguous(Arc::new(AmbiguousDates { example: text.clone(), readings }))
            }
            (Some(_), Some(preferred)) => self.forms[preferred].detected(),
            (None, _) => match self.year_first.reading_beside(&self.forms[first], &self.last) {
                Some(ambiguous) => Detected::Ambiguous(Arc::new(ambiguous)),
                None => self.forms[first].detected(),
            },
        }
    }

    /// Finds the most frequent form and the first text in another form.
    fn mixed(&self) -> Detected {
        let by_hits = |candidate: &Candidate| candidate.hits.iter().copied().max();
        let hits = self.forms.iter().filter_map(by_hits).max();
        let best =
            self.forms.iter().find_map(|form| Some((form, form.hits.iter().position(|other| Some(*other) == hits)?)));
        let (form, time) = best.expect("there are forms");
        let pattern = format!("{}{}", form.form.pattern, FORMS.times[time].pattern);
        let (row, example) = self.misses[form.missed[time].expect("every form has been ruled out")].clone();
        Detected::Mixed(Arc::new(MixedDates { example, row, pattern }))
    }
}

impl YearFirst {
    fn add(&mut self, text: &str) {
        self.forms.retain_mut(|candidate| {
            candidate.narrow(match candidate.form.parse(text, candidate.possible()) {
                Outcome::No => 0,
                Outcome::Impossible(times) | Outcome::Fits(_, times) => times,
            });
            candidate.partly != 0
        });
        if self.forms.is_empty() {
            return;
        }
        let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse::<u32>().ok());
        let bit = |number: Option<u32>| number.and_then(|number| 1_u128.checked_shl(number)).unwrap_or_default();
        self.starts |= bit(numbers.next());
        self.ends |= bit(numbers.nth(1));
    }

    /// Returns both readings of a text, if `chosen` has a two-digit year at its end, and the year may also be at the start.
    fn reading_beside(&self, chosen: &Candidate, text: &str) -> Option<AmbiguousDates> {
        let is_short = chosen.form.pattern.ends_with("YY") && !chosen.form.pattern.ends_with("YYYY");
        if !is_short || self.ends.count_ones() <= self.starts.count_ones() {
            return None;
        }
        let other = self.forms.first()?;
        let text = to_ascii(text);
        let reading = |candidate: &Candidate| match candidate.form.parse(&text, candidate.possible()) {
            Outcome::Fits(date, _) => Some((candidate.pattern(), date.to_string())),
            Outcome::No | Outcome::Impossible(_) => None,
        };
        Some(AmbiguousDates { readings: [reading(chosen)?, reading(other)?], example: text.into_owned() })
    }
}

/// The set of the first form of times: none.
const DATE_ALONE: u32 = 1;

/// Returns the set of all forms of times.
fn all_times() -> u32 {
    (1 << FORMS.times.len()) - 1
}

impl Candidate {
    /// Records the fitting forms of times for a text. Returns whether a form was ruled out.
    fn record(&mut self, fits: u32, miss: usize) -> bool {
        let ruled_out = self.alive & !fits;
        let bits = |set: u32| (0..FORMS.times.len()).filter(move |time| set & (1 << time) != 0);
        for time in bits(ruled_out) {
            self.missed[time] = Some(miss);
        }
        for time in bits(fits) {
            self.hits[time] = self.hits[time].saturating_add(1);
        }
        self.narrow(fits);
        ruled_out != 0
    }

    /// Keeps the forms of times that fit a further text.
    fn narrow(&mut self, fits: u32) {
        self.alive &= fits;
        if fits & DATE_ALONE == 0 {
            self.partly &= fits;
        }
    }

    /// Returns the forms of times that may fit a further text.
    fn possible(&self) -> u32 {
        if self.partly == 0 { 0 } else { self.partly | DATE_ALONE }
    }

    /// Returns the first fitting form of times, an index of [`Forms::times`].
    fn time(&self) -> usize {
        let set = if self.alive == 0 { self.partly & !DATE_ALONE } else { self.alive };
        set.trailing_zeros() as usize
    }

    fn pattern(&self) -> String {
        format!("{}{}", self.form.pattern, FORMS.times[self.time()].pattern)
    }

    fn detected(&self) -> Detected {
        if self.alive != 0 {
            return Detected::Known(self.format());
        }
        let date_alone = DateFormat::from_items(self.form.pattern.clone(), self.form.items.clone());
        Detected::WithoutMidnight([self.format(), date_alone])
    }

    fn format(&self) -> DateFormat {
        let items = self.form.items.iter().chain(&FORMS.times[self.time()].items).cloned();
        DateFormat::from_items(self.pattern(), items.collect())
    }
}

impl Form {
    fn parse(&self, text: &str, times: u32) -> Outcome {
        let Some((read, rest)) = parse_fields(&self.items, text, Fields::default()) else { return Outcome::No };
        let date = match read.date() {
            Ok(date) => Some(date),
            Err(DateError::Placeholder | DateError::NoSuchDay { .. }) => None,
            Err(_) => return Outcome::No,
        };
        let at = read.with_valid_date();
        let fits =
            |items: &Vec<Item>| matches!(parse_fields(items, rest, at), Some((fields, "")) if fields.to_date().is_ok());
        let mut found = 0;
        if rest.is_empty() {
            found = times & 1;
        } else {
            for (time, form) in FORMS.times.iter().enumerate().skip(1) {
                if times & (1 << time) != 0 && fits(&form.items) {
                    found |= 1 << time;
                }
            }
        }
        match date {
            _ if found == 0 => Outcome::No,
            Some(date) => Outcome::Fits(date, found),
            None => Outcome::Impossible(found),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, prop_assert, prop_assert_eq, prop_oneof, proptest};

    use super::super::format::tests::written;
    use super::super::iso::ParsedDate;
    use super::*;

    fn detect(texts: &[&str], order: Option<Order>) -> Detected {
        let mut detector = Detector::new(order);
        for (row, text) in (2..).zip(texts) {
            detector.add(row, text);
        }
        detector.finish()
    }

    #[track_caller]
    fn known(texts: &[&str], order: Option<Order>, pattern: &str) {
        match detect(texts, order) {
            Detected::Known(format) => {
                assert_eq!(format.pattern(), pattern);
                let again = DateFormat::parse(pattern).expect("a pattern");
                assert_eq!(format, again, "the shown pattern means the same when it is parsed");
            }
            other => panic!("{texts:?}: {other:?}"),
        }
    }

    #[test]
    fn every_known_form_is_a_valid_pattern() {
        for date in &FORMS.dates {
            for time in &FORMS.times {
                let pattern = format!("{}{}", date.pattern, time.pattern);
                assert!(DateFormat::parse(&pattern).is_ok(), "{pattern}");
            }
        }
    }

    #[test]
    fn the_format_of_a_column_is_detected() {
        known(&["2025-12-31"], None, "YYYY-MM-DD");
        known(&["2025-12-31T09:00:00Z", "2025-12-31T09:00:00+02:00"], None, "YYYY-MM-DDTHH:mm:ssZ");
        known(&["2025-12-31 09:00"], None, "YYYY-MM-DD HH:mm");
        known(&["31.12.2025", "", "1.2.2025"], None, "DD.MM.YYYY");
        known(&["03/04/2025", "31/12/2025"], None, "DD/MM/YYYY");
        known(&["03/04/2025", "12/31/2025"], None, "MM/DD/YYYY");
        known(&["12/31/2025, 9:00 PM"], None, "MM/DD/YYYY, hh:mm A");
        known(&["31-12-25"], None, "DD-MM-YY");
        known(&["20251231"], None, "YYYYMMDD");
        known(&["5. März 2025", "12. Dez. 2025"], None, "DD. MMMM YYYY");
        known(&["5 de março de 2025"], None, "DD [de] MMMM [de] YYYY");
        known(&["31-Dec-25", "05-MAR-25"], None, "DD-MMM-YY");
        known(&["March 5, 2025"], None, "MMMM DD, YYYY");
        known(&["２０２５年１月２日"], None, "YYYY年MM月DD日");
        known(&["2025. 12. 31."], None, "YYYY. MM. DD.");
        known(&["1er mai 2026", "2 mai 2026"], None, "DD MMMM YYYY");
        known(&["den 3. marts 2026", "4. maj 2026"], None, "DD. MMMM YYYY");
        known(&["1.º de maio de 2026", "3 de junho de 2026"], None, "DD [de] MMMM [de] YYYY");
        known(&["3 de mayo del 2026"], None, "DD [de] MMMM [del] YYYY");
        known(&["May 1st, 2026", "May 2nd, 2026"], None, "MMMM DD, YYYY");
        known(&["2026년 5월 1일"], None, "YYYY년 MM월 DD일");
    }

    #[test]
    fn months_without_a_year_are_no_dates() {
        assert_eq!(detect(&["1º de enero", "1er mars", "den 3. marts"], None), Detected::NoDates);
    }

    #[test]
    fn formats_with_the_same_results_are_not_ambiguous() {
        known(&["03/03/2025", "12/12/2025"], None, "DD/MM/YYYY");
    }

    #[test]
    fn formats_with_different_results_are_ambiguous_without_a_locale() {
        let texts = ["03/03/2025", "04/03/2025", "05/06/2025"];
        let readings = [("DD/MM/YYYY", "2025-03-04"), ("MM/DD/YYYY", "2025-04-03")];
        let readings = readings.map(|(pattern, shown)| (pattern.to_owned(), shown.to_owned()));
        let expected = Detected::Ambiguous(Arc::new(AmbiguousDates { example: "04/03/2025".to_owned(), readings }));
        assert_eq!(detect(&texts, None), expected);
        assert_eq!(detect(&texts, Some(Order::Year)), expected);
        known(&texts, Some(Order::Day), "DD/MM/YYYY");
        known(&texts, Some(Order::Month), "MM/DD/YYYY");
        known(&["04/03/2025", "12/31/2025"], Some(Order::Day), "MM/DD/YYYY");
        known(&["13/05/25"], None, "DD/MM/YY");
        known(&["13/05/25"], Some(Order::Year), "YY/MM/DD");
        known(&["24-11-25", "25-11-25"], None, "DD-MM-YY");
        known(&["26-03-04", "26-03-15"], Some(Order::Day), "DD-MM-YY");
        let readings = [("DD-MM-YY", "2015-03-26"), ("YY-MM-DD", "2026-03-15")];
        let readings = readings.map(|(pattern, shown)| (pattern.to_owned(), shown.to_owned()));
        let expected = Detected::Ambiguous(Arc::new(AmbiguousDates { example: "26-03-15".to_owned(), readings }));
        assert_eq!(detect(&["26-03-04", "26-03-15"], None), expected);
        known(&["01/02/03", "01/20/03"], Some(Order::Year), "MM/DD/YY");
        known(&["10/11/12", "10/12/31"], Some(Order::Year), "YY/MM/DD");
    }

    #[test]
    fn mixed_formats_name_the_first_different_date() {
        let mixed = |pattern: &str, row, example: &str| {
            Detected::Mixed(Arc::new(MixedDates { pattern: pattern.to_owned(), row, example: example.to_owned() }))
        };
        assert_eq!(detect(&["31.12.2025", "2025-12-31"], None), mixed("YYYY-MM-DD", 2, "31.12.2025"));
        assert_eq!(
            detect(&["31.12.2025", "auf Anfrage", "2025-12-31", "1.2.2025"], None),
            mixed("DD.MM.YYYY", 4, "2025-12-31")
        );
        assert_eq!(
            detect(&["31.12.2025 09:00", "30.12.2025", "29.12.2025 9:00 AM"], None),
            mixed("DD.MM.YYYY", 2, "31.12.2025 09:00")
        );
    }

    #[test]
    fn dates_alone_may_stand_for_midnight_among_times() {
        for texts in [["2026-03-25", "2026-03-26 14:05"], ["2026-03-26 14:05", "2026-03-25"]] {
            match detect(&texts, None) {
                Detected::WithoutMidnight(formats) => {
                    assert_eq!(formats.map(|format| format.pattern().to_owned()), ["YYYY-MM-DD HH:mm", "YYYY-MM-DD"]);
                }
                other => panic!("{texts:?}: {other:?}"),
            }
        }
        assert!(matches!(detect(&["03/04/2025", "03/04/2025 10:00"], None), Detected::Ambiguous(_)));
        assert!(matches!(detect(&["26-03-04", "26-03-15 10:00"], None), Detected::Ambiguous(_)));
    }

    #[test]
    fn other_texts_are_ignored() {
        known(&["31.12.2025", "auf Anfrage", "1.2.2025"], None, "DD.MM.YYYY");
        assert_eq!(detect(&["soon"], None), Detected::NoDates);
        assert_eq!(detect(&["25:00"], None), Detected::NoDates);
        assert_eq!(detect(&["", " "], None), Detected::NoDates);
    }

    #[test]
    fn impossible_days_rule_out_no_format() {
        known(&["31.02.2025", "00.00.0000", "31.12.9999", "1.2.2025"], None, "DD.MM.YYYY");
        known(&["2025-02-30 10:00", "2025-02-03 10:00"], None, "YYYY-MM-DD HH:mm");
    }

    fn date() -> impl Strategy<Value = civil::Date> {
        (1901i16..2200, 1i8..13, 1i8..32)
            .prop_filter_map("a day that exists", |(year, month, day)| civil::Date::new(year, month, day).ok())
            .prop_filter("no placeholder", |date| *date != civil::date(1970, 1, 1))
    }

    proptest! {
        #[test]
        fn every_known_form_parses_what_it_writes(date in date(), hour in 0i8..24, minute in 0i8..60, second in 0i8..60, some in 0..FORMS.times.len()) {
            for form in &FORMS.dates {
                for time in ["", FORMS.times[some].pattern.as_str()] {
                    let pattern = format!("{}{time}", form.pattern);
                    let date = if pattern.contains("YYYY") { date } else { with_year_of_two_digits(date) };
                    let second = if time.contains('s') { second } else { 0 };
                    let local = date.at(hour, minute, second, 0);
                    let format = DateFormat::parse(&pattern).expect("a pattern");
                    let expected = match time {
                        "" => ParsedDate::Date(date),
                        _ if time.contains('Z') => ParsedDate::Instant(jiff::tz::offset(2).to_timestamp(local).expect("in range")),
                        _ => ParsedDate::Local(local),
                    };
                    let text = written(&format, local);
                    prop_assert_eq!(format.parse_date(&text), Ok(expected), "{} by {}", text, pattern);
                }
            }
        }

        #[test]
        fn a_day_after_the_twelfth_settles_the_order(
            days in proptest::collection::vec((1970i16..2068, 1i8..13, 1i8..29), 1..20),
            sure in (1970i16..2068, 1i8..13, 13i8..29),
            at in 0usize..20,
            form in prop_oneof![Just("DD/MM/YYYY"), Just("MM/DD/YYYY"), Just("DD-MM-YY"), Just("MM/DD/YY"), Just("DD.MM.YY"), Just("MM-DD-YYYY HH:mm")],
        ) {
            let mut days = days;
            days.insert(at.min(days.len()), sure);
            let format = DateFormat::parse(form).expect("a pattern");
            let mut detector = Detector::new(None);
            for (row, (year, month, day)) in (2..).zip(&days) {
                detector.add(row, &written(&format, civil::date(*year, *month, *day).at(10, 0, 0, 0)));
            }
            let detected = detector.finish();
            // A two-digit year may also come first.
            let is_unsure = form.ends_with("YY") && !form.ends_with("YYYY") && matches!(detected, Detected::Ambiguous(_));
            prop_assert!(is_unsure || matches!(&detected, Detected::Known(known) if known.pattern() == form), "{:?}", detected);
        }

        #[test]
        fn a_detected_format_parses_every_text(texts in proptest::collection::vec("[0-9]{1,2}[./-][0-9]{1,2}[./-](20)?[0-9]{2}( [0-9]{1,2}:[0-9]{2})?|\\PC{0,12}", 0..6)) {
            let mut detector = Detector::new(None);
            for (row, text) in (2..).zip(&texts) {
                detector.add(row, text);
            }
            if let Detected::Known(format) = detector.finish() {
                for text in texts.iter().filter(|text| !trim(text).is_empty()) {
                    let parsed = format.parse_date(text);
                    let is_none = || detect(&[text], None) == Detected::NoDates;
                    let fits = matches!(parsed, Ok(_) | Err(DateError::NoSuchDay { .. } | DateError::Placeholder));
                    prop_assert!(fits || is_none(), "{}: {:?}", text, parsed);
                }
            }
        }
    }

    fn with_year_of_two_digits(date: civil::Date) -> civil::Date {
        let year = 1969 + date.year() % 100;
        civil::Date::new(year, date.month(), date.day().min(28)).expect("a day that exists")
    }
}
