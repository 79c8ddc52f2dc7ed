//! Texts that would act where they are shown if nothing held them back: formulas of spreadsheet programs, sequences of
//! terminals, markup of pages. The tests of each program take all of them.

use serde_json::Value;

/// How many texts are put together from parts of the others.
const COMPOSED: usize = 100;
/// Chooses the parts; another seed is taken from SHEETPORT_HOSTILE_SEED.
const SEED: u64 = 19;

/// Returns all texts, and some that are put together from them.
pub fn texts() -> Vec<String> {
    let mut texts: Vec<String> = ["formulas", "terminal", "markup"].into_iter().flat_map(group).collect();
    let seed = std::env::var("SHEETPORT_HOSTILE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(SEED);
    let mut random = fastrand::Rng::with_seed(seed);
    let fixed = texts.len();
    for _ in 0..COMPOSED {
        let parts = (0..random.usize(2..4)).map(|_| {
            let part: Vec<char> = texts[random.usize(..fixed)].chars().collect();
            let begin = random.usize(..=part.len() / 2);
            part[begin..].iter().collect::<String>()
        });
        let composed = parts.collect::<Vec<_>>().concat();
        texts.push(composed);
    }
    texts
}

/// Returns the sequences of terminals.
pub fn of_terminals() -> Vec<String> {
    group("terminal")
}

fn group(name: &str) -> Vec<String> {
    let groups: Value = serde_json::from_str(include_str!("texts.json")).unwrap();
    groups[name].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}
