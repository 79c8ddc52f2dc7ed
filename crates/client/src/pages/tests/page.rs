//! Pages with random bodies, valid and broken, compared with `serde_json`.

use std::ops::Range;

use proptest::prelude::{Just, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::pages::{Page, unescaped};

/// The position of an entry, and those of its names and values if it is an object.
type Expected = (Range<usize>, Option<Vec<(Range<usize>, Range<usize>)>>);

/// The names and values of an object as JSON.
struct Members<'t>(Vec<(&'t RawValue, &'t RawValue)>);

impl<'t> serde::Deserialize<'t> for Members<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Members<'t>, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'t> Visitor<'t> for MembersVisitor {
    type Value = Members<'t>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Members<'t>, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

/// Returns the expected entries and total, or `None` if the text is not a page.
fn parsed(text: &str) -> Option<(Vec<Expected>, Option<u64>)> {
    let position = |part: &str| {
        let start = part.as_ptr() as usize - text.as_ptr() as usize;
        start..start + part.len()
    };
    let (list, total) = match serde_json::from_str::<Members<'_>>(text) {
        Err(_) => (serde_json::from_str::<Vec<&RawValue>>(text).ok()?, None),
        Ok(Members(members)) => {
            let of = |wanted: &'static str| {
                let named = members.iter().filter(move |(name, _)| unescaped(name.get()) == wanted);
                named.map(|(_, value)| value.get())
            };
            let [list] = of("data").collect::<Vec<_>>()[..] else { return None };
            (serde_json::from_str(list).ok()?, of("total").next_back().and_then(|total| total.parse().ok()))
        }
    };
    let entries = list.into_iter().map(|entry| {
        let members = serde_json::from_str::<Members<'_>>(entry.get()).ok();
        let positions = |Members(members): Members<'_>| {
            members.iter().map(|(name, value)| (position(name.get()), position(value.get()))).collect()
        };
        (position(entry.get()), members.map(positions))
    });
    Some((entries.collect(), total))
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
        // Invalid JSON.
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
        r#""(\\u0061|\\"|é|b|\\ud83d){1,2}""#,
        r#""a long name [ab]{3,9}""#
    ]
}

fn object() -> impl Strategy<Value = String> {
    let fields = prop::collection::vec((space(), name(), space(), value(), space()), 0..5);
    (fields, space()).prop_map(|(fields, last)| {
        let field = |(before, name, colon, value, after)| format!("{before}{name}{colon}:{value}{after}");
        let fields: Vec<String> = fields.into_iter().map(field).collect();
        format!("{{{}{last}}}", fields.join(","))
    })
}

