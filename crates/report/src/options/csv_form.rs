//! The form of a CSV that spreadsheet programs open by double click, by the locale of the user. Data: `list_separators.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

static FORMS: LazyLock<Forms> = LazyLock::new(|| {
    toml::from_str(include_str!("list_separators.toml")).expect("the file is compiled in, and tests parse it")
});

/// The form of a CSV. `None` copies the form of the file of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CsvForm {
    pub delimiter: Option<u8>,
    /// Whether the file begins with a byte order mark.
    pub bom: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Forms {
    forms: Vec<Form>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    delimiter: char,
    bom: Option<bool>,
    locales: Vec<String>,
}

impl CsvForm {
    /// Returns the form for a locale such as `de_DE.UTF-8`. Returns the default for `C` and unknown locales.
    pub fn of_locale(name: &str) -> CsvForm {
        let name = name.split(['.', '@']).next().unwrap_or_default().trim().replace('_', "-");
        let language = name.split('-').next().unwrap_or_default();
        let find = |wanted: &str| {
            FORMS.forms.iter().find(|form| form.locales.iter().any(|known| known.eq_ignore_ascii_case(wanted)))
        };
        find(&name).or_else(|| find(language)).map_or_else(CsvForm::default, |form| CsvForm {
            delimiter: u8::try_from(form.delimiter).ok(),
            bom: form.bom,
        })
    }

    /// Fills missing settings from `other`.
    pub fn or(self, other: CsvForm) -> CsvForm {
        CsvForm { delimiter: self.delimiter.or(other.delimiter), bom: self.bom.or(other.bom) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_locale_decides_by_its_name_then_by_its_language() {
        let form = |delimiter, bom| CsvForm { delimiter: Some(delimiter), bom };
        for (locale, expected) in [
            ("de_DE.UTF-8", form(b';', Some(true))),
            ("de_AT@euro", form(b';', Some(true))),
            ("de-CH", form(b';', Some(true))),
            ("fr_CA.utf8", form(b';', Some(true))),
            ("pt_BR", form(b';', Some(true))),
            ("es_ES.UTF-8", form(b';', Some(true))),
            ("es_MX.UTF-8", form(b',', Some(true))),
            ("es_PE", form(b',', Some(true))),
            ("ja_JP.UTF-8", form(b',', Some(true))),
            ("zh_CN.UTF-8", form(b',', Some(true))),
            ("en_US.UTF-8", form(b',', None)),
            ("en_GB", form(b',', None)),
            ("en_ZA", form(b';', Some(true))),
            ("C", CsvForm::default()),
            ("C.UTF-8", CsvForm::default()),
            ("POSIX", CsvForm::default()),
            ("", CsvForm::default()),
            ("xx_YY.UTF-8", CsvForm::default()),
        ] {
            assert_eq!(CsvForm::of_locale(locale), expected, "{locale}");
        }
    }

    #[test]
    fn every_locale_is_listed_once_and_every_delimiter_is_a_byte() {
        let mut known = HashSet::new();
        for form in &FORMS.forms {
            assert!(form.delimiter.is_ascii(), "{}", form.delimiter);
            form.locales.iter().for_each(|locale| assert!(known.insert(locale.to_lowercase()), "{locale}"));
        }
    }
}
