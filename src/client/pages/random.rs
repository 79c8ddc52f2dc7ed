//! Random pages, well formed and broken, read as `serde_json` reads them.

use std::ops::Range;

use proptest::prelude::{Just, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::read::unquoted;
use super::{Form, read};

/// An entry as it is expected: where it stands, and the places of its names and values if it is an object.
type Expected = (Range<usize>, Option<Vec<(Range<usize>, Range<usize>)>>);

/// The names and values of an object, as they stand.
struct Members<'t>(Vec<(&'t RawValue, &'t RawValue)>);

impl<'t> serde::Deserialize<'t> for Members<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Members<'t>, D::Error> {
        deserializer.deserialize_map(Collecting)
    }
}

struct Collecting;

impl<'t> Visitor<'t> for Collecting {
    type Value = Members<'t>;

    fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Members<'t>, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

/// Where the entries stand, and the total; nothing for what is no page.
fn parsed(text: &str) -> Option<(Vec<Expected>, Option<u64>)> {
    let place = |part: &str| {
        let start = part.as_ptr() as usize - text.as_ptr() as usize;
        start..start + part.len()
    };
    let (list, total) = match serde_json::from_str::<Members<'_>>(text) {
        Err(_) => (serde_json::from_str::<Vec<&RawValue>>(text).ok()?, None),
        Ok(Members(members)) => {
            let of = |wanted: &'static str| {
                let named = members.iter().filter(move |(name, _)| unquoted(name.get()) == wanted);
                named.map(|(_, value)| value.get())
            };
            let [list] = of("data").collect::<Vec<_>>()[..] else { return None };
            (serde_json::from_str(list).ok()?, of("total").next_back().and_then(|total| total.parse().ok()))
        }
    };
    let entries = list.into_iter().map(|entry| {
        let members = serde_json::from_str::<Members<'_>>(entry.get()).ok();
        let places = |Members(members): Members<'_>| {
            members.iter().map(|(name, value)| (place(name.get()), place(value.get()))).collect()
        };
        (place(entry.get()), members.map(places))
    });
    Some((entries.collect(), total))
}

/// What stands before, between and behind the values of an object with fields.
fn gaps<'t>(text: &'t str, (whole, fields): &Expected) -> Option<Vec<&'t str>> {
    let fields = fields.as_ref().filter(|fields| !fields.is_empty())?;
    let mut gaps = Vec::new();
    let mut from = whole.start;
    for (_, value) in fields {
        gaps.push(&text[from..value.start]);
        from = value.end;
    }
    gaps.push(&text[from..whole.end]);
    Some(gaps)
}

fn form(json: &str) -> Form {
    match json.as_bytes()[0] {
        b'n' => Form::Null,
        b't' | b'f' => Form::Boolean,
        b'[' => Form::Array,
        b'{' => Form::Object,
        b'"' if json.contains('\\') => Form::EscapedText,
        b'"' => Form::PlainText,
        _ => Form::Number,
    }
}

fn space() -> impl Strategy<Value = String> {
    prop_oneof![12 => Just(String::new()), 1 => "[ \n\r\t]{1,9}"]
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        40 => "-?(0|[1-9][0-9]{0,2})(\\.[0-9]{1,2})?([eE][+-]?[0-9]{1,3})?",
        40 => r#""[a-c:,{}\[\] é]{0,12}""#,
        20 => r#""([a-c]|\\"|\\\\|\\n|\\/|\\u00[0-9a-f]{2}|\\ud83d){0,6}""#,
        20 => "null|true|false",
        // Values that are no JSON.
        1 => "01|-|1\\.|\\.5|nul|nullx|\"\\\\x\"|\"\n\"|",
    ]
}

fn value() -> impl Strategy<Value = String> {
    let nested = prop_oneof![
        prop::collection::vec(scalar(), 0..3).prop_map(|parts| format!("[{}]", parts.join(" ,"))),
        prop::collection::vec((name(), scalar()), 0..3).prop_map(|parts| {
            let parts: Vec<String> = parts.into_iter().map(|(name, value)| format!("{name}: {value}")).collect();
            format!("{{{}}}", parts.join(","))
        }),
    ];
    prop_oneof![10 => scalar(), 1 => nested]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        r#""[ab]{0,2}""#,
        Just(r#""id""#.to_owned()),
        r#""(\\u0061|\\"|é|b){1,2}""#,
        r#""a long name [ab]{3,9}""#
    ]
}

/// What stands before each value of an object, and behind the last.
type Frame = (Vec<String>, String);

fn frame() -> impl Strategy<Value = Frame> {
    let fields = prop::collection::vec((name(), space(), space(), space(), space()), 0..5);
    (fields, space()).prop_map(|(fields, last)| {
        let nth = |(nth, (name, one, two, three, four)): (usize, (String, String, String, String, String))| {
            let before = if nth == 0 { "{".to_owned() } else { format!("{one},") };
            format!("{before}{two}{name}{three}:{four}")
        };
        let before: Vec<String> = fields.into_iter().enumerate().map(nth).collect();
        let open = if before.is_empty() { "{" } else { "" };
        (before, format!("{open}{last}}}"))
    })
}

