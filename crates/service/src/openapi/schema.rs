//! Schemas of types, and of fields with validation rules.

use sheetport_records::page::Page;
use sheetport_records::{Field, JsonType};
use utoipa::openapi::schema::{AllOfBuilder, AnyOfBuilder, ArrayBuilder, SchemaType};
use utoipa::openapi::{Components, KnownFormat, ObjectBuilder, Ref, RefOr, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::request::{MAX_ENTRIES, READ_RULES, Rules};

/// 2^96, the exclusive upper bound of numbers: decimals have 96 bits.
const NUMBER_BOUND: f64 = 79_228_162_514_264_337_593_543_950_336.0;

/// Text without NUL.
const TEXT: &str = r"^[^\u0000]*$";
/// Non-blank text without NUL.
const NOT_BLANK: &str = r"^[^\u0000]*[^\s\u0000][^\u0000]*$";
const CODE: &str = "^[A-Z]{3}$";

/// Registers the schema of a type. Returns a reference.
pub(super) fn of<T: ToSchema>(components: &mut Components) -> RefOr<Schema> {
    let mut needed = Vec::new();
    T::schemas(&mut needed);
    components.schemas.extend(needed);
    register(components, &T::name(), T::schema())
}

/// Registers the schema of an input. Returns a reference.
pub(super) fn input(components: &mut Components, name: &str, fields: &[Field], rules: &Rules) -> RefOr<Schema> {
    register(components, name, object(fields, Some(rules)))
}

/// Registers the schema of an input that requires one or more of these text fields. Returns a reference.
pub(super) fn with_one_of(
    components: &mut Components,
    name: &str,
    input: RefOr<Schema>,
    needed: &[&str],
) -> RefOr<Schema> {
    register(components, name, needing_one_of(input, needed))
}

/// Registers the schema of a record in responses. Returns a reference.
pub(super) fn record<'a>(
    components: &mut Components,
    name: &str,
    fields: impl IntoIterator<Item = &'a Field>,
) -> RefOr<Schema> {
    register(components, name, object(fields, None))
}

/// Registers the schema of a page of a list. Returns a reference.
pub(super) fn page(components: &mut Components, name: &str, entry: RefOr<Schema>) -> RefOr<Schema> {
    let mut schema = Page::<String>::schema();
    if let RefOr::T(Schema::Object(envelope)) = &mut schema {
        envelope.properties.insert("data".to_owned(), array(entry));
    }
    register(components, name, schema)
}

/// Returns the schema of a list without an envelope.
pub(super) fn array(entry: RefOr<Schema>) -> RefOr<Schema> {
    ArrayBuilder::new().items(entry).build().into()
}

fn register(components: &mut Components, name: &str, schema: RefOr<Schema>) -> RefOr<Schema> {
    components.schemas.insert(name.to_owned(), schema);
    RefOr::Ref(Ref::from_schema_name(name))
}

/// Returns the schema of the objects of `schema` with a text in one or more of these fields.
fn needing_one_of(schema: RefOr<Schema>, fields: &[&str]) -> RefOr<Schema> {
    let choices = fields.iter().fold(AnyOfBuilder::new(), |choices, field| {
        let text = ObjectBuilder::new().schema_type(Type::String);
        choices.item(ObjectBuilder::new().schema_type(SchemaType::AnyValue).property(*field, text).required(*field))
    });
    Schema::from(AllOfBuilder::new().item(schema).item(Schema::from(choices.build())).build()).into()
}

/// Returns the schema of an object. Only inputs have rules.
fn object<'a>(fields: impl IntoIterator<Item = &'a Field>, rules: Option<&Rules>) -> RefOr<Schema> {
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
    let or_null = |json: Type| {
        let is_nullable = field.nullable || (!field.required && rules.is_some_and(|rules| rules.null_is_absent));
        if is_nullable { SchemaType::from_iter([json, Type::Null]) } else { json.into() }
    };
    let max_entries = rules.map(|_| MAX_ENTRIES);
    match field.json {
        JsonType::Object(fields) => described(object(fields, rules), field),
        JsonType::Objects(fields) => {
            let least = rules.filter(|rules| rules.not_empty.contains(&field.name)).map(|_| 1);
            let needed = rules.map_or(&[][..], |rules| rules.one_of);
            let entry = match object(fields, rules) {
                entry if needed.is_empty() => entry,
                entry => needing_one_of(entry, needed),
            };
            let array = ArrayBuilder::new().items(entry).min_items(least).max_items(max_entries);
            described(array.schema_type(or_null(Type::Array)).build().into(), field)
        }
        JsonType::Strings => {
            let array = ArrayBuilder::new().items(text(field.name, rules)).max_items(max_entries);
            described(array.schema_type(or_null(Type::Array)).build().into(), field)
        }
        JsonType::String | JsonType::DateTime => {
            text(field.name, rules).schema_type(or_null(Type::String)).description(Some(field.doc)).into()
        }
        JsonType::Boolean => scalar(field, or_null(Type::Boolean)).into(),
        JsonType::Integer if rules.is_some() => scalar(field, or_null(Type::Integer))
            .minimum(Some(i64::MIN as isize))
            .maximum(Some(i64::MAX as isize))
            .into(),
        JsonType::Integer => {
            scalar(field, or_null(Type::Integer)).format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64))).into()
        }
        JsonType::Number if rules.is_some() => scalar(field, or_null(Type::Number))
            .exclusive_minimum(Some(-NUMBER_BOUND))
            .exclusive_maximum(Some(NUMBER_BOUND))
            .into(),
        JsonType::Number => scalar(field, or_null(Type::Number)).into(),
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
    let pattern = if rules.not_blank.contains(&name) { NOT_BLANK } else { TEXT };
    text.pattern(Some(pattern)).max_length(Some(rules.max_length(name)))
}

fn scalar(field: &Field, types: SchemaType) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(types).description(Some(field.doc))
}

fn described(mut schema: RefOr<Schema>, field: &Field) -> RefOr<Schema> {
    match &mut schema {
        RefOr::T(Schema::Object(object)) => object.description = Some(field.doc.to_owned()),
        RefOr::T(Schema::Array(array)) => array.description = Some(field.doc.to_owned()),
        _ => {}
    }
    schema
}
