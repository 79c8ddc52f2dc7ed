//! Schemas from types, and from the contract's data where an input has no type of its own.

use utoipa::ToSchema;
use utoipa::openapi::schema::SchemaType;
use utoipa::openapi::{Components, Object, ObjectBuilder, Ref, RefOr, Schema, Type};

use crate::records::page::Page;
use crate::records::{Field, Input, JsonType};

/// 2^96: what a number has to stay below, since its digits have to fit into 96 bits.
const NUMBER_BOUND: f64 = 79_228_162_514_264_337_593_543_950_336.0;

/// Text without NUL.
const TEXT: &str = r"^[^\u0000]*$";
/// Text without NUL that is more than white space.
const KEY: &str = r"^[^\u0000]*[^\s\u0000][^\u0000]*$";
const CURRENCY: &str = "^[A-Z]{3}$";

/// A reference to the type's schema, which is put among the components.
pub fn of<T: ToSchema>(components: &mut Components) -> RefOr<Schema> {
    named::<T>(components, T::name().into_owned())
}

/// A reference to the schema of a list's page with entries of this type.
pub fn page_of<T: ToSchema>(components: &mut Components) -> RefOr<Schema> {
    of::<T>(components);
    named::<Page<T>>(components, format!("{}Page", T::name()))
}

fn named<T: ToSchema>(components: &mut Components, name: String) -> RefOr<Schema> {
    let mut needed = Vec::new();
    T::schemas(&mut needed);
    components.schemas.extend(needed);
    components.schemas.insert(name.clone(), T::schema());
    RefOr::Ref(Ref::from_schema_name(name))
}

/// A reference to the input's schema. `longest` says how many characters each text may have.
pub fn input(
    components: &mut Components,
    name: &str,
    input: &'static Input,
    longest: &[(&str, usize)],
) -> RefOr<Schema> {
    let mut object = ObjectBuilder::new().schema_type(Type::Object);
    for field in input.fields {
        let longest = longest.iter().find(|(name, _)| *name == field.name).map(|(_, longest)| *longest);
        object = object.property(field.name, value(field, field.name == input.key, longest));
        if field.required {
            object = object.required(field.name);
        }
    }
    components.schemas.insert(name.to_owned(), object.build().into());
    RefOr::Ref(Ref::from_schema_name(name))
}

fn value(field: &Field, is_key: bool, longest: Option<usize>) -> Object {
    let json = match field.json {
        JsonType::String => Type::String,
        JsonType::Number => Type::Number,
    };
    let schema_type = match field.nullable {
        true => SchemaType::from_iter([json.clone(), Type::Null]),
        false => json.clone().into(),
    };
    let object = ObjectBuilder::new().schema_type(schema_type).description(Some(field.doc));
    match json {
        Type::String if field.name == "currency" => object.pattern(Some(CURRENCY)),
        Type::String => object.pattern(Some(if is_key { KEY } else { TEXT })).max_length(longest),
        _ => object.exclusive_minimum(Some(-NUMBER_BOUND)).exclusive_maximum(Some(NUMBER_BOUND)),
    }
    .build()
}