/// The frame with one part of another, at the same place.
fn nearly((gaps, last): &Frame, (other_gaps, other_last): &Frame, place: prop::sample::Index) -> Frame {
    let (mut gaps, mut last) = (gaps.clone(), last.clone());
    let place = place.index(gaps.len() + 1);
    match other_gaps.get(place) {
        Some(other) if place < gaps.len() => gaps[place].clone_from(other),
        Some(other) if place > 0 => gaps.push(other.clone()),
        _ if !gaps.is_empty() && !other_gaps.is_empty() => last.clone_from(other_last),
        _ => {}
    }
    (gaps, last)
}

/// Entries most of which are made by one frame, and others by frames that are nearly the same.
fn entries() -> impl Strategy<Value = String> {
    let which = prop_oneof![8 => Just(0), 1 => Just(1), 1 => Just(2), 1 => Just(3)];
    let entry = (which, prop::collection::vec(value(), 6));
    let others = prop::collection::vec((frame(), any::<prop::sample::Index>()), 2);
    (frame(), others, prop::collection::vec((entry, space(), space()), 0..12)).prop_map(|(frame, others, entries)| {
        let others = others.iter().map(|(other, place)| nearly(&frame, other, *place));
        let frames: Vec<Frame> = std::iter::once(frame.clone()).chain(others).collect();
        let entry = |((frame, values), before, behind): ((usize, Vec<String>), String, String)| {
            let entry = match frames.get(frame) {
                None => values[0].clone(),
                Some((gaps, last)) => {
                    let fields: String = gaps.iter().zip(&values).map(|(gap, value)| format!("{gap}{value}")).collect();
                    fields + last
                }
            };
            format!("{before}{entry}{behind}")
        };
        format!("[{}]", entries.into_iter().map(entry).collect::<Vec<_>>().join(","))
    })
}

fn body() -> impl Strategy<Value = String> {
    let field = prop_oneof![
        6 => entries().prop_map(|list| format!("\"data\":{list}")),
        1 => entries().prop_map(|list| format!("\"d\\u0061ta\" : {list}")),
        3 => value().prop_map(|total| format!("\"total\": {total}")),
        2 => (name(), value()).prop_map(|(name, value)| format!("{name}:{value}")),
    ];
    let envelope = prop::collection::vec(field, 0..4).prop_map(|fields| format!("{{{}}}", fields.join(" ,")));
    let list = prop_oneof![2 => entries(), 1 => envelope];
    (space(), list, space()).prop_map(|(before, list, behind)| before + &list + &behind)
}

/// A byte is taken away, doubled or made another one.
#[derive(Clone, Debug)]
enum Harm {
    None,
    Removed,
    Doubled,
    Changed(u8),
}

fn harm() -> impl Strategy<Value = Harm> {
    prop_oneof![
        4 => Just(Harm::None),
        1 => Just(Harm::Removed),
        1 => Just(Harm::Doubled),
        1 => prop::sample::select(br#" "\,:{}[]0a-"#.to_vec()).prop_map(Harm::Changed),
        1 => any::<u8>().prop_map(Harm::Changed),
    ]
}

proptest! {
    #[test]
    fn a_page_is_read_as_the_parser_reads_it(body in body(), harm in harm(), at in any::<prop::sample::Index>()) {
        let mut body = body.into_bytes();
        let at = at.index(body.len());
        match harm {
            Harm::None => {}
            Harm::Removed => drop(body.remove(at)),
            Harm::Doubled => body.insert(at, body[at]),
            Harm::Changed(byte) => body[at] = byte,
        }
        let text = std::str::from_utf8(&body).unwrap_or_default();
        let expected = parsed(text);
        let page = read(body.clone()).ok();
        prop_assert_eq!(page.is_some(), expected.is_some(), "{}", text);
        if let (Some(page), Some((entries, total))) = (page, expected) {
            prop_assert_eq!((page.len(), page.total), (entries.len(), total), "{}", text);
            let mut before = None;
            for (entry, expected) in page.entries().zip(&entries) {
                let (whole, fields) = expected;
                prop_assert_eq!(entry.text(), &text[whole.clone()]);
                prop_assert_eq!(entry.is_object(), fields.is_some());
                let members: Vec<(&str, &str)> = fields
                    .iter()
                    .flatten()
                    .map(|(name, value)| (&text[name.clone()], &text[value.clone()]))
                    .collect();
                prop_assert_eq!(entry.fields().collect::<Vec<_>>(), members.clone());
                for (position, (_, value)) in members.iter().enumerate() {
                    prop_assert_eq!(entry.value_bytes(position), Some((value.as_bytes(), form(value))));
                }
                prop_assert_eq!(entry.is_nested(), members.iter().any(|(_, value)| value.starts_with('{')));
                let gaps = gaps(text, expected);
                prop_assert_eq!(entry.is_alike(), gaps.is_some() && gaps == before, "{}", entry.text());
                before = gaps;
            }
        }
    }
}
