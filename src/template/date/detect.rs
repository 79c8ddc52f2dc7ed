//! Finds the one format that reads every date of a column, or says why there is none.

use std::sync::LazyLock;

use jiff::civil;

use super::super::width::{narrow, trim};
use super::Fault;
use super::format::{Fields, Format, Item, fields, items};
use super::order::Order;

/// What a column's dates are written as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detected {
    /// This reads every one of them; no other known format does, or those that do read the same.
    Known(Format),
    /// Several formats read all, and read at least this one differently.
    Ambiguous { example: String, row: u64, readings: [(String, String); 2] },
    /// No known format reads all that some format reads. `pattern` read the most, and is for the message alone: it may well be the wrong one.
    Mixed { pattern: Option<String>, row: u64, example: String },
    /// There was no date.
    Nothing,
}

/// Is fed a column's texts and narrows down how they are written.
///
/// Dates that no calendar has, such as `31.02.2025` or `00.00.0000`, tell nothing and are left to the reading of their
/// row.
pub struct Detector {
    order: Option<Order>,
    forms: Vec<Candidate>,
    /// Pairs of forms that read some text differently, by their indexes, and that text.
    disagreements: Vec<Disagreement>,
    /// The texts at which a candidate ended.
    misses: Vec<(u64, String)>,
    last: String,
    texts: u32,
}

/// How a date form fares, with each of the times that may stand behind it.
struct Candidate {
    form: &'static DateForm,
    /// A bit for each of [`TIMES`] with which it reads all that there was.
    alive: u32,
    /// How many texts it read with each of the times, so long as that matters.
    hits: [u32; TIMES.len()],
    /// With each of the times the first text that it could not read.
    missed: [Option<usize>; TIMES.len()],
}

struct Disagreement {
    forms: (usize, usize),
    row: u64,
    text: String,
    dates: (civil::Date, civil::Date),
}

struct DateForm {
    pattern: &'static str,
    items: Vec<Item>,
    order: Option<Order>,
}

/// How a form fares with a text.
enum Outcome {
    No,
    /// It fits, and the calendar has no such day.
    Impossible(u32),
    Fits(civil::Date, u32),
}

/// Dates as they are usually written. Of forms that agree on a whole column the first is taken.
const DATES: &[(&str, Option<Order>)] = &[
    ("YYYY-MM-DD", None),
    ("YYYY/MM/DD", None),
    ("YYYY.MM.DD", None),
    ("YYYY. MM. DD.", None),
    ("YYYYMMDD", None),
    ("YYYY年MM月DD日", None),
    ("YYYY-MMM-DD", None),
    ("DD.MM.YYYY", Some(Order::Day)),
    ("DD. MM. YYYY", Some(Order::Day)),
    ("DD/MM/YYYY", Some(Order::Day)),
    ("DD-MM-YYYY", Some(Order::Day)),
    ("DD MM YYYY", Some(Order::Day)),
    ("DD.MM.YY", Some(Order::Day)),
    ("DD/MM/YY", Some(Order::Day)),
    ("DD-MM-YY", Some(Order::Day)),
    ("MM/DD/YYYY", Some(Order::Month)),
    ("MM-DD-YYYY", Some(Order::Month)),
    ("MM/DD/YY", Some(Order::Month)),
    ("MM-DD-YY", Some(Order::Month)),
    ("DD. MMMM YYYY", None),
    ("DD MMMM YYYY", None),
    ("DD-MMM-YYYY", None),
    ("DD/MMM/YYYY", None),
    ("DD-MMM-YY", None),
    ("DD MMM YY", None),
    ("MMMM DD, YYYY", None),
    ("MMMM DD YYYY", None),
    ("DD [de] MMMM [de] YYYY", None),
    ("YYYY. MMMM DD.", None),
    ("YY-MM-DD", Some(Order::Year)),
    ("YY/MM/DD", Some(Order::Year)),
    ("YY.MM.DD", Some(Order::Year)),
];

