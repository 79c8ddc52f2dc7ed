//! Flags with a fixed set of values.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Returns a parser for these values.
pub(super) fn choice<T: Clone + Send + Sync + 'static>(
    values: impl IntoIterator<Item = (PossibleValue, T)>,
) -> impl TypedValueParser<Value = T> {
    let (names, values): (Vec<PossibleValue>, Vec<T>) = values.into_iter().unzip();
    PossibleValuesParser::new(names.clone()).map(move |name| {
        let position = names.iter().position(|known| known.get_name() == name);
        values[position.expect("clap accepts only the listed names")].clone()
    })
}
