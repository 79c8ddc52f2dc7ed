//! The short form of fault plans, `500:0.02,reset:0.01`: kinds of faults, each with a share of all requests. It is translated to the text of
//! a plan.

use std::fmt::Write as _;

use super::plan::{MILLION, Plan};
use super::plan_file::parse_share;

impl Plan {
    /// Reads a plan in the short form.
    ///
    /// # Errors
    /// With the reason.
    pub fn of_short_form(text: &str) -> Result<Plan, String> {
        let (mut kinds, mut source) = (Vec::new(), String::new());
        for part in text.split(',') {
            let (kind, share) = part
                .split_once(':')
                .ok_or_else(|| format!("'{part}' is not a fault; write KIND:SHARE, such as 500:0.02"))?;
            let (kind, share) = (kind.trim(), share.trim());
            let effect = effect(kind).ok_or_else(|| {
                format!("'{kind}' is not a kind of fault; use reset, slow, cut or a status from 400 to 599")
            })?;
            parse_share(share)?;
            if kinds.contains(&kind) {
                return Err(format!("'{kind}' appears twice"));
            }
            kinds.push(kind);
            let _ = writeln!(source, "[[fault]]\nname = \"{kind}\"\nshare = \"{share}\"\n{effect}");
        }
        let plan = Plan::parse("--fail", &source).map_err(|mistakes| mistakes.first().message.clone())?;
        let shares = plan.rules.iter().filter_map(|rule| rule.share).map(u64::from);
        match shares.sum::<u64>() > u64::from(MILLION) {
            true => Err("the shares add up to more than 1 (every request)".to_owned()),
            false => Ok(plan),
        }
    }
}

/// Returns what a kind of fault means in a plan.
fn effect(kind: &str) -> Option<String> {
    Some(match kind {
        "reset" | "cut" => format!("ending = \"{kind}\""),
        "slow" => "delay = \"5s\"".to_owned(),
        "429" => "answer = { status = 429, retry_after = 1 }".to_owned(),
        status => {
            let is_status = status.len() == 3 && status.bytes().all(|digit| digit.is_ascii_digit());
            is_status.then_some(status).filter(|status| status.starts_with(['4', '5']))?;
            format!("answer = {{ status = {status} }}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::plan::Moment;
    use super::*;

    #[test]
    fn faults_are_parsed() {
        let parsed = |text: &str| {
            Plan::of_short_form(text)
                .expect(text)
                .rules
                .into_iter()
                .map(|rule| (rule.name, rule.share.expect("a share"), rule.moment))
                .collect::<Vec<_>>()
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
            let error = Plan::of_short_form(bad).expect_err(bad);
            assert!(error.contains(why), "{bad}: {error}");
        }
    }
}
