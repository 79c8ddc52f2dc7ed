//! The topics of headers, such as reviews, returns and payments.

use sheetport_words::topics::{self, Topic};

use super::super::headers::Header;

/// The plural of the topic of people.
const PEOPLE: &str = "people";

/// Returns the topics of a header.
pub(super) fn topics_of(header: &Header) -> Vec<&'static Topic> {
    topics::topics_of(header.words(), header.joined())
}

/// Whether a header is about people, such as the buyer or an e-mail address.
pub(super) fn is_about_people(header: &Header) -> bool {
    topics_of(header).iter().any(|topic| topic.plural == PEOPLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(header: &str, expected: &[&str]) {
        let found: Vec<&str> = topics_of(&Header::new(header)).iter().map(|topic| topic.plural).collect();
        assert_eq!(found, expected, "{header}");
    }

    #[test]
    fn headers_of_events_have_topics() {
        check("Rating", &["reviews"]);
        check("Stars (1-5)", &["reviews"]);
        check("Reason for the return", &["returns"]);
        check("Quantity returned", &["returns"]);
        check("Rücksendegrund", &["returns"]);
        check("Motif du retour", &["returns"]);
        check("退货数量", &["returns"]);
        check("返品理由", &["returns"]);
        check("E-mail", &["people"]);
        check("Tracking #", &["shipments"]);
        check("Units sold", &["sales figures"]);
        check("Employee", &["people", "working hours or tasks"]);
        check("31-60 days", &["overdue payments"]);
        check("Lieferschein-Nr.", &["delivery notes", "sales or purchase documents"]);
        check("Sueldo base", &["wages"]);
        check("Check-in", &["bookings"]);
        check("Code postal", &["addresses"]);
    }

    #[test]
    fn headers_of_records_have_no_topic() {
        for header in [
            "Average rating",
            "Number of reviews",
            "Review count",
            "Return policy",
            "Returnable",
            "Note",
            "Sale start",
            "Warranty",
            "Category",
            "Weight",
            "Stock",
            "Quantity",
            "Date",
            "Image URL",
            "Anzahl",
            "Bestellnummer",
            "Order no",
            "Cantidad",
            "数量",
            "Created at",
            "Brand",
            "Color",
            "Unit",
            "Lead time",
            "Supplier",
            "Supplier e-mail",
            "Country of origin",
            "Package weight",
            "Room for text",
            "Rental price",
        ] {
            check(header, &[]);
        }
    }
}
