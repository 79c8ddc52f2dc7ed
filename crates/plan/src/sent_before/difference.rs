//! The differences between two request bodies, in words.

use serde_json::Value;

/// Maximum number of differences in words; further ones are counted.
const SHOWN: usize = 3;
/// Maximum length of a value, in characters.
const MAX_VALUE: usize = 40;

/// Describes how `now` differs from `then`, such as `items 2 amount: 3 then, 4 now`. Empty without differences.
pub(super) fn describe(then: &str, now: &str) -> String {
    let mut found = Vec::new();
    if let (Ok(then), Ok(now)) = (serde_json::from_str(then), serde_json::from_str(now)) {
        compare("", Some(&then), Some(&now), &mut found);
    }
    let more = found.len().saturating_sub(SHOWN);
    found.truncate(SHOWN);
    if more > 0 {
        found.push(format!("and {more} more"));
    }
    found.join("; ")
}

fn compare(place: &str, then: Option<&Value>, now: Option<&Value>, found: &mut Vec<String>) {
    let inner = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place} {name}") };
    match (then, now) {
        (Some(Value::Object(then)), Some(Value::Object(now))) => {
            let added = now.keys().filter(|name| !then.contains_key(*name));
            for name in then.keys().chain(added) {
                compare(&inner(name), then.get(name), now.get(name), found);
            }
        }
        (Some(Value::Array(then)), Some(Value::Array(now))) => {
            for index in 0..then.len().max(now.len()) {
                compare(&inner(&(index + 1).to_string()), then.get(index), now.get(index), found);
            }
        }
        (then, now) if then != now => found.push(format!("{place}: {} then, {} now", shown(then), shown(now))),
        _ => {}
    }
}

fn shown(value: Option<&Value>) -> String {
    let text = match value {
        None | Some(Value::Null) => return "none".to_owned(),
        Some(Value::String(text)) => format!("'{text}'"),
        Some(value) => value.to_string(),
    };
    match text.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::describe;

    #[test]
    fn differences_name_the_field_and_both_values() {
        let then = r#"{"cid":"c-1","items":[{"id":"a","amount":2},{"id":"b","amount":1}]}"#;
        for (now, words) in [
            (then, ""),
            (r#"{"cid":"c-1","items":[{"id":"a","amount":2},{"id":"b","amount":4}]}"#, "items 2 amount: 1 then, 4 now"),
            (
                r#"{"cid":"c-2","items":[{"id":"a","amount":2}],"currency":"EUR"}"#,
                r#"cid: 'c-1' then, 'c-2' now; items 2: {"id":"b","amount":1} then, none now; currency: none then, 'EUR' now"#,
            ),
        ] {
            assert_eq!(describe(then, now), words);
        }
        assert!(describe(r#"{"a":1,"b":2,"c":3,"d":4,"e":5}"#, "{}").ends_with("; and 2 more"));
    }
}
