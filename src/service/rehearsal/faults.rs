//! What goes wrong with a request on purpose. A decision follows from the seed and the request's place in the order of
//! arrival and from nothing else, so that a rehearsal can be repeated. Nothing here waits or knows HTTP.

use std::fmt;
use std::str::FromStr;

/// One kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The answer is a refusal of this status, 400 to 599.
    Status(u16),
    /// The connection is closed without an answer.
    Reset,
    /// The answer comes some seconds late.
    Slow,
    /// The connection is closed in the middle of the answer's body.
    Cut,
}

/// A fault of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: Kind,
    /// Whether the request has been carried out when it happens. A client cannot tell.
    pub carried_out: bool,
}

/// Kinds of fault and how many requests in a million have each, as a person writes it: `500:0.02,reset:0.01`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    shares: Vec<(Kind, u32)>,
}

const MILLION: u32 = 1_000_000;

impl Faults {
    /// The fault of the request that arrived as number `arrival`, counted from 0.
    pub fn decide(&self, seed: u64, arrival: u64) -> Option<Fault> {
        // An odd factor keeps the generators of neighbouring requests apart.
        let mut random = fastrand::Rng::with_seed(seed ^ arrival.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut drawn = random.u32(0..MILLION);
        for &(kind, share) in &self.shares {
            if drawn < share {
                // An answer that is cut has to be there first.
                return Some(Fault { kind, carried_out: random.bool() || kind == Kind::Cut });
            }
            drawn -= share;
        }
        None
    }
}

impl FromStr for Faults {
    type Err = String;

    fn from_str(text: &str) -> Result<Faults, String> {
        let mut shares: Vec<(Kind, u32)> = Vec::new();
        for part in text.split(',') {
            let (kind, share) = part
                .split_once(':')
                .ok_or_else(|| format!("'{part}' is no fault; write each as KIND:SHARE, such as 500:0.02"))?;
            let (kind, share) = (kind.trim().parse()?, share_in_million(share.trim())?);
            if shares.iter().any(|(earlier, _)| *earlier == kind) {
                return Err(format!("'{kind}' is there twice"));
            }
            shares.push((kind, share));
        }
        if shares.iter().map(|(_, share)| u64::from(*share)).sum::<u64>() > u64::from(MILLION) {
            return Err("the shares are more than 1 together; 1 is every request".to_owned());
        }
        Ok(Faults { shares })
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Kind, String> {
        match text {
            "reset" => Ok(Kind::Reset),
            "slow" => Ok(Kind::Slow),
            "cut" => Ok(Kind::Cut),
            _ => match text.parse() {
                Ok(status @ 400..=599) if text.len() == 3 => Ok(Kind::Status(status)),
                _ => Err(format!("'{text}' is no kind of fault; there are reset, slow, cut and statuses 400 to 599")),
            },
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Status(status) => write!(f, "{status}"),
            Kind::Reset => f.write_str("reset"),
            Kind::Slow => f.write_str("slow"),
            Kind::Cut => f.write_str("cut"),
        }
    }
}

/// `0.02` is 20,000.
fn share_in_million(text: &str) -> Result<u32, String> {
    let wrong = || format!("'{text}' is no share; write a number from 0 to 1 with at most six decimals, such as 0.02");
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

    fn faults(text: &str) -> Faults {
        text.parse().expect(text)
    }

    #[test]
    fn faults_are_read_as_people_write_them() {
        let expected = [(Kind::Status(500), 20_000), (Kind::Reset, 10_000), (Kind::Slow, 1), (Kind::Cut, 500_000)];
        assert_eq!(faults("500:0.02,reset:.01, slow : 0.000001,cut:0.5").shares, expected);
        assert_eq!(faults("429:1").shares, [(Kind::Status(429), MILLION)]);
        assert_eq!(faults("429:1.0,reset:0").shares[1], (Kind::Reset, 0));
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_the_reason() {
        for (bad, why) in [
            ("", "'' is no fault"),
            ("500", "'500' is no fault"),
            ("500:0.1,", "'' is no fault"),
            ("crash:0.1", "'crash' is no kind of fault"),
            ("200:0.1", "'200' is no kind of fault"),
            ("600:0.1", "'600' is no kind of fault"),
            ("0500:0.1", "'0500' is no kind of fault"),
            ("+500:0.1", "'+500' is no kind of fault"),
            ("500:2", "'2' is no share"),
            ("500:1.000001", "'1.000001' is no share"),
            ("500:-0.1", "'-0.1' is no share"),
            ("500:0.0000001", "'0.0000001' is no share"),
            ("500:", "'' is no share"),
            ("500:.", "'.' is no share"),
            ("500:2%", "'2%' is no share"),
            ("500:0.1,500:0.1", "'500' is there twice"),
            ("500:0.6,reset:0.6", "more than 1 together"),
        ] {
            let error = bad.parse::<Faults>().expect_err(bad);
            assert!(error.contains(why), "{bad}: {error}");
        }
    }

    #[test]
    fn decisions_depend_on_seed_and_arrival_alone() {
        let faults = faults("500:0.02,reset:0.01,slow:0.01");
        let decided = |seed| (0..1000).map(|arrival| faults.decide(seed, arrival)).collect::<Vec<_>>();
        assert_eq!(decided(7), decided(7));
        assert_ne!(decided(7), decided(8));
    }

    #[test]
    fn every_kind_has_its_share_half_of_it_after_the_request_was_carried_out() {
        let faults = faults("500:0.1,reset:0.05,cut:0.05");
        let decided: Vec<_> = (0..100_000).filter_map(|arrival| faults.decide(1, arrival)).collect();
        let count = |kind, carried_out| decided.iter().filter(|fault| **fault == Fault { kind, carried_out }).count();
        for carried_out in [false, true] {
            assert!((4700..5300).contains(&count(Kind::Status(500), carried_out)), "{}", decided.len());
            assert!((2300..2700).contains(&count(Kind::Reset, carried_out)), "{}", decided.len());
        }
        assert!((4700..5300).contains(&count(Kind::Cut, true)));
        assert_eq!(count(Kind::Cut, false), 0);
        assert!((0..1000).all(|arrival| "429:1".parse::<Faults>().expect("faults").decide(3, arrival).is_some()));
        assert!((0..1000).all(|arrival| Faults::default().decide(3, arrival).is_none()));
    }
}
