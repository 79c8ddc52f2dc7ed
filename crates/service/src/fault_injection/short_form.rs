//! The short form of fault plans, `500:0.02,reset:0.01`: kinds of faults, each with a share of all requests.

use std::str::FromStr;
use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};

use super::plan::{Answer, Effect, Ending, MILLION, Moment, Rule};

/// Delay of a slow response.
const SLOW: Duration = Duration::from_secs(5);

/// Kinds of faults with their shares, each as a rule of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults(pub(super) Vec<Rule>);

impl FromStr for Faults {
    type Err = String;

    fn from_str(text: &str) -> Result<Faults, String> {
        let mut rules: Vec<Rule> = Vec::new();
        for part in text.split(',') {
            let (kind, share) = part
                .split_once(':')
                .ok_or_else(|| format!("'{part}' is not a fault; write KIND:SHARE, such as 500:0.02"))?;
            let rule = rule(kind.trim(), parse_share(share.trim())?)?;
            if rules.iter().any(|earlier| earlier.name == rule.name) {
                return Err(format!("'{}' appears twice", rule.name));
            }
            rules.push(rule);
        }
        let shares = rules.iter().filter_map(|rule| rule.share).map(u64::from);
        if shares.sum::<u64>() > u64::from(MILLION) {
            return Err("the shares add up to more than 1 (every request)".to_owned());
        }
        Ok(Faults(rules))
    }
}

fn rule(kind: &str, share: u32) -> Result<Rule, String> {
    let ending = |ending| Effect { ending: Some(ending), ..Effect::default() };
    let (moment, effect) = match kind {
        "reset" => (Moment::Either, ending(Ending::Reset)),
        "slow" => (Moment::Either, Effect { delay: SLOW, ..Effect::default() }),
        // Only an existing response can be cut.
        "cut" => (Moment::After, ending(Ending::Cut)),
        _ => {
            let wrong = || format!("'{kind}' is not a kind of fault; use reset, slow, cut or a status from 400 to 599");
            let status = StatusCode::from_bytes(kind.as_bytes()).map_err(|_| wrong())?;
            let moment = match (status.is_client_error(), status.is_server_error()) {
                // A refused request has no effect.
                (true, _) => Moment::Before,
                (_, true) => Moment::Either,
                _ => return Err(wrong()),
            };
            let mut answer = Answer { status, ..Answer::default() };
            if status == StatusCode::TOO_MANY_REQUESTS {
                answer.headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            (moment, Effect { answer: Some(answer), ..Effect::default() })
        }
    };
    Ok(Rule { name: kind.to_owned(), share: Some(share), moment, effect, ..Rule::default() })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_parsed() {
        let parsed = |text: &str| {
            let faults: Faults = text.parse().expect(text);
            faults.0.into_iter().map(|rule| (rule.name, rule.share.expect("a share"), rule.moment)).collect::<Vec<_>>()
        };
        let expected = [
            ("500".to_owned(), 20_000, Moment::Either),
            ("reset".to_owned(), 10_000, Moment::Either),
            ("slow".to_owned(), 1, Moment::Either),
            ("cut".to_owned(), 500_000, Moment::After),
        ];
        assert_eq!(parsed("500:0.02,reset:.01, slow : 0.000001,cut:0.5"), expected);
        assert_eq!(parsed("429:1"), [("429".to_owned(), MILLION, Moment::Before)]);
        assert_eq!(parsed("429:1.0,reset:0")[1].1, 0);
    }

    #[test]
    fn invalid_faults_are_errors() {
        for (bad, why) in [
            ("", "'' is not a fault"),
            ("500", "'500' is not a fault"),
            ("500:0.1,", "'' is not a fault"),
            ("crash:0.1", "'crash' is not a kind of fault"),
            ("200:0.1", "'200' is not a kind of fault"),
            ("600:0.1", "'600' is not a kind of fault"),
            ("0500:0.1", "'0500' is not a kind of fault"),
            ("+500:0.1", "'+500' is not a kind of fault"),
            ("500:2", "'2' is not a share"),
            ("500:1.000001", "'1.000001' is not a share"),
            ("500:-0.1", "'-0.1' is not a share"),
            ("500:0.0000001", "'0.0000001' is not a share"),
            ("500:", "'' is not a share"),
            ("500:.", "'.' is not a share"),
            ("500:2%", "'2%' is not a share"),
            ("500:0.1,500:0.1", "'500' appears twice"),
            ("500:0.6,reset:0.6", "more than 1 (every request)"),
        ] {
            let error = bad.parse::<Faults>().expect_err(bad);
            assert!(error.contains(why), "{bad}: {error}");
        }
    }
}