/// What may stand behind a date.
const TIMES: [&str; 26] = [
    "",
    " HH:mm",
    " HH:mm:ss",
    " HH:mm:ss.SSS",
    " HH:mm:ss,SSS",
    " hh:mm A",
    " hh:mmA",
    " hh:mm:ss A",
    " hh:mm:ssA",
    ", HH:mm",
    ", HH:mm:ss",
    ", hh:mm A",
    ", hh:mm:ss A",
    "THH:mm",
    "THH:mm:ss",
    "THH:mm:ss.SSS",
    "THH:mmZ",
    "THH:mm:ssZ",
    "THH:mm:ss.SSSZ",
    " HH:mmZ",
    " HH:mm:ssZ",
    " HH:mm:ss.SSSZ",
    " HH:mm:ss Z",
    " HH:mm:ss.SSS Z",
    "THHmmss",
    "THHmmssZ",
];

const ALL_TIMES: u32 = (1 << TIMES.len()) - 1;

/// So many texts are tried with forms that have failed already, so that the one that reads the most is found.
const SAMPLE: u32 = 1000;

static DATE_FORMS: LazyLock<Vec<DateForm>> = LazyLock::new(|| {
    let form = |(pattern, order): &(&'static str, Option<Order>)| {
        items(pattern).ok().map(|items| DateForm { pattern, items, order: *order })
    };
    DATES.iter().filter_map(form).collect()
});

static TIME_FORMS: LazyLock<Vec<Vec<Item>>> =
    LazyLock::new(|| TIMES.iter().filter_map(|pattern| items(pattern).ok()).collect());

impl Detector {
    /// `order` decides between formats that nothing else can tell apart. Two-digit years that stand first are known to
    /// places alone that write the year first, because `13/05/25` is a day in May anywhere else.
    pub fn new(order: Option<Order>) -> Detector {
        let usable = |form: &&'static DateForm| form.order != Some(Order::Year) || order == Some(Order::Year);
        let candidate =
            |form| Candidate { form, alive: ALL_TIMES, hits: [0; TIMES.len()], missed: [None; TIMES.len()] };
        Detector {
            order,
            forms: DATE_FORMS.iter().filter(usable).map(candidate).collect(),
            disagreements: Vec::new(),
            misses: Vec::new(),
            last: String::new(),
            texts: 0,
        }
    }

