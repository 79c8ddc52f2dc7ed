//! Alternatives in the names of columns: `{product,item} {code,no}` means four names.

/// Returns every name of a pattern, with single spaces. A blank alternative leaves the part out.
pub fn expand(pattern: &str) -> Vec<String> {
    // Most names have no alternatives.
    if !pattern.contains('{') {
        return vec![single_spaced(pattern)];
    }
    let mut names = vec![String::new()];
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        let (inside, after) = after.split_once('}').unwrap_or((after, ""));
        names = inside
            .split(',')
            .flat_map(|choice| names.iter().map(move |start| [start.as_str(), before, choice].concat()))
            .collect();
        rest = after;
    }
    names.into_iter().map(|start| single_spaced(&(start + rest))).collect()
}

fn single_spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !spaced.is_empty() {
            spaced.push(' ');
        }
        spaced.push_str(word);
    }
    spaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_is_a_name() {
        assert_eq!(expand("price"), ["price"]);
        assert_eq!(expand("{item,product} no"), ["item no", "product no"]);
        assert_eq!(expand("price{, net}"), ["price", "price net"]);
        assert_eq!(expand("{a,b}{c,d} e"), ["ac e", "bc e", "ad e", "bd e"]);
        assert_eq!(expand("a{ b,}{ c,}"), ["a b c", "a c", "a b", "a"]);
    }
}
