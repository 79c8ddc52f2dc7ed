//! Fault plans as TOML files, and the built-in examples.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use serde::Deserialize;
use sheetport_documents::{Mistake, Mistakes, Notes, Texts, TomlFile};
use toml::Spanned;
use wildmatch::WildMatch;

use super::plan::{Answer, Effect, Ending, MILLION, Matcher, Moment, Paging, Plan, Rule};

/// The built-in plans: names and texts. The first line of each text describes its purpose.
pub const EXAMPLES: [(&str, &str); 6] = [
    ("refusals", include_str!("plans/refusals.toml")),
    ("outage", include_str!("plans/outage.toml")),
    ("throttled", include_str!("plans/throttled.toml")),
    ("unsure", include_str!("plans/unsure.toml")),
    ("nonsense", include_str!("plans/nonsense.toml")),
    ("paging", include_str!("plans/paging.toml")),
];

/// Maximum delay, in seconds.
const MAX_DELAY: f64 = 3600.0;
/// Maximum deviation of dates in either direction, in seconds: ten years. HTTP dates are between 1970 and 9999.
const MAX_DEVIATION: i64 = 3650 * 86_400;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPlan {
    limit: Option<Spanned<String>>,
    latency: Option<Spanned<String>>,
    clock: Option<Spanned<String>>,
    #[serde(default)]
    fault: Vec<Spanned<RawRule>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    name: Option<String>,
    #[serde(default)]
    method: Texts,
    path: Option<String>,
    key: Option<String>,
    attempt: Option<Spanned<Numbers>>,
    call: Option<Spanned<Numbers>>,
    share: Option<Spanned<Share>>,
    when: Option<Spanned<Moment>>,
    delay: Option<Spanned<String>>,
    answer: Option<Spanned<RawAnswer>>,
    ending: Option<Ending>,
    paging: Option<Paging>,
    max_page: Option<NonZeroU64>,
    #[serde(default)]
    token_expires: bool,
}

/// A share as a number, or as a text, which is a mistake.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "`share` is a number from 0 to 1, such as 0.02")]
enum Share {
    Number(f64),
    Text(String),
}

/// A number, or a range such as `2..5`, `2..` or `..5`; both ends are included.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "write a number from 1 on, or a range such as \"2..5\" or \"2..\"")]
enum Numbers {
    One(u64),
    Range(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAnswer {
    status: Option<i64>,
    message: Option<String>,
    #[serde(default)]
    errors: BTreeMap<String, Texts>,
    #[serde(default)]
    refused: Texts,
    body: Option<String>,
    content_type: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    retry_after: Option<RetryAfter>,
    retry_after_date: Option<u64>,
}

/// Seconds, or any text.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "`retry_after` is a number of seconds, or a text in quotation marks")]
enum RetryAfter {
    Seconds(u64),
    Text(String),
}

impl Plan {
    /// Reads a plan from the TOML file `name`.
    ///
    /// # Errors
    /// With the places of all mistakes.
    pub fn parse(name: &str, source: &str) -> Result<Plan, Mistakes> {
        let (raw, notes) = Notes::read::<RawPlan>(TomlFile { what: "fault plan", name, source });
        let plan = raw.map(|raw| {
            let mut plan = Plan {
                limit: parsed(&notes, raw.limit, str::parse),
                latency: parsed(&notes, raw.latency, delay).unwrap_or_default(),
                clock: parsed(&notes, raw.clock, clock).unwrap_or_default(),
                rules: Vec::new(),
            };
            let starts: Vec<usize> = raw.fault.iter().map(|rule| rule.span().start).collect();
            for (index, rule) in raw.fault.into_iter().enumerate() {
                let end = starts.get(index + 1).copied().unwrap_or(source.len());
                let reader = RuleReader { notes: &notes, span: rule.span(), lines: rule.span().start..end };
                plan.rules.push(reader.read(index + 1, rule.into_inner()));
            }
            plan
        });
        notes.finish(plan)
    }

    /// Returns the example with this name.
    pub fn example(name: &str) -> Option<Result<Plan, Mistakes>> {
        EXAMPLES.iter().find(|(known, _)| *known == name).map(|(_, source)| Plan::parse(name, source))
    }

    /// Adds the rules of another plan after the rules of this one.
    pub fn extend(&mut self, other: Plan) {
        self.rules.extend(other.rules);
    }
}

/// Reads a text, or notes why it can't be read.
fn parsed<T>(notes: &Notes<'_>, text: Option<Spanned<String>>, parse: impl Fn(&str) -> Result<T, String>) -> Option<T> {
    let text = text?;
    notes.keep(parse(text.get_ref()).map_err(|why| notes.file().mistake(text.span(), why, None)))
}

/// Reads one `[[fault]]` table.
struct RuleReader<'a> {
    notes: &'a Notes<'a>,
    span: Range<usize>,
    /// The table with its keys.
    lines: Range<usize>,
}

impl RuleReader<'_> {
    fn wrong(&self, span: Option<Range<usize>>, why: impl Into<String>) -> Mistake {
        self.notes.file().mistake(span.unwrap_or_else(|| self.span.clone()), why, None)
    }

