//! The templates that come with the program.

/// Name and TOML of each, in the order in which they are listed.
pub const BUILT_IN: &[(&str, &str)] = &[("items", include_str!("../../templates/items.toml"))];

pub fn find(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
}
