//! Schemas from types, and from the contract's data with the rules that the service checks, where there is no type.

use utoipa::openapi::schema::{ArrayBuilder, SchemaType};
use utoipa::openapi::{Components, KnownFormat, ObjectBuilder, Ref, RefOr, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::records::page::Page;
use crate::records::{Field, JsonType};

use super::super::input::{LONGEST, MOST_ENTRIES, Rules};
use super::super::load::READ_RULES;

/// 2^96: what a number has to stay below, since its digits have to fit into 96 bits.
const NUMBER_BOUND: f64 = 79_228_162_514_264_337_593_543_950_336.0;

/// Text without NUL.
const TEXT: &str = r"^[^\u0000]*$";
/// Text without NUL that is more than white space.
const NOT_BLANK: &str = r"^[^\u0000]*[^\s\u0000][^\u0000]*$";
const CODE: &str = "^[A-Z]{3}$";

/// A reference to the type's schema, which is put among the components.
pub fn of<T: ToSchema>(components: &mut Components) -> RefOr<Schema> {
    let mut needed = Vec::new();
    T::schemas(&mut needed);
    components.schemas.extend(needed);
    put(components, &T::name(), T::schema())
}

/// A reference to the schema of an input with these fields, which are checked by these rules.
pub fn input(components: &mut Components, name: &str, fields: &[Field], rules: &Rules) -> RefOr<Schema> {
    put(components, name, object(fields, Some(rules)))
}

/// A reference to the schema of a record as it is read.
pub fn record(components: &mut Components, name: &str, fields: &[Field]) -> RefOr<Schema> {
    put(components, name, object(fields, None))
}

/// A reference to the schema of a list's page with such entries.
pub fn page(components: &mut Components, name: &str, entry: RefOr<Schema>) -> RefOr<Schema> {
    let mut schema = Page::<String>::schema();
    if let RefOr::T(Schema::Object(envelope)) = &mut schema {
        envelope.properties.insert("data".to_owned(), array(entry));
    }
    put(components, name, schema)
}

/// An array of these, as a list without an envelope is one.
pub fn array(entry: RefOr<Schema>) -> RefOr<Schema> {
    ArrayBuilder::new().items(entry).build().into()
}

fn put(components: &mut Components, name: &str, schema: RefOr<Schema>) -> RefOr<Schema> {
    components.schemas.insert(name.to_owned(), schema);
    RefOr::Ref(Ref::from_schema_name(name))
}

/// What is sent is bounded by `rules`; what is read has none.
fn object(fields: &[Field], rules: Option<&Rules>) -> RefOr<Schema> {
    let mut object = ObjectBuilder::new().schema_type(Type::Object);
    for field in fields {
        object = object.property(field.name, value(field, rules));
        if field.required {
            object = object.required(field.name);
        }
    }
    object.into()
}

fn value(field: &Field, rules: Option<&Rules>) -> RefOr<Schema> {
    let most = rules.map(|_| MOST_ENTRIES);
    match field.json {
        JsonType::Object(fields) => described(object(fields, rules), field),
        JsonType::Objects(fields) => {
            let array = ArrayBuilder::new().items(object(fields, rules)).max_items(most);
            described(array.build().into(), field)
        }
        JsonType::Strings => {
            let array = ArrayBuilder::new().items(text(field.name, rules)).max_items(most);
            described(array.schema_type(or_null(field, Type::Array)).build().into(), field)
        }
        JsonType::String | JsonType::DateTime => {
            text(field.name, rules).schema_type(or_null(field, Type::String)).description(Some(field.doc)).into()
        }
        JsonType::Boolean => scalar(field, Type::Boolean).into(),
        JsonType::Integer if rules.is_some() => {
            scalar(field, Type::Integer).minimum(Some(i64::MIN as isize)).maximum(Some(i64::MAX as isize)).into()
        }
        JsonType::Integer => {
            scalar(field, Type::Integer).format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64))).into()
        }
        JsonType::Number if rules.is_some() => scalar(field, Type::Number)
            .exclusive_minimum(Some(-NUMBER_BOUND))
            .exclusive_maximum(Some(NUMBER_BOUND))
            .into(),
        JsonType::Number => scalar(field, Type::Number).into(),
    }
}

fn text(name: &str, rules: Option<&Rules>) -> ObjectBuilder {
    let text = ObjectBuilder::new().schema_type(Type::String);
    let date_time = Some(SchemaFormat::KnownFormat(KnownFormat::DateTime));
    let Some(rules) = rules else {
        return if READ_RULES.date_times.contains(&name) { text.format(date_time) } else { text };
    };
    if rules.date_times.contains(&name) {
        return text.format(date_time);
    }
    if rules.codes.contains(&name) {
        return text.pattern(Some(CODE));
    }
    let longest = rules.longest.iter().find(|(named, _)| *named == name).map_or(LONGEST, |(_, longest)| *longest);
    text.pattern(Some(if rules.not_blank.contains(&name) { NOT_BLANK } else { TEXT })).max_length(Some(longest))
}

fn scalar(field: &Field, json: Type) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(or_null(field, json)).description(Some(field.doc))
}

fn or_null(field: &Field, json: Type) -> SchemaType {
    if field.nullable { SchemaType::from_iter([json, Type::Null]) } else { json.into() }
}

fn described(mut schema: RefOr<Schema>, field: &Field) -> RefOr<Schema> {
    match &mut schema {
        RefOr::T(Schema::Object(object)) => object.description = Some(field.doc.to_owned()),
        RefOr::T(Schema::Array(array)) => array.description = Some(field.doc.to_owned()),
        _ => {}
    }
    schema
}