    /// Returns the rule, without what is wrong.
    fn read(&self, number: usize, raw: RawRule) -> Rule {
        let keep = self.notes;
        let methods: Result<Vec<Method>, _> = raw.method.0.iter().map(|name| name.to_uppercase().parse()).collect();
        let methods = methods.map_err(|_| self.wrong(None, "`method` is not the name of a method, such as POST"));
        let matcher = Matcher {
            methods: keep.keep(methods).unwrap_or_default(),
            path: raw.path.as_deref().map(|path| WildMatch::new(path.trim_end_matches('/'))),
            key: raw.key.as_deref().map(WildMatch::new),
            attempts: raw.attempt.and_then(|numbers| keep.keep(self.numbers(numbers))),
            calls: raw.call.and_then(|numbers| keep.keep(self.numbers(numbers))),
        };
        let share = raw.share.and_then(|share| {
            let text = match share.get_ref() {
                Share::Number(number) => number.to_string(),
                Share::Text(text) => text.clone(),
            };
            keep.keep(parse_share(&text).map_err(|why| self.wrong(Some(share.span()), why)))
        });
        let effect = Effect {
            delay: parsed(keep, raw.delay, delay).unwrap_or_default(),
            // A wrong key of the answer is known, and may be the one that is missing.
            answer: raw
                .answer
                .filter(|answer| !keep.has_mistake_in(&answer.span()))
                .and_then(|answer| keep.keep(self.answer(answer))),
            ending: raw.ending,
            paging: raw.paging,
            max_page: raw.max_page.map(NonZeroU64::get),
            ends_token: raw.token_expires,
        };
        if effect == Effect::default() && !keep.has_mistake_in(&self.lines) {
            let hint = "add answer, ending, delay, paging, max_page or token_expires";
            keep.note(self.span.clone(), "nothing happens to these requests", Some(hint));
        }
        let moment = keep.keep(self.moment(&effect, raw.when)).unwrap_or_default();
        let name = raw.name.unwrap_or_else(|| format!("fault {number}"));
        Rule { name, matcher, share, moment, effect }
    }

    /// Returns the moment of the fault. A refused request has no effect, and damaging a response requires a response.
    fn moment(&self, effect: &Effect, when: Option<Spanned<Moment>>) -> Result<Moment, Mistake> {
        let status = effect.answer.as_ref().map(|answer| answer.status);
        let is_refusal = status.is_some_and(|status| status.is_client_error())
            || effect.answer.as_ref().is_some_and(|answer| !answer.refused.is_empty());
        let needs_response =
            effect.answer.is_none() && !matches!(effect.ending, None | Some(Ending::Reset | Ending::Hang));
        Ok(match (when.as_ref().map(|when| *when.get_ref()), is_refusal) {
            (None | Some(Moment::Before), true) => Moment::Before,
            (Some(_), true) => {
                let why =
                    "a refusal comes before the request takes effect; afterwards only a status from 500 on can come";
                return Err(self.wrong(when.map(|when| when.span()), why));
            }
            (Some(Moment::Before), false) if needs_response => {
                let why = "only the response of a request that was processed can end like this";
                return Err(self.wrong(when.map(|when| when.span()), why));
            }
            (None, false) if needs_response || effect.paging.is_some() || effect.max_page.is_some() => Moment::After,
            // The request itself is refused.
            (None, false) if effect.ends_token => Moment::Before,
            (Some(Moment::Before), false) => Moment::Before,
            (Some(Moment::After), false) => Moment::After,
            (None | Some(Moment::Either), false) => Moment::Either,
        })
    }

    fn numbers(&self, numbers: Spanned<Numbers>) -> Result<RangeInclusive<u64>, Mistake> {
        let range = match numbers.get_ref() {
            Numbers::One(number) => Some(*number..=*number),
            Numbers::Range(text) => text.split_once("..").and_then(|(first, last)| {
                let end = |text: &str, open| if text.is_empty() { Some(open) } else { text.parse().ok() };
                Some(end(first.trim(), 1)?..=end(last.trim(), u64::MAX)?)
            }),
        };
        match range {
            Some(range) if !range.is_empty() && *range.start() > 0 => Ok(range),
            _ => {
                Err(self
                    .wrong(Some(numbers.span()), "write a number from 1 on, or a range such as \"2..5\" or \"2..\""))
            }
        }
    }

