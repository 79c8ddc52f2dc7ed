//! Selection of faults. It depends only on the seed and the sequence number of the request, so that a rehearsal can be
//! repeated. Pure: no waiting, no HTTP.

use std::fmt;
use std::str::FromStr;

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// An error response with this status, 400 to 599.
    Status(u16),
    /// Closes the connection without a response.
    Reset,
    /// Delays the response by some seconds.
    Slow,
    /// Closes the connection in the middle of the response body.
    Cut,
}

/// The fault of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) kind: FaultKind,
    /// Whether the fault occurs after the request was processed. A client cannot tell.
    pub(super) is_after: bool,
}

/// Kinds of faults with their shares in millionths, written as `500:0.02,reset:0.01`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    shares: Vec<(FaultKind, u32)>,
}

const MILLION: u32 = 1_000_000;

impl Faults {
    /// Returns the fault of the request with the sequence number `arrival`, counted from 0.
    pub(super) fn select(&self, seed: u64, arrival: u64) -> Option<Fault> {
        // Multiplying by an odd constant gives consecutive requests unrelated seeds.
        let mut random = fastrand::Rng::with_seed(seed ^ arrival.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut drawn = random.u32(0..MILLION);
        for &(kind, share) in &self.shares {
            if drawn < share {
                // Only an existing response can be cut.
                return Some(Fault { kind, is_after: random.bool() || kind == FaultKind::Cut });
            }
            drawn -= share;
        }
        None
    }
}

impl FromStr for Faults {
    type Err = String;

    fn from_str(text: &str) -> Result<Faults, String> {
        let mut shares: Vec<(FaultKind, u32)> = Vec::new();
        for part in text.split(',') {
            let (kind, share) = part
                .split_once(':')
                .ok_or_else(|| format!("'{part}' is not a fault; write KIND:SHARE, such as 500:0.02"))?;
            let (kind, share) = (kind.trim().parse()?, parse_share(share.trim())?);
            if shares.iter().any(|(earlier, _)| *earlier == kind) {
                return Err(format!("'{kind}' appears twice"));
            }
            shares.push((kind, share));
        }
        if shares.iter().map(|(_, share)| u64::from(*share)).sum::<u64>() > u64::from(MILLION) {
            return Err("the shares add up to more than 1 (every request)".to_owned());
        }
        Ok(Faults { shares })
    }
}

impl FromStr for FaultKind {
    type Err = String;

    fn from_str(text: &str) -> Result<FaultKind, String> {
        match text {
            "reset" => Ok(FaultKind::Reset),
            "slow" => Ok(FaultKind::Slow),
            "cut" => Ok(FaultKind::Cut),
            _ => match text.parse() {
                Ok(status @ 400..=599) if text.len() == 3 => Ok(FaultKind::Status(status)),
                _ => Err(format!("'{text}' is not a kind of fault; use reset, slow, cut or a status from 400 to 599")),
            },
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::Status(status) => write!(f, "{status}"),
            FaultKind::Reset => f.write_str("reset"),
            FaultKind::Slow => f.write_str("slow"),
            FaultKind::Cut => f.write_str("cut"),
        }
    }
}

/// Parses a share into millionths: `0.02` is 20,000.
fn parse_share(text: &str) -> Result<u32, String> {
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

    fn faults(text: &str) -> Faults {
        text.parse().expect(text)
    }

    #[test]
    fn faults_are_parsed() {
        let expected = [
            (FaultKind::Status(500), 20_000),
            (FaultKind::Reset, 10_000),
            (FaultKind::Slow, 1),
            (FaultKind::Cut, 500_000),
        ];
        assert_eq!(faults("500:0.02,reset:.01, slow : 0.000001,cut:0.5").shares, expected);
        assert_eq!(faults("429:1").shares, [(FaultKind::Status(429), MILLION)]);
        assert_eq!(faults("429:1.0,reset:0").shares[1], (FaultKind::Reset, 0));
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

    #[test]
    fn selection_depends_only_on_the_seed_and_the_arrival() {
        let faults = faults("500:0.02,reset:0.01,slow:0.01");
        let decided = |seed| (0..1000).map(|arrival| faults.select(seed, arrival)).collect::<Vec<_>>();
        assert_eq!(decided(7), decided(7));
        assert_ne!(decided(7), decided(8));
    }

    #[test]
    fn each_kind_has_its_share_half_of_it_after_processing() {
        let faults = faults("500:0.1,reset:0.05,cut:0.05");
        let decided: Vec<_> = (0..100_000).filter_map(|arrival| faults.select(1, arrival)).collect();
        let count = |kind, is_after| decided.iter().filter(|fault| **fault == Fault { kind, is_after }).count();
        for is_after in [false, true] {
            assert!((4700..5300).contains(&count(FaultKind::Status(500), is_after)), "{}", decided.len());
            assert!((2300..2700).contains(&count(FaultKind::Reset, is_after)), "{}", decided.len());
        }
        assert!((4700..5300).contains(&count(FaultKind::Cut, true)));
        assert_eq!(count(FaultKind::Cut, false), 0);
        assert!((0..1000).all(|arrival| "429:1".parse::<Faults>().expect("faults").select(3, arrival).is_some()));
        assert!((0..1000).all(|arrival| Faults::default().select(3, arrival).is_none()));
    }
}
