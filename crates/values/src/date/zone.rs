//! Time zones by name.

use jiff::tz::TimeZone;
use sheetport_documents::nearest;

/// An unknown name of a time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownZone {
    pub name: String,
    pub nearest: Option<String>,
}

/// Looks up a time zone by name, such as `Europe/Berlin`, in the program's own database.
pub fn zone(name: &str) -> Result<TimeZone, UnknownZone> {
    let name = name.trim();
    TimeZone::get(name).map_err(|_| {
        let known: Vec<String> = jiff::tz::db().available().map(|zone| zone.to_string()).collect();
        // People often leave out the continent, which makes the names look too different.
        let city = |zone: &&String| zone.rsplit('/').next().is_some_and(|city| city.eq_ignore_ascii_case(name));
        let nearest = known.iter().find(city).map(String::as_str);
        let nearest = nearest.or_else(|| self::nearest(name, known.iter().map(String::as_str)));
        UnknownZone { name: name.to_owned(), nearest: nearest.map(str::to_owned) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_zones_are_found_by_name_and_the_nearest_is_suggested() {
        for name in ["UTC", "Europe/Berlin", "america/new_york", "Asia/Tokyo", "America/Argentina/Buenos_Aires"] {
            assert!(zone(name).is_ok(), "{name}");
        }
        for (name, meant) in
            [("Berlin", "Europe/Berlin"), ("Europe/Berlyn", "Europe/Berlin"), ("new_york", "America/New_York")]
        {
            assert_eq!(zone(name).expect_err("unknown").nearest.as_deref(), Some(meant), "{name}");
        }
        assert!(zone("").is_err());
    }
}