    /// Takes the text of the cell in `row`; blank ones tell nothing.
    pub fn feed(&mut self, row: u64, text: &str) {
        let text = trim(text);
        if text.is_empty() || text == self.last {
            return;
        }
        self.last.clear();
        self.last.push_str(text);
        let text = narrow(text);
        self.texts = self.texts.saturating_add(1);
        let sampling = self.texts <= SAMPLE;
        let tried = |candidate: &Candidate| if sampling { ALL_TIMES } else { candidate.alive };
        let outcome = |candidate: &Candidate, times: u32| match times {
            0 => Outcome::No,
            times => candidate.form.try_on(&text, times),
        };
        let outcomes: Vec<Outcome> = self.forms.iter().map(|form| outcome(form, tried(form))).collect();
        let is_no = |outcome: &Outcome| matches!(outcome, Outcome::No);
        // What is no date in any form is a mistake of its own row and says nothing of how the others are written.
        if outcomes.iter().all(is_no) && (sampling || self.forms.iter().all(|form| is_no(&outcome(form, ALL_TIMES)))) {
            self.texts -= 1;
            return;
        }
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
            missed |= candidate.take(fits, self.misses.len());
            let Outcome::Fits(date, _) = outcome else { continue };
            if candidate.alive == 0 {
                continue;
            }
            match first {
                None => first = Some((index, date)),
                Some((other, there)) if there != date => {
                    let forms = (other, index);
                    if !self.disagreements.iter().any(|known| known.forms == forms) {
                        let text = text.clone().into_owned();
                        self.disagreements.push(Disagreement { forms, row, text, dates: (there, date) });
                    }
                }
                Some(_) => {}
            }
        }
        if missed {
            self.misses.push((row, self.last.clone()));
        }
    }

    pub fn finish(self) -> Detected {
        if self.texts == 0 {
            return Detected::Nothing;
        }
        let alive: Vec<usize> = (0..self.forms.len()).filter(|index| self.forms[*index].alive != 0).collect();
        let of_order = |index: &usize| self.order.is_some() && self.forms[*index].form.order == self.order;
        let preferred = alive.iter().copied().find(of_order);
        let Some(first) = alive.first().copied() else { return self.mixed() };
        let still = |known: &&Disagreement| alive.contains(&known.forms.0) && alive.contains(&known.forms.1);
        match (self.disagreements.iter().find(still), preferred) {
            (Some(Disagreement { forms, row, text, dates }), None) => {
                let reading = |form: usize, date: civil::Date| (self.forms[form].pattern(), date.to_string());
                let readings = [reading(forms.0, dates.0), reading(forms.1, dates.1)];
                Detected::Ambiguous { example: text.clone(), row: *row, readings }
            }
            (Some(_), Some(preferred)) => Detected::Known(self.forms[preferred].format()),
            (None, _) => Detected::Known(self.forms[first].format()),
        }
    }

    fn mixed(self) -> Detected {
        let mut best: Option<(u32, usize, usize)> = None;
        for (index, candidate) in self.forms.iter().enumerate() {
            for (time, hits) in candidate.hits.iter().enumerate() {
                if *hits > best.map_or(0, |(most, ..)| most) {
                    best = Some((*hits, index, time));
                }
            }
        }
        let miss = best.and_then(|(_, index, time)| self.forms[index].missed[time]).unwrap_or(0);
        let (row, example) = self.misses.into_iter().nth(miss).unwrap_or_default();
        let pattern = best.map(|(_, index, time)| format!("{}{}", self.forms[index].form.pattern, TIMES[time]));
        Detected::Mixed { pattern, row, example }
    }
}

impl Candidate {
    /// Notes with which times it read a text; whether it failed with one for the first time.
    fn take(&mut self, fits: u32, miss: usize) -> bool {
        let ended = self.alive & !fits;
        let bits = |set: u32| (0..TIMES.len()).filter(move |time| set & (1 << time) != 0);
        for time in bits(ended) {
            self.missed[time] = Some(miss);
        }
        for time in bits(fits) {
            self.hits[time] = self.hits[time].saturating_add(1);
        }
        self.alive &= fits;
        ended != 0
    }

    fn time(&self) -> usize {
        usize::try_from(self.alive.trailing_zeros()).unwrap_or(0).min(TIMES.len() - 1)
    }

    fn pattern(&self) -> String {
        format!("{}{}", self.form.pattern, TIMES[self.time()])
    }

    fn format(&self) -> Format {
        let time = TIME_FORMS.get(self.time()).cloned().unwrap_or_default();
        Format::of(self.pattern(), self.form.items.iter().cloned().chain(time).collect())
    }
}