    fn answer(&self, raw: Spanned<RawAnswer>) -> Result<Answer, Mistake> {
        let (span, raw) = (raw.span(), raw.into_inner());
        let wrong = |why: &str| self.wrong(Some(span.clone()), why);
        let refused: Vec<String> = raw.refused.0;
        let status = match (raw.status, refused.is_empty()) {
            (Some(status @ 200..=599), _) => {
                let status = u16::try_from(status).ok().and_then(|status| StatusCode::from_u16(status).ok());
                status.ok_or_else(|| wrong("this is not an HTTP status"))?
            }
            (None, false) => StatusCode::OK,
            (Some(_), _) => return Err(wrong("`status` is a number from 200 to 599")),
            (None, true) => return Err(wrong("an answer has a `status`, or the texts of `refused`")),
        };
        let errors: BTreeMap<String, Vec<String>> =
            raw.errors.into_iter().map(|(field, Texts(texts))| (field, texts)).collect();
        let is_error = status.is_client_error() || status.is_server_error();
        if !is_error && (raw.message.is_some() || !errors.is_empty()) {
            return Err(wrong("`message` and `errors` belong to a status from 400 on"));
        }
        if raw.retry_after_date.is_some_and(|seconds| seconds > MAX_DEVIATION.unsigned_abs()) {
            return Err(wrong("`retry_after_date` is at most ten years ahead"));
        }
        let mut headers = HeaderMap::new();
        let retry_after = raw.retry_after.map(|value| match value {
            RetryAfter::Seconds(seconds) => seconds.to_string(),
            RetryAfter::Text(text) => text,
        });
        let named = [("content-type", raw.content_type), (header::RETRY_AFTER.as_str(), retry_after)];
        let named = named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        for (name, value) in raw.headers.into_iter().chain(named) {
            let header = name.parse::<HeaderName>().ok().zip(HeaderValue::from_str(&value).ok());
            let (name, value) = header.ok_or_else(|| wrong(&format!("'{name}: {value}' is not a header")))?;
            if [header::CONTENT_LENGTH, header::TRANSFER_ENCODING].contains(&name) {
                return Err(wrong(
                    "the length of an answer is that of its body; to break it off, write ending = \"cut\"",
                ));
            }
            headers.insert(name, value);
        }
        Ok(Answer {
            status,
            message: raw.message,
            errors,
            refused,
            body: raw.body,
            headers,
            retry_after_date: raw.retry_after_date,
        })
    }
}

/// Parses a share into millionths: `0.02` is 20,000.
pub(super) fn parse_share(text: &str) -> Result<u32, String> {
    let wrong =
        || format!("'{text}' is not a share; write a number from 0 to 1 with at most six decimals, such as 0.02");
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole)
        || !digits(decimals)
        || whole.len() > 1
        || decimals.len() > 6
        || text.len() <= 1 && whole.is_empty()
    {
        return Err(wrong());
    }
    let share = format!("{whole}{decimals:0<6}").parse().map_err(|_| wrong())?;
    if share > MILLION { Err(wrong()) } else { Ok(share) }
}

/// Parses a delay such as `50ms`, `1.5s` or `2min`.
///
/// # Errors
/// With the reason.
pub fn delay(text: &str) -> Result<Duration, String> {
    let units = [("ms", 0.001), ("min", 60.0), ("s", 1.0)];
    let seconds =
        units.iter().find_map(|(unit, scale)| Some(text.strip_suffix(unit)?.trim().parse::<f64>().ok()? * scale));
    match seconds {
        Some(seconds) if (0.0..=MAX_DELAY).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!("'{text}' is not a time up to an hour, such as 50ms, 1.5s or 2min")),
    }
}

