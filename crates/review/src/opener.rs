//! The file that a browser is started with: it leads to the address of the page, whose token must not be an argument of a process.

/// Returns a web page that leads to `address` at once, or by its link.
pub(super) fn page(address: &str) -> String {
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={address}\">\n<title>Sheetport</title>\n<a href=\"{address}\">Sheetport</a>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_leads_to_the_address() {
        let page = page("http://127.0.0.1:4711/#00ff");
        assert!(page.contains("content=\"0; url=http://127.0.0.1:4711/#00ff\""), "{page}");
        assert!(page.contains("<a href=\"http://127.0.0.1:4711/#00ff\">"), "{page}");
    }
}