fn entries() -> impl Strategy<Value = String> {
    let entry = prop_oneof![8 => object(), 1 => value()];
    prop::collection::vec((space(), entry, space()), 0..8).prop_map(|entries| {
        let entry = |(before, entry, after)| format!("{before}{entry}{after}");
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
    (space(), list, space()).prop_map(|(before, list, after)| before + &list + &after)
}

/// Damage to one byte of a body.
#[derive(Clone, Debug)]
enum Damage {
    None,
    Removed,
    Doubled,
    Changed(u8),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        4 => Just(Damage::None),
        1 => Just(Damage::Removed),
        1 => Just(Damage::Doubled),
        1 => prop::sample::select(br#" "\,:{}[]0a-"#.to_vec()).prop_map(Damage::Changed),
        1 => any::<u8>().prop_map(Damage::Changed),
    ]
}

/// JSON values of any kind, nested a few levels deep.
fn json() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let name = || prop_oneof!["[a-c]{0,2}", "\\PC{0,3}", Just("\"}{\\ \n".to_owned())];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i32>().prop_map(Value::from),
        name().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((name(), inner), 0..4).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn random_bodies_parse_like_serde_json(body in body(), damage in damage(), at in any::<prop::sample::Index>()) {
        let mut body = body.into_bytes();
        let at = at.index(body.len());
        match damage {
            Damage::None => {}
            Damage::Removed => drop(body.remove(at)),
            Damage::Doubled => body.insert(at, body[at]),
            Damage::Changed(byte) => body[at] = byte,
        }
        let text = std::str::from_utf8(&body).unwrap_or_default();
        let expected = parsed(text);
        let page = Page::parse(body.clone()).ok();
        prop_assert_eq!(page.is_some(), expected.is_some(), "{}", text);
        if let (Some(page), Some((entries, total))) = (page, expected) {
            prop_assert_eq!((page.entries().len(), page.total), (entries.len(), total), "{}", text);
            for (entry, (whole, fields)) in page.entries().zip(&entries) {
                prop_assert_eq!(entry.json(), &text[whole.clone()]);
                prop_assert_eq!(entry.is_object(), fields.is_some());
                let members: Vec<_> = fields
                    .iter()
                    .flatten()
                    .map(|(name, value)| (unescaped(&text[name.clone()]), &text[value.clone()]))
                    .collect();
                prop_assert_eq!(entry.fields(), members);
            }
        }
    }

    #[test]
    fn entries_and_fields_of_any_json_are_found(list in prop::collection::vec(json(), 0..6), is_pretty: bool) {
        let body = serde_json::json!({"x": {"data": 1}, "data": list, "total": list.len()});
        let text = if is_pretty { serde_json::to_string_pretty(&body) } else { serde_json::to_string(&body) };
        let page = Page::parse(text.expect("JSON").into_bytes()).expect("a page");
        prop_assert_eq!((page.entries().len(), page.total), (list.len(), Some(list.len() as u64)));
        let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        for (entry, value) in page.entries().zip(&list) {
            prop_assert_eq!(&parsed(entry.json()), value);
            let fields = entry.fields().iter().map(|(name, value)| (name.clone().into_owned(), parsed(value)));
            let expected = value.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone()));
            prop_assert_eq!(fields.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
    }
}

#[test]
fn bodies_without_exactly_one_list_are_refused() {
    for body in ["", "<html>", "{}", r#"{"data": {}}"#, r#"{"data": [1"#, "[1] [2]", "null", r#"{"data":[],"data":[]}"#]
    {
        assert!(Page::parse(body.as_bytes().to_vec()).is_err(), "{body}");
    }
    assert!(Page::parse(b"[\"\xff\"]".to_vec()).is_err());
    let page = Page::parse(br#"{"data": null, "total": 0}"#.to_vec()).expect("an empty list");
    assert_eq!((page.entries().len(), page.total), (0, Some(0)));
    let page = Page::parse(b" [1, 2]".to_vec()).expect("a page");
    assert_eq!((page.entries().len(), page.total), (2, None));
}

#[test]
fn entries_and_fields_keep_their_text() {
    let body = r#" {"total" : 3, "d\u0061ta": [ { "a" : 1.50 , "b" : {"c": [1, "}"]} } ,{}, 7, {"\u0061":"x\ty"}] } "#;
    let page = Page::parse(body.as_bytes().to_vec()).expect("a page");
    let found: Vec<_> = page.entries().map(|entry| (entry.json(), entry.fields().to_vec())).collect();
    assert_eq!(
        found,
        [
            (
                r#"{ "a" : 1.50 , "b" : {"c": [1, "}"]} }"#,
                vec![("a".into(), "1.50"), ("b".into(), r#"{"c": [1, "}"]}"#)]
            ),
            ("{}", vec![]),
            ("7", vec![]),
            (r#"{"\u0061":"x\ty"}"#, vec![("a".into(), r#""x\ty""#)]),
        ]
    );
    assert_eq!(page.total, Some(3));
}

#[test]
fn the_number_and_the_size_of_records_is_limited() {
    let many = |count: usize| format!("[{}]", vec!["1"; count].join(","));
    let of = |body: String| Page::parse(body.into_bytes()).map(|page| page.entries().len());
    assert_eq!(of(many(100_000)), Ok(100_000));
    let refused = "it has 100001 records, and a page can have at most 100000".to_owned();
    assert_eq!(of(many(100_001)), Err(refused));
    let long = |length: usize| format!(r#"[1, "{}"]"#, "x".repeat(length));
    assert_eq!(of(long((8 << 20) - 2)), Ok(2));
    assert_eq!(of(long((8 << 20) - 1)), Err("its record 2 has 9 MiB, and a record can have at most 8".to_owned()));
}