/// Parses a deviation of the clock, such as `+90s`, `-2h` or `+1d`, into seconds.
fn clock(text: &str) -> Result<i64, String> {
    let units = [("s", 1), ("min", 60), ("h", 3600), ("d", 86_400)];
    let seconds = units
        .iter()
        .find_map(|(unit, scale)| text.strip_suffix(unit)?.parse::<i32>().ok().map(|n| i64::from(n) * scale));
    seconds
        .filter(|seconds| (-MAX_DEVIATION..=MAX_DEVIATION).contains(seconds))
        .ok_or_else(|| format!("'{text}' is not a deviation up to ten years, such as +90s, -2h or +1d"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_plans_with_a_line_that_says_what_they_are_for() {
        for (name, source) in EXAMPLES {
            let plan = Plan::example(name).expect(name).expect(name);
            assert!(plan.has_rules(), "{name}");
            assert!(
                source.starts_with("# ") && source.lines().next().is_some_and(|line| line.contains(": ")),
                "{name}"
            );
        }
        assert!(Plan::example("none").is_none());
    }

    #[test]
    fn mistakes_have_a_place_and_a_reason() {
        for (fault, line, why) in [
            ("stauts = 500", 2, "unknown key 'stauts'"),
            ("path = \"/v1/*\"", 1, "nothing happens to these requests"),
            ("answer = { status = 422 }\nwhen = \"after\"", 3, "a refusal comes before"),
            ("answer = { refused = \"no\" }\nwhen = \"either\"", 3, "a refusal comes before"),
            ("ending = \"cut\"\nwhen = \"before\"", 3, "a request that was processed"),
            ("answer = { status = 99 }", 2, "a number from 200 to 599"),
            ("answer = {}", 2, "has a `status`"),
            ("answer = { status = 200, message = \"x\" }", 2, "belong to a status from 400 on"),
            ("answer = { status = 500, headers = { \"a b\" = \"c\" } }", 2, "is not a header"),
            ("answer = { status = 500, headers = { Content-Length = \"9\" } }", 2, "to break it off"),
            ("attempt = \"0..\"\ndelay = \"1s\"", 2, "write a number from 1 on"),
            ("call = \"5..2\"\ndelay = \"1s\"", 2, "write a number from 1 on"),
            ("share = 1.5\ndelay = \"1s\"", 2, "is not a share"),
            ("answer = { status = 429, retry_after_date = 9000000000 }", 2, "at most ten years"),
            ("delay = \"5\"", 2, "is not a time up to an hour"),
            ("share = \"10%\"\ndelay = \"1s\"", 2, "'10%' is not a share"),
            ("share = true\ndelay = \"1s\"", 2, "`share` is a number from 0 to 1"),
            ("answer = { status = \"500\" }", 2, "status must be a whole number, but this is the text"),
            ("answer = { status = 70000 }", 2, "a number from 200 to 599"),
            ("answer = { status = 429, retry_after = true }", 2, "a number of seconds, or a text"),
            ("max_page = 0", 2, "max_page must be a whole number of 1 or more"),
            ("ending = \"hangs\"", 2, "unknown word 'hangs'"),
            ("when = \"later\"\ndelay = \"1s\"", 2, "unknown word 'later'"),
            ("attempt = 1.5\ndelay = \"1s\"", 2, "write a number from 1 on"),
            ("method = 1\ndelay = \"1s\"", 2, "method must be a text, or a list of texts"),
            ("token_expires = \"yes\"", 2, "token_expires must be true or false"),
            ("method = \"a b\"\ndelay = \"1s\"", 1, "is not the name of a method"),
        ] {
            let mistakes = Plan::parse("plan.toml", &format!("[[fault]]\n{fault}")).expect_err(fault);
            let mistake = mistakes.first();
            assert!(mistake.message.contains(why), "{fault}: {}", mistake.message);
            assert_eq!(mistake.position().map(|(line, _)| line), Some(line), "{fault}");
        }
        for (head, why) in [
            ("clock = \"2h later\"", "is not a deviation"),
            ("clock = \"-30000d\"", "is not a deviation"),
            ("limit = \"fast\"", "is not a limit"),
        ] {
            assert!(Plan::parse("plan.toml", head).expect_err(head).first().message.contains(why), "{head}");
        }
    }

    #[test]
    fn all_mistakes_of_a_plan_are_found_at_their_places() {
        let source =
            "limit = \"fast\"\n[[fault]]\nstauts = 500\n[[fault]]\nshare = 2\ndelay = \"5\"\n[[fault]]\nkey = \"A\"\n";
        let mistakes = Plan::parse("plan.toml", source).expect_err("a plan with mistakes");
        let found: Vec<_> = mistakes.iter().filter_map(|mistake| mistake.position()).collect();
        assert_eq!(found, [(1, 9), (3, 1), (5, 9), (6, 9), (7, 1)], "{mistakes}");
    }

    #[test]
    fn shares_of_numbers_and_texts_are_exact() {
        for share in [0.02, 0.000_001, 1.0, 0.0] {
            let plan =
                Plan::parse("plan.toml", &format!("[[fault]]\nshare = {share:?}\ndelay = \"1s\"")).expect("a plan");
            assert_eq!(plan.rules[0].share, Some((share * 1e6) as u32));
        }
    }

    #[test]
    fn delays_need_a_unit_and_are_limited() {
        assert_eq!(delay("50ms"), Ok(Duration::from_millis(50)));
        assert_eq!(delay("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(delay("2min"), Ok(Duration::from_secs(120)));
        assert_eq!(delay("0s"), Ok(Duration::ZERO));
        for bad in ["", "50", "s", "-1s", "3601s", "1m", "NaNs", "infs"] {
            assert!(delay(bad).is_err(), "{bad}");
        }
        assert_eq!([clock("+90s"), clock("-2h"), clock("1d")], [Ok(90), Ok(-7200), Ok(86_400)]);
    }
}