impl DateForm {
    fn try_on(&self, text: &str, times: u32) -> Outcome {
        let Some((read, rest)) = fields(&self.items, text, Fields::default()) else { return Outcome::No };
        let date = match read.date() {
            Ok(date) => Some(date),
            Err(Fault::Placeholder | Fault::NoSuchDay { .. }) => None,
            Err(_) => return Outcome::No,
        };
        let at = read.at_some_day();
        let fits = |items: &Vec<Item>| matches!(fields(items, rest, at), Some((fields, "")) if fields.read().is_ok());
        let mut found = 0;
        if rest.is_empty() {
            found = times & 1;
        } else {
            for (time, items) in TIME_FORMS.iter().enumerate().skip(1) {
                if times & (1 << time) != 0 && fits(items) {
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

    use super::super::Read;
    use super::super::format::tests::written;
    use super::*;

    fn detect(texts: &[&str], order: Option<Order>) -> Detected {
        let mut detector = Detector::new(order);
        for (row, text) in (2..).zip(texts) {
            detector.feed(row, text);
        }
        detector.finish()
    }

    #[track_caller]
    fn known(texts: &[&str], order: Option<Order>, pattern: &str) {
        match detect(texts, order) {
            Detected::Known(format) => {
                assert_eq!(format.pattern(), pattern);
                let again = Format::parse(pattern).expect("a pattern");
                assert_eq!(format, again, "the pattern that is shown means the same when a person writes it");
            }
            other => panic!("{texts:?}: {other:?}"),
        }
    }

    #[test]
    fn every_known_form_is_understood() {
        assert_eq!(DATE_FORMS.len(), DATES.len());
        assert_eq!(TIME_FORMS.len(), TIMES.len());
        for (date, _) in DATES {
            for time in TIMES {
                assert!(Format::parse(&format!("{date}{time}")).is_ok(), "{date}{time}");
            }
        }
    }

    #[test]
    fn a_column_tells_how_it_is_written() {
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
    }

    #[test]
    fn dates_that_two_formats_read_alike_are_no_ambiguity() {
        known(&["03/03/2025", "12/12/2025"], None, "DD/MM/YYYY");
    }

    #[test]
    fn what_could_be_two_dates_is_asked_about_unless_the_locale_tells() {
        let texts = ["03/03/2025", "04/03/2025", "05/06/2025"];
        let readings = [("DD/MM/YYYY", "2025-03-04"), ("MM/DD/YYYY", "2025-04-03")];
        let readings = readings.map(|(pattern, shown)| (pattern.to_owned(), shown.to_owned()));
        let expected = Detected::Ambiguous { example: "04/03/2025".to_owned(), row: 3, readings };
        assert_eq!(detect(&texts, None), expected);
        assert_eq!(detect(&texts, Some(Order::Year)), expected);
        known(&texts, Some(Order::Day), "DD/MM/YYYY");
        known(&texts, Some(Order::Month), "MM/DD/YYYY");
        known(&["04/03/2025", "12/31/2025"], Some(Order::Day), "MM/DD/YYYY");
        known(&["13/05/25"], None, "DD/MM/YY");
        known(&["13/05/25"], Some(Order::Year), "YY/MM/DD");
        known(&["01/02/03", "01/20/03"], Some(Order::Year), "MM/DD/YY");
        known(&["10/11/12", "10/12/31"], Some(Order::Year), "YY/MM/DD");
    }

    #[test]
    fn a_column_that_no_format_reads_says_where() {
        let mixed = |pattern: Option<&str>, row, example: &str| Detected::Mixed {
            pattern: pattern.map(str::to_owned),
            row,
            example: example.to_owned(),
        };
        assert_eq!(detect(&["31.12.2025", "2025-12-31"], None), mixed(Some("YYYY-MM-DD"), 2, "31.12.2025"));
        assert_eq!(
            detect(&["31.12.2025", "auf Anfrage", "2025-12-31", "1.2.2025"], None),
            mixed(Some("DD.MM.YYYY"), 4, "2025-12-31")
        );
        assert_eq!(
            detect(&["31.12.2025 09:00", "30.12.2025", "29.12.2025"], None),
            mixed(Some("DD.MM.YYYY"), 2, "31.12.2025 09:00")
        );
    }

    #[test]
    fn what_is_no_date_at_all_says_nothing_of_the_others() {
        known(&["31.12.2025", "auf Anfrage", "1.2.2025"], None, "DD.MM.YYYY");
        assert_eq!(detect(&["soon"], None), Detected::Nothing);
        assert_eq!(detect(&["25:00"], None), Detected::Nothing);
        assert_eq!(detect(&["", " "], None), Detected::Nothing);
    }

    #[test]
    fn days_that_no_calendar_has_are_left_to_their_rows() {
        known(&["31.02.2025", "00.00.0000", "31.12.9999", "1.2.2025"], None, "DD.MM.YYYY");
        known(&["2025-02-30 10:00", "2025-02-03 10:00"], None, "YYYY-MM-DD HH:mm");
    }

    fn date() -> impl Strategy<Value = civil::Date> {
        (1000i16..9999, 1i8..13, 1i8..32)
            .prop_filter_map("a day that exists", |(year, month, day)| civil::Date::new(year, month, day).ok())
    }

    proptest! {
        #[test]
        fn every_date_is_read_as_every_known_form_writes_it(date in date(), hour in 0i8..24, minute in 0i8..60, second in 0i8..60, some in 0..TIMES.len()) {
            for (pattern, _) in DATES {
                for time in ["", TIMES[some]] {
                    let pattern = format!("{pattern}{time}");
                    let date = if pattern.contains("YYYY") { date } else { with_year_of_two_digits(date) };
                    let second = if time.contains('s') { second } else { 0 };
                    let local = date.at(hour, minute, second, 0);
                    let format = Format::parse(&pattern).expect("a pattern");
                    let expected = match time {
                        "" => Read::Date(date),
                        _ if time.contains('Z') => Read::Instant(jiff::tz::offset(2).to_timestamp(local).expect("in range")),
                        _ => Read::Local(local),
                    };
                    let text = written(&format, local);
                    prop_assert_eq!(format.read(&text), Ok(expected), "{} by {}", text, pattern);
                }
            }
        }

        #[test]
        fn a_day_past_the_twelfth_leaves_no_doubt(
            days in proptest::collection::vec((1970i16..2068, 1i8..13, 1i8..29), 1..20),
            sure in (1970i16..2068, 1i8..13, 13i8..29),
            at in 0usize..20,
            form in prop_oneof![Just("DD/MM/YYYY"), Just("MM/DD/YYYY"), Just("DD-MM-YY"), Just("MM/DD/YY"), Just("DD.MM.YY"), Just("MM-DD-YYYY HH:mm")],
        ) {
            let mut days = days;
            days.insert(at.min(days.len()), sure);
            let format = Format::parse(form).expect("a pattern");
            let mut detector = Detector::new(None);
            for (row, (year, month, day)) in (2..).zip(&days) {
                detector.feed(row, &written(&format, civil::date(*year, *month, *day).at(10, 0, 0, 0)));
            }
            let detected = detector.finish();
            prop_assert!(matches!(&detected, Detected::Known(known) if known.pattern() == form), "{:?}", detected);
        }

        #[test]
        fn a_known_format_reads_all_that_it_was_known_by(texts in proptest::collection::vec("[0-9]{1,2}[./-][0-9]{1,2}[./-](20)?[0-9]{2}( [0-9]{1,2}:[0-9]{2})?|\\PC{0,12}", 0..6)) {
            let mut detector = Detector::new(None);
            for (row, text) in (2..).zip(&texts) {
                detector.feed(row, text);
            }
            if let Detected::Known(format) = detector.finish() {
                for text in texts.iter().filter(|text| !trim(text).is_empty()) {
                    let read = format.read(text);
                    let is_none = || detect(&[text], None) == Detected::Nothing;
                    let fits = matches!(read, Ok(_) | Err(Fault::NoSuchDay { .. } | Fault::Placeholder));
                    prop_assert!(fits || is_none(), "{}: {:?}", text, read);
                }
            }
        }
    }

    fn with_year_of_two_digits(date: civil::Date) -> civil::Date {
        let year = 1969 + date.year() % 100;
        civil::Date::new(year, date.month(), date.day().min(28)).expect("a day that exists")
    }
}
